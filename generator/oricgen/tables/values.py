"""What operations of Ori compute of their operands: ``spec/values``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from .. import known
from ..errors import SpecError
from ..isa import rows as machine_rows
from ..isa.model import Operation
from ..meaning import Meaning, Spot
from ..rows import Row, plain
from ..spec import Spec
from ..values import read
from . import macros

NAME = "values"
FILES = ("values",)


@dataclass(frozen=True)
class Value:
    """One operation: its value as pieces of C, or (``meaning`` None) why it has none; ``unseen``: it does nothing that shows."""

    operation: Operation
    meaning: Meaning | None
    opaque: str
    unseen: bool
    columns: Mapping[str, Any]
    path: str
    line: int


def load(spec: Spec) -> tuple[Value, ...]:
    """The operations in order of their numbers."""
    return spec.memo(NAME, lambda: _load(spec))


def rows(spec: Spec) -> list[Row]:
    """One row an operation, called by its name."""
    return [Row(v.operation.name, v.columns, v.path, v.line) for v in load(spec)]


def counts(spec: Spec) -> dict[str, int]:
    """Operations with a value, and those that are opaque to rules."""
    known = sum(value.meaning is not None for value in load(spec))
    return {"operations with a value": known, "opaque operations": len(load(spec)) - known}


def check(spec: Spec) -> None:
    """Every operation and macro has one row, whose text fits its operands.

    Raises:
        SpecError: the first row that breaks a rule, or the operation that has none.
    """
    load(spec)


def _load(spec: Spec) -> tuple[Value, ...]:
    operations = {o.name: o for o in (*machine_rows.load(spec).operations, *macros.load(spec))}
    texts: dict[str, object] = {}
    spots: dict[str, Spot] = {}
    words = known.of_threads(spec)
    places: dict[str, tuple[str, int]] = {}
    reasons: dict[str, tuple[str, str]] = {}

    def note(name: str, file: str, line: int) -> None:
        if name not in operations:
            raise SpecError(spec.path(file), line, f"{name}: there is no such operation in spec/encoding or spec/macros.yaml")
        if name in places:
            raise SpecError(spec.path(file), line, f"{name}: it has a row already: {places[name][0]}:{places[name][1]}")
        places[name] = str(spec.path(file)), line

    for file, data in spec.family(FILES[0]).items():
        for name, row in data.get("values", {}).items():
            note(name, file, data["values"].line_of(name))
            texts[name] = row
            spots[name] = partial(data["values"].spot, name)
        for column in ("opaque", "unseen"):
            for reason, names in data.get(column, {}).items():
                for at, name in enumerate(names):
                    note(name, file, names.line_of(at))
                    reasons[name] = column, reason
    out = []
    for name, operation in operations.items():
        if name not in places:
            where = spec.path("macros.yaml") if operation.opcode == "macro" else operation.path
            raise SpecError(where, operation.line, f"{name}: spec/values has no row for it: a value, or why it is opaque")
        path, line = places[name]
        meaning = (
            read(operation, texts[name], operations, texts, words, spec.path(path.removeprefix("spec/")), line, spots[name])
            if name in texts
            else None
        )
        columns = {"value": plain(texts[name])} if name in texts else dict([reasons[name]])
        column, reason = reasons.get(name, ("", ""))
        out.append(Value(operation, meaning, reason, column == "unseen", columns, path, line))
    return tuple(sorted(out, key=lambda value: value.operation.number))
