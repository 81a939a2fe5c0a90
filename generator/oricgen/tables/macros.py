"""Operations of Ori that no machine form has: ``spec/macros.yaml``."""

from __future__ import annotations

from ..errors import SpecError
from ..isa import notation
from ..isa import rows as machine_rows
from ..isa.model import EFFECTS, SLOTS, Operand, Operation, Registers
from ..rows import Row, plain
from ..spec import Spec

NAME = "macros"
FILES = ("macros.yaml",)


def load(spec: Spec) -> tuple[Operation, ...]:
    """The macros as operations without forms, numbered behind those of the machine."""
    return spec.memo("macros", lambda: _load(spec))


def rows(spec: Spec) -> list[Row]:
    """One row a macro, called by its name."""
    table = spec.load(FILES[0])["macros"]
    load(spec)
    return [Row(name, plain(row), f"spec/{FILES[0]}", table.line_of(name)) for name, row in table.items()]


def counts(spec: Spec) -> dict[str, int]:
    """Number of macros."""
    return {"macro operations": len(load(spec))}


def check(spec: Spec) -> None:
    """Operands, effects, names.

    Raises:
        SpecError: the first row that breaks a rule.
    """
    load(spec)


def _load(spec: Spec) -> tuple[Operation, ...]:
    machine = machine_rows.load(spec)
    taken = {o.ident: o.name for o in machine.operations}
    table = spec.load(FILES[0])["macros"]
    path = spec.path(FILES[0])
    out: list[Operation] = []
    for name, row in table.items():
        line = table.line_of(name)
        ident = name.replace(".", "_")
        if ident in taken:
            raise SpecError(path, line, f"{name}: the machine has an operation {taken[ident]}")
        for effect in row.get("effects", ()):
            if effect not in EFFECTS:
                raise SpecError(path, row.line_of("effects"), f"{name}: there is no effect '{effect}': {', '.join(EFFECTS)}")
        try:
            operands = notation.operands(row.get("ops", ""))
            widths = tuple(_width(operand) for operand in operands)
        except ValueError as error:
            raise SpecError(path, row.line_of("ops"), f"{name}: {error}") from error
        number = len(machine.operations) + 1 + len(out)
        out.append(
            Operation(
                number,
                name,
                "macro",
                0,
                str(path),
                line,
                "P",
                operands,
                (),
                tuple(row.get("effects", ())),
                name,
                registers=widths,
            )
        )
    for operation in (*machine.operations, *out):
        if len(operation.operands) > SLOTS:
            raise SpecError(operation.path, operation.line, f"{operation.name}: more than {SLOTS} operands")
    return tuple(out)


def _width(operand: Operand) -> Registers:
    if not operand.width.isdigit():
        raise ValueError(f"operand '{operand.name}': the width of a macro's operand is a number")
    return Registers((), (int(operand.width),))
