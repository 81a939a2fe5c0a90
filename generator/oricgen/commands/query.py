"""``oricgen query``: select rows of a table."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..spec import Spec

NAME = "query"
HELP = "select rows of a table; without a table: list the tables and their columns"
EPILOG = """\
conditions (all must hold):
  COLUMN=VALUE    equal; a list: one of its items is. Numbers may be written 255 or 0xff
  COLUMN!=VALUE   the opposite
  COLUMN~REGEX    the regular expression is found in the value
  COLUMN<VALUE    less; also <=, >, >=. Numbers, versions (9.0), targets and models (by their place in the line)
  COLUMN==A,B     has these values and no others; FIRST..LAST, FIRST.. and ..LAST are ranges of models
  'COLUMN in A,B' has some of these values and no others
columns:
  A dot goes into a nested column (limits.max_regs); `key` and `place` (file:line) are columns of every table
  #COLUMN         how many values a column has
  @TABLE.COLUMN   the keys of the rows of TABLE that have this row's key as COLUMN
  lowered         of ptx: the targets that have a lowering rule for the form
  vectors         of forms: how many words of tests/data/vectors are of the form
Exit status: 0 rows found, 1 none, 2 the question is wrong.

examples:
  oricgen query opcodes id=12 --format yaml
  oricgen query phases 'function!=null' --columns index,function --format tsv
  oricgen query operations isa==sm_100..                        only from sm_100 on
  oricgen query opcodes '#@operations.opcode=0' 'since>=sm_90'  no operation is encoded
  oricgen query ptx lowered!=sm_90 'sm<=90' --columns section   no lowering rule for sm_90
  oricgen query forms vectors=0                                 no test vector
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Table, conditions, columns, format."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    parser.add_argument("table", nargs="?", metavar="TABLE", help="a table's name")
    parser.add_argument("conditions", nargs="*", metavar="CONDITION", help="a column, a sign and a value: see below")
    parser.add_argument("--columns", metavar="A,B,...", help="only these columns, in this order")
    parser.add_argument("--format", choices=("table", "yaml", "json", "tsv"), default="table", help="default: table")
    parser.add_argument("--count", action="store_true", help="print only the number of rows")


def run(args: argparse.Namespace) -> int:
    """Print the rows; 1 when there are none."""
    from .. import kept

    with kept.opened(args.root, keep=args.keep) as known:
        return _answer(known.spec, args)


def _answer(spec: Spec, args: argparse.Namespace) -> int:
    from .. import derived, query
    from ..errors import UsageError
    from ..names import did_you_mean
    from ..tables import _line, all_tables
    from ..tables.targets import isa_names

    tables = {table.NAME: table for table in all_tables()}
    if args.table is None:
        lines = [[name, str(len(rows := table.rows(spec))), ", ".join(query.columns(rows))] for name, table in tables.items()]
        sys.stdout.write(query.aligned([["table", "rows", "columns"], *lines]))
        return 0
    order = query.Order(isa_names(spec), _line.places(spec))
    conditions = [query.parse(word, order) for word in args.conditions]
    if args.table not in tables:
        hint = did_you_mean(args.table, tables) or f"; there are {', '.join(tables)}"
        raise UsageError(f"there is no table '{args.table}'{hint}")
    names = [name.strip() for name in args.columns.split(",")] if args.columns else []
    asked = [name.removeprefix(query.COUNTED) for name in (*names, *(condition.column for condition in conditions))]
    rows = derived.added(spec, args.table, tables[args.table].rows(spec), asked)
    for name in names:
        query.require(rows, name, args.table)
    found = query.select(rows, conditions, args.table)
    sys.stdout.write(f"{len(found)}\n" if args.count else query.render(found, names, args.format) if found else "")
    return 0 if found else 1
