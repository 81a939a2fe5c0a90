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
from .tables import all_tables, helpers, targets

VECTORS = Path("tests/data/vectors")  # beside spec/
_OPCODE = 0xFFF
_PROVIDED = {
    helpers.DRIVER: "a call of the driver, by its address in bank 4",
    helpers.LINKER: "a call that a linker fills in (-c), else an unresolved function",
    helpers.COMPILER: "a call that a linker fills in (-c), else an unresolved function; compilers leave none",
}

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


def _becomes(spec: Spec, rows: list[Row]) -> list[list[str]]:
    """Of a helper or function that programs call: ``TARGETS: what it becomes``, ``all`` for all with code."""
    rules = checks.rules_of(spec, compiled(spec))
    contexts = {target.name: (target.isa, frozenset(target.features)) for target in targets.load(spec).with_code}
    shared = {row["shared"]["name"] for row in spec.load("macros.yaml")["macros"].values() if "shared" in row}
    out = []
    for row in rows:
        if "by" in row.values:
            out.append([f"all: {_PROVIDED[row.values['by']]}"])
            continue
        name = next((name for name in (row.values.get("instead"), row.key) if name in shared), "")
        made = f"the function {name} where that is shorter, else in place" if name else "in place"
        found: dict[str, list[str]] = {}
        for target, context in contexts.items():
            found.setdefault(made if _can_make(rules, row, context) else "nothing", []).append(target)
        out.append([f"{' '.join(names) if len(found) > 1 else 'all'}: {what}" for what, names in found.items()])
    return out


def _can_make(rules: Mapping[str, list[tuple[object, reach.Rule]]], row: Row, context: reach.Context) -> bool:
    """Whether the rule of a helper makes code of all its instructions."""
    for mnemonic in row.values["ptx"]:
        first, *words = mnemonic.split(".")
        own = [rule for _, rule in rules.get(first, ()) if rule.name == row.values["rule"]]
        if not any(reach.can_make(rule, tuple(words), context) for rule in own):
            return False
    return True


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


COLUMNS: Mapping[str, Mapping[str, Column]] = {
    "ptx": {"lowered": _lowered},
    "forms": {"vectors": _vectors},
    "helpers": {"becomes": _becomes},
}
