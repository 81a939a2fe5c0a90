"""Atomics of which one thread does those of all threads of its warp: ``spec/aggregation.yaml``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..errors import SpecError
from ..isa import rows as machine_rows
from ..isa.model import Modifier, Operation
from ..names import did_you_mean
from ..rows import Row, plain
from ..spec import Spec
from ..strictyaml import Map
from . import macros, targets
from ._shared import numbered

NAME = "aggregation"
FILES = ("aggregation.yaml",)
_PATH = Spec.path(FILES[0])
ALIKE = ("times", "once", "parity")  # in the order of their numbers
_REDUX = "REDUX"
_TOGETHER = (("different", "sign", "neutral"), ("constant", "as_constant", "becomes"))  # columns of which a row has all or none

# The modifier's bits, shifted down and masked, are one of the numbers whose bits are set in the third.
Condition = tuple[int, int, int]


@dataclass(frozen=True)
class Atomic:
    """A row of one operation.

    ``different``: (operation, sign) of REDUX, empty names where threads must have the same operand; ``constant``: the only
    operand, -1 for any, and what stands in its place; ``cleared`` and ``given``: bits of the modifiers that change.
    """

    op: Operation
    conditions: tuple[Condition, ...]
    alike: int
    wanted: bool
    different: tuple[str, str]
    neutral: int
    constant: int
    as_constant: int
    cleared: int
    given: int
    line: int


def load(spec: Spec) -> tuple[Atomic, ...]:
    """The rows in their order, one an operation.

    Raises:
        SpecError: an unknown operation or modifier, a value that one has not, an operation without result or operand.
    """
    return spec.memo(NAME, lambda: tuple(_load(spec)))


def rows(spec: Spec) -> list[Row]:
    """One row for each of the file, called by its first operation."""
    table = spec.load(FILES[0])["atomics"]
    return numbered(Row(row["operations"][0], plain(row), str(_PATH), table.line_of(number)) for number, row in enumerate(table))


def counts(spec: Spec) -> dict[str, int]:
    """Rows by operation."""
    return {"atomics that one thread does for a warp": len(load(spec))}


def check(spec: Spec) -> None:
    """Names of operations, modifiers and their values.

    Raises:
        SpecError: the first mistake.
    """
    load(spec)
    data = spec.load(FILES[0])
    if data["acquires"] not in targets.load(spec).features:
        raise SpecError(_PATH, data.line_of("acquires"), f"acquires: no target has the feature '{data['acquires']}'")


def _load(spec: Spec) -> Iterator[Atomic]:
    operations = {o.name: o for o in (*machine_rows.load(spec).operations, *macros.load(spec))}
    table = spec.load(FILES[0])["atomics"]
    for number, row in enumerate(table):
        line = table.line_of(number)
        for name in row["operations"]:
            if name not in operations:
                raise SpecError(_PATH, line, f"column 'operations': there is no '{name}'{did_you_mean(name, operations)}")
            yield _row(operations[name], operations[_REDUX], row, line)


def _row(op: Operation, redux: Operation, row: Map, line: int) -> Atomic:
    if "atomic" not in op.effects:
        raise SpecError(_PATH, line, f"{op.name} is no atomic")
    if row.get("wanted") and row["alike"] != ALIKE[0]:
        raise SpecError(_PATH, line, f"{op.name}: what stood there is known for each thread with '{ALIKE[0]}' alone")
    for columns in _TOGETHER:
        missing = [column for column in columns if column not in row]
        if missing and len(missing) < len(columns):
            raise SpecError(_PATH, line, f"{op.name}: column '{missing[0]}' is missing")
    different = row.get("different", ""), row.get("sign", "")
    for name, value in zip(("op", "sign"), different, strict=True):
        if value:
            _code(redux, name, value, line)
    cleared = given = 0
    for name, value in row.get("becomes", {}).items():
        modifier = _modifier(op, name, line)
        cleared |= (1 << modifier.width) - 1 << modifier.shift
        given |= _code(op, name, value, line) << modifier.shift
    return Atomic(
        op, _conditions(op, row.get("where", {}), line), ALIKE.index(row["alike"]), row.get("wanted", False), different,
        row.get("neutral", 0), row.get("constant", -1), row.get("as_constant", 0), cleared, given, line,
    )  # fmt: skip


def _conditions(op: Operation, where: Mapping[str, tuple[str, ...]], line: int) -> tuple[Condition, ...]:
    out = []
    for name, values in where.items():
        modifier = _modifier(op, name, line)
        allowed = sum({1 << _code(op, name, value, line) for value in values})
        out.append((modifier.shift, (1 << modifier.width) - 1, allowed))
    return tuple(out)


def _modifier(op: Operation, name: str, line: int) -> Modifier:
    found = next((m for m in op.mods if m.name == name), None)
    if found is None:
        raise SpecError(_PATH, line, f"{op.name} has no modifier '{name}'")
    return found


def _code(op: Operation, name: str, value: str, line: int) -> int:
    codes = _modifier(op, name, line).codes
    if value not in codes:
        raise SpecError(_PATH, line, f"{op.name}: modifier '{name}' has no value '{value}'")
    return codes[value]
