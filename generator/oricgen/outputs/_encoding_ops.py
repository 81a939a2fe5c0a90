"""Python table of the operations: ``oric_tables/ops.py``."""

from __future__ import annotations

import re

from ..isa.model import EFFECTS, Machine, Modifier, Operand, Operation
from ..render import header, template

_WIDE = ((re.compile(r"128|F16x8|F32x4"), 4), (re.compile(r"64|F16x4|F32x2"), 2))


def registers_of(value: str) -> int:
    """Number of 32-bit registers of a value of the type or size that a modifier value names (``U64`` -> 2)."""
    if value in ("1", "2", "4"):
        return int(value)
    return next((n for pattern, n in _WIDE if pattern.search(value)), 1)


def render(machine: Machine, words: dict[str, int], widths: dict[str, dict[str, dict[str, int]]]) -> str:
    """The text of ``ops.py``; ``widths`` are the rows' own register counts: operation -> modifier -> value -> registers."""
    sources = ["spec/encoding/*.yaml", "spec/opcodes.yaml"]
    operations = [_operation(o, words[o.name], widths.get(o.name, {})) for o in machine.operations]
    return template(
        "ops.py.j2",
        header=header("#", "oricgen.outputs.encoding", sources),
        effects=EFFECTS,
        isas=machine.isas,
        operations=operations,
    )


def _operation(operation: Operation, word: int, widths: dict[str, dict[str, int]]) -> dict[str, object]:
    mods = {m.name: m for m in operation.mods}
    effects = sum(1 << EFFECTS.index(e) for e in operation.effects)
    operands = ";".join(_operand(o, mods, widths) for o in operation.operands)
    described = ";".join(_mod(m) for m in operation.mods)
    fields = [operation.number, word, operation.name, operation.guard, " ".join(operation.forms), effects, operands, described]
    return {"ident": operation.ident, "word": word, "number": operation.number, "row": "|".join(map(str, fields))}


def _operand(operand: Operand, mods: dict[str, Modifier], widths: dict[str, dict[str, int]]) -> str:
    default = operand.default
    left_out = f"{default.kind} {default.reg} {'!' if default.negated else '-'}" if default else ""
    return ",".join([operand.name, "w" if operand.writes else "r", _width(operand.width, mods, widths), operand.kind, left_out])


def _mod(mod: Modifier) -> str:
    codes = " ".join(f"{name}={code}" for name, code in sorted(mod.codes.items(), key=lambda i: i[1]))
    return ",".join([mod.name, mod.kind, str(mod.shift), str(mod.width), codes, mod.default_name])


def _width(width: str, mods: dict[str, Modifier], widths: dict[str, dict[str, int]]) -> str:
    if width.isdigit():
        return width
    codes = sorted(mods[width].codes.items(), key=lambda i: i[1])
    return f"{width}:" + " ".join(f"{code}={widths.get(width, {}).get(name, registers_of(name))}" for name, code in codes)
