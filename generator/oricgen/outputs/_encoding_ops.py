"""Python table of the operations: ``oric_tables/ops.py``."""

from __future__ import annotations

import re

from ..isa.model import Default, Machine, Modifier, Operation
from ..render import header, template

EFFECTS = (
    "load", "store", "atomic", "shared", "local", "constant", "branch", "call", "return", "exit", "barrier", "convergence",
    "fence", "warp", "side_effect", "special",
)  # fmt: skip
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
    return {
        "name": operation.name,
        "ident": operation.ident,
        "word": word,
        "number": operation.number,
        "guard": operation.guard,
        "isas": tuple(operation.forms),
        "effects": sum(1 << EFFECTS.index(e) for e in operation.effects),
        "operands": [
            (o.name, o.writes, _width(o.width, mods, widths), o.kind, _default(o.default)) for o in operation.operands
        ],
        "mods": [(m.name, m.kind, m.shift, m.width, _codes(m), m.default_name) for m in operation.mods],
    }  # fmt: skip


def _default(default: Default | None) -> tuple[str, int, bool] | None:
    return (default.kind, default.reg, default.negated) if default else None


def _width(width: str, mods: dict[str, Modifier], widths: dict[str, dict[str, int]]) -> object:
    if width.isdigit():
        return int(width)
    mod = mods[width]
    return (
        width,
        {
            code: widths.get(width, {}).get(name, registers_of(name))
            for name, code in sorted(mod.codes.items(), key=lambda i: i[1])
        },
    )


def _codes(mod: Modifier) -> dict[str, int]:
    return dict(sorted(mod.codes.items(), key=lambda i: i[1]))
