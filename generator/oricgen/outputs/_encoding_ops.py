"""Python table of the operations: ``oric_tables/ops.py``."""

from __future__ import annotations

from ..isa.model import EFFECTS, Machine, Modifier, Operand, Operation, Registers
from ..render import header, template


def render(machine: Machine, words: dict[str, int]) -> str:
    """The text of ``ops.py``."""
    sources = ["spec/encoding/*.yaml", "spec/opcodes.yaml"]
    operations = [_operation(o, words[o.name]) for o in machine.operations]
    return template(
        "ops.py.j2",
        header=header("#", "oricgen.outputs.encoding", sources),
        effects=EFFECTS,
        isas=machine.isas,
        operations=operations,
    )


def _operation(operation: Operation, word: int) -> dict[str, object]:
    effects = sum(1 << EFFECTS.index(e) for e in operation.effects)
    operands = ";".join(_operand(o, _width(operation, r)) for o, r in zip(operation.operands, operation.registers, strict=True))
    described = ";".join(_mod(m) for m in operation.mods)
    fields = [operation.number, word, operation.name, operation.guard, " ".join(operation.forms), effects, operands, described]
    return {"ident": operation.ident, "word": word, "number": operation.number, "row": "|".join(map(str, fields))}


def _operand(operand: Operand, width: str) -> str:
    default = operand.default
    left_out = f"{default.kind} {default.reg} {'!' if default.negated else '-'}" if default else ""
    return ",".join([operand.name, "w" if operand.writes else "r", width, operand.kind, left_out])


def _mod(mod: Modifier) -> str:
    codes = " ".join(f"{name}={code}" for name, code in sorted(mod.codes.items(), key=lambda i: i[1]))
    return ",".join([mod.name, mod.kind, str(mod.shift), str(mod.width), codes, mod.default_name])


def _width(operation: Operation, registers: Registers) -> str:
    """A number, or modifiers and the table over their packed values, two hexadecimal digits an entry."""
    if not registers.mods:
        return str(registers.table[0])
    return "*".join(operation.mods[i].name for i in registers.mods) + ":" + bytes(registers.table).hex()
