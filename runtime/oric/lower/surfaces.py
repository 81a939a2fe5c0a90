"""Accesses of surfaces: coordinates in one register, elements as loads and stores have them."""

from __future__ import annotations

from typing import Any, Final

from mypy_extensions import i64

from oric.ir import operand as opd
from oric.support import nodes

from .access import count_of_elements, load_into, store_value
from .emit import OPERAND
from .memory import QUAD, Memory
from .moves import in_register, type_bytes
from .program import A, C, Program, V
from .textures import handle

_COORDINATES: Final = {"1d": 1, "2d": 2, "3d": 3, "a1d": 2, "a2d": 3}
_PAIR: Final = 2


def surface_load(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """``suld``."""
    env = b.open(program)
    _, place, coordinates = operands[1]
    env.put(A, _coordinates(b, program, coordinates))
    env.put(C, handle(b, place))
    load_into(b, program, env, guard, operands[0], V)
    b.close()


def surface_store(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """``sust`` and ``sured``."""
    env = b.open(program)
    _, place, coordinates = operands[0]
    count = count_of_elements(program)
    items = operands[1][1] if operands[1][0] == nodes.VEC else (operands[1],) * count
    env.put(V, store_value(b, program, items, count, type_bytes(program.types[-1])))
    env.put(A, _coordinates(b, program, coordinates))
    env.put(C, handle(b, place))
    b.run(program, env, guard)
    b.close()


def _coordinates(b: Memory, program: Program, node: Any) -> i64:
    """The coordinates beside each other, a layer behind them; a scalar stands for the first, and what is missing is 0."""
    geometry = program.tokens["geom"]
    count = _COORDINATES[geometry]
    items = list(node[1][:count]) if node[0] == nodes.VEC else [node]
    words: list[int] = []
    for item in items:
        value = b.value(item)
        words.append(value.bits & ~opd.SPAN if value.kind == OPERAND else in_register(b, value))
    words += [opd.RZ_OPERAND] * (count - len(words))
    if geometry[0] == "a":
        words.append(words.pop(0))
    if count == 1:
        return words[0]
    if all(word == opd.RZ_OPERAND for word in words):
        return opd.RZ_OPERAND
    register = b.new("R", _PAIR if count == _PAIR else QUAD)
    for n, word in enumerate(words):
        b.copy(opd.reg(register & opd.INDEX, n, 1), word, 0)
    return opd.reg(register & opd.INDEX, 0, count)
