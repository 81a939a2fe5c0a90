"""Columns that a table gets from others: what ``oricgen query`` joins. They are made when a question names them.

``@TABLE.COLUMN`` is a column of every table: the keys of the rows of TABLE that have this row's key under COLUMN. The others
belong to one table each (:data:`COLUMNS`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from .errors import UsageError
from .lowering import checks, reach
from .names import did_you_mean
from .outputs.lowering import compiled
from .ptx import families
from .query import JOINED, cells, members, require, text
from .rows import Row
from .spec import Spec
from .tables import all_tables, targets

VECTORS = Path("tests/data/vectors")  # beside spec/
_OPCODE = 0xFFF

Column = Callable[[Spec, list[Row]], list[Any]]  # a value for each row, None for rows that have no such column


def added(spec: Spec, table: str, rows: list[Row], names: list[str]) -> list[Row]:
    """The rows with the columns that ``names`` ask for; other names are left to the table.

    Raises:
        UsageError: a join with a table or column that does not exist.
    """
    for name in dict.fromkeys(names):
        make = COLUMNS.get(table, {}).get(name)
        if name.startswith(JOINED):
            values: list[Any] = _naming(spec, rows, name)
        elif make is not None:
            values = make(spec, rows)
        else:
            continue
        rows = [
            row if value is None else replace(row, values={**row.values, name: value})
            for row, value in zip(rows, values, strict=True)
        ]
    return rows


def _naming(spec: Spec, rows: list[Row], name: str) -> list[list[str]]:
    other, dot, column = name.removeprefix(JOINED).partition(".")
    tables = {table.NAME: table for table in all_tables()}
    if not dot or other not in tables:
        raise UsageError(f"'{name}' is no join: write {JOINED}TABLE.COLUMN{did_you_mean(other, tables)}")
    found: dict[str, list[str]] = {}
    theirs = tables[other].rows(spec)
    require(theirs, column, other)
    for row in theirs:
        for value in dict.fromkeys(text(value) for value in members(cells(row, column))):
            found.setdefault(value, []).append(row.key)
    return [found.get(row.key, []) for row in rows]


def _lowered(spec: Spec, rows: list[Row]) -> list[list[str] | None]:
    """Of a PTX form: the targets with code that have a lowering rule for one of its spellings; not of gates and counts."""
    rules = checks.rules_of(spec, compiled(spec))
    contexts = {target.name: (target.isa, frozenset(target.features)) for target in targets.load(spec).with_code}
    signatures = [
        (instruction.name.partition(".")[0], [(name, values, not needed) for name, values, needed in form.slots])
        for family in families(spec)
        for instruction in family.instructions
        for form in instruction.forms
    ]
    forms = iter(signatures)
    out: list[list[str] | None] = []
    for row in rows:
        if "instruction" not in row.values:
            out.append(None)
            continue
        first, slots = next(forms)
        found = [(rule, words) for _, rule in rules.get(first, ()) for words in reach.spellings_in(rule, slots)]
        able = [c for c in dict.fromkeys(contexts.values()) if any(reach.can_make(rule, words, c) for rule, words in found)]
        out.append([name for name, context in contexts.items() if context in able])
    return out


def _vectors(spec: Spec, rows: list[Row]) -> list[int]:
    """Of a form: how many words of the test vectors are of it."""
    found: dict[tuple[str, int], list[tuple[int, int, int]]] = {}
    for number, row in enumerate(rows):
        mask, value = int(row.values["mask"], 16), int(row.values["value"], 16)
        found.setdefault((row.values["isa"], value & _OPCODE), []).append((mask, value, number))
    counts = [0] * len(rows)
    for isa, word in _words(spec):
        for mask, value, number in found.get((isa, word & _OPCODE), ()):
            counts[number] += word & mask == value
    return counts


def _words(spec: Spec) -> Iterator[tuple[str, int]]:
    folder = spec.root.parent / VECTORS
    if not folder.is_dir():
        raise UsageError(f"there are no test vectors: {VECTORS} does not exist")
    for path in sorted(folder.glob("*/*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line.startswith("#"):
                yield path.parent.name, int(line.partition(" ")[0], 16)


COLUMNS: Mapping[str, Mapping[str, Column]] = {"ptx": {"lowered": _lowered}, "forms": {"vectors": _vectors}}
