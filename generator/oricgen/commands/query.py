"""``oricgen query``: select rows of a table."""

from __future__ import annotations

import argparse
import sys

NAME = "query"
HELP = "select rows of a table; without a table: list the tables and their columns"
_EPILOG = """\
conditions (all must hold):
  COLUMN=VALUE    equal; a list: one of its items is. Numbers may be written 255 or 0xff
  COLUMN!=VALUE   the opposite
  COLUMN~REGEX    the regular expression is found in the value
A dot goes into a nested column (limits.max_regs); `key` and `place` (file:line) are columns of every table.
Exit status: 0 rows found, 1 none, 2 the question is wrong.

examples:
  oricgen query opcodes id=12 --format yaml
  oricgen query phases 'function!=null' --columns index,function --format tsv
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Table, conditions, columns, format."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument("table", nargs="?", metavar="TABLE", help="a table's name")
    parser.add_argument("conditions", nargs="*", metavar="CONDITION", help="COLUMN=VALUE, COLUMN!=VALUE, COLUMN~REGEX")
    parser.add_argument("--columns", metavar="A,B,...", help="only these columns, in this order")
    parser.add_argument("--format", choices=("table", "yaml", "json", "tsv"), default="table", help="default: table")
    parser.add_argument("--count", action="store_true", help="print only the number of rows")


def run(args: argparse.Namespace) -> int:
    """Print the rows; 1 when there are none."""
    from .. import query
    from ..errors import UsageError
    from ..names import did_you_mean
    from ..spec import Spec
    from ..tables import all_tables

    spec = Spec(args.root / "spec")
    tables = {table.NAME: table for table in all_tables()}
    if args.table is None:
        lines = [[name, str(len(rows := table.rows(spec))), ", ".join(query.columns(rows))] for name, table in tables.items()]
        sys.stdout.write(query.aligned([["table", "rows", "columns"], *lines]))
        return 0
    conditions = [query.parse(word) for word in args.conditions]
    if args.table not in tables:
        hint = did_you_mean(args.table, tables) or f"; there are {', '.join(tables)}"
        raise UsageError(f"there is no table '{args.table}'{hint}")
    rows = tables[args.table].rows(spec)
    names = [name.strip() for name in args.columns.split(",")] if args.columns else []
    for name in names:
        query.require(rows, name, args.table)
    found = query.select(rows, conditions, args.table)
    sys.stdout.write(f"{len(found)}\n" if args.count else query.render(found, names, args.format) if found else "")
    return 0 if found else 1
