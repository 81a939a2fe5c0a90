"""Machine operations: one row for each operation of ``spec/encoding``, with what is the same in all its forms."""

from __future__ import annotations

from ..isa import rows as machine_rows
from ..isa.model import Machine, Modifier, Operand, Operation
from ..rows import Row, plain
from ..spec import Spec
from ._shared import without_empty

NAME = "operations"
FILES = ("encoding",)


def load(spec: Spec) -> Machine:
    """The machine model, which has the operations in file order."""
    return machine_rows.load(spec)


def rows(spec: Spec) -> list[Row]:
    """One row an operation, called by its name (``FADD``, ``IMAD.WIDE``)."""
    machine = load(spec)
    words = machine_rows.opcode_words(spec, machine)
    operations = {o.name: o for o in machine.operations}
    out = []
    for name, data in spec.family(FILES[0]).items():
        table = data["operations"]
        for key, row in table.items():
            operation = operations[key]
            values = without_empty(
                {
                    "opcode": operation.opcode,
                    "word": f"{words[key]:#06x}",
                    "isa": list(operation.forms),
                    "guard": operation.guard,
                    "text": operation.text,
                    "operands": {o.name: _operand(o) for o in operation.operands},
                    "modifiers": {m.name: _modifier(m) for m in operation.mods},
                    "widths": plain(row.get("widths")),
                    "aliases": plain(row.get("aliases")),
                    "effects": list(operation.effects),
                    "meaning": row.get("meaning"),
                    "source": row.get("source", data.get("source")),
                }
            )
            out.append(Row(key, values, f"spec/{name}", table.line_of(key)))
    return out


def _operand(operand: Operand) -> str:
    """``gpr written``, ``gpr :2 -|``, ``pred =PT``: kind, direction, registers, marks, what it means when left out."""
    parts = [operand.kind]
    parts += ["written"] * operand.writes
    parts += [f":{operand.width}"] * (operand.width != "1")
    parts += [operand.marks] * bool(operand.marks)
    if operand.default is not None:
        default = operand.default
        sign = "!" if default.negated else ""
        named = {("gpr", 255): "RZ", ("ugpr", 255): "URZ", ("pred", 7): "PT", ("upred", 7): "UPT", ("none", 0): "NONE"}
        parts.append("=" + sign + named.get((default.kind, default.reg), str(default.reg)))
    return " ".join(parts)


def _modifier(mod: Modifier) -> str:
    """The names of the values in order of their packed code (the first is the default), or the kind of number."""
    if not mod.codes:
        return mod.kind if not mod.default else f"{mod.kind}({mod.default})"
    return " ".join(name for name, _ in sorted(mod.codes.items(), key=lambda item: item[1]))


def counts(spec: Spec) -> dict[str, int]:
    """Operations, those of each encoding model, and those that the simulator knows."""
    machine = load(spec)
    per_isa = {f"operations of {isa}": sum(1 for o in machine.operations if isa in o.forms) for isa in machine.isas}
    meanings = sum(1 for data in spec.family(FILES[0]).values() for row in data["operations"].values() if "meaning" in row)
    return {"operations": len(machine.operations), **per_isa, "operations with a meaning": meanings}


def check(spec: Spec) -> None:
    """Load the model, which checks itself.

    Raises:
        SpecError: a bit that is missing or claimed twice, forms that overlap, an unknown opcode ...
    """
    load(spec)


__all__ = ["Operation", "check", "counts", "load", "rows"]
