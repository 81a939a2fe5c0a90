"""``wgmma``: products of warp groups. Operands are accumulators, a fragment of A or its descriptor, and the descriptor of B.

Descriptors are in four uniform registers, that of A in the lower two. Each product has registers of its own for accumulators and
fragment, which are copied to and from those of the PTX: phase 4 makes them one. Source: observed (what ptxas 13.0.88 makes).
"""

from __future__ import annotations

from typing import Any, Final

from mypy_extensions import i64

from oric.ir import operand as opd
from oric.support import nodes

from .emit import OPERAND, Value, integer, packed, part
from .memory import Memory
from .program import OFF, A, B, C, D, E, F, M, N, Program, Q, V, X

_MASK32: Final = 0xFFFFFFFF
_MOST: Final = 7  # groups that a wait can leave under way
_DESCRIPTORS: Final = 4  # registers of both


def wait_for_groups(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """A wait for all groups but some."""
    env = b.open(program)
    env.put_value(OFF, integer(min(operands[0][1], _MOST)))
    b.run(program, env)
    b.close()


def group_product(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """A product."""
    has = program.options["has"].split()
    rest = list(operands)
    results = rest.pop(0)[1]
    first, second = rest.pop(0), rest.pop(0)
    skip: i64 = -1
    if guard:
        skip = b.make_label()
        b.branch(skip, guard ^ opd.NEGATE)
    env = b.open(program)
    if "sparse" in has:
        env.put(E, _register(b, rest.pop(0)))
        env.put_value(OFF, integer(rest.pop(0)[1]))
    reads, whether = _whether(b, rest.pop(0))
    wide = b.gathered(results, 1) if reads else b.new("R", len(results))
    env.put(D, wide)
    env.put(C, wide if reads else opd.RZ_OPERAND)
    env.put(Q, whether)
    in_registers = first[0] == nodes.VEC
    _descriptors(b, env, first, second, in_registers)
    env.put_value(F, integer(0))
    if "unsigned" not in has:
        negative = rest.pop(0)[1] & _MASK32 == _MASK32
        env.put_value(B, integer(rest.pop(0)[1] & _MASK32 == _MASK32))
        if not in_registers:
            env.put_value(F, integer(negative))
        elif negative:
            env.put(A, env.bits[A] ^ opd.NEGATE)
    env.put_value(M, integer(0))
    env.put_value(V, integer(0))
    if "transposed" in has:
        for index in (V,) if in_registers else (M, V):
            env.put_value(index, integer(rest.pop(0)[1]))
    b.run(program, env)
    b.close()
    b.parted.append((wide, results))
    b.part_vectors(0)
    if skip >= 0:
        b.place(skip)


def _descriptors(b: Memory, env: Any, first: Any, second: Any, in_registers: bool) -> None:
    quad = b.new("UR", _DESCRIPTORS)
    words = [integer(0), integer(0)] if in_registers else _words(b, first)
    for at, value in enumerate([*words, *_words(b, second)]):
        if value.kind == OPERAND and value.bits != opd.RZ_OPERAND:
            b.template("of_group", 0, part(quad, at), value)
        else:
            b.template("uniform_number", 0, part(quad, at), integer(0 if value.kind == OPERAND else value.bits))
    if in_registers:
        env.put(A, b.gathered(first[1], 1))
        env.put(N, opd.NO_OPERAND)
        env.put(X, quad)
    else:
        env.put(A, opd.NO_OPERAND)
        env.put(N, quad)
        env.put(X, opd.NO_OPERAND)


def _words(b: Memory, node: Any) -> list[Value]:
    """The 32-bit words of a descriptor."""
    value = b.value(node)
    if value.kind == OPERAND:
        return [packed(part(value.bits, at)) for at in range(2)]
    return [integer(value.bits & _MASK32), integer(value.bits >> 32 & _MASK32)]


def _register(b: Memory, node: Any) -> i64:
    value = b.value(node)
    return value.bits if value.kind == OPERAND else b.constant(value.bits & _MASK32)


def _whether(b: Memory, node: Any) -> tuple[bool, i64]:
    """Whether D is read at all, and the uniform predicate that says so."""
    value = b.value(node)
    if value.kind != OPERAND:
        return (True, opd.PT_OPERAND) if value.bits else (False, opd.NOT_PT_OPERAND)
    made = b.new("UP")
    b.template("any_thread", 0, made, value)
    return True, made
