"""``cp.async``: one operation whose size, source size and predicate come from the operands.

The operation copies what lies between its source address and the next multiple of its size, and zeros behind that, or nothing
but zeros when its predicate is false. Source: observed (what ptxas 13.0.88 makes).
"""

from __future__ import annotations

from typing import Any, Final

from mypy_extensions import i64

from oric.ir import operand as opd
from oric.ir.function import AUX_VOLATILE
from oric.support import nodes

from .emit import integer, packed
from .memory import Address, Memory
from .program import A, B, C, E, F, Program

_SIZES: Final = {4: 0, 8: 1, 16: 2}  # bytes -> modifier of the operation
_SIZE: Final = 2  # place of the size among the operands; behind it: the bytes to copy or a predicate, the policy


def copy_async(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """``cp.async``."""
    size: int = operands[_SIZE][1]
    rest = operands[_SIZE + 1 :]
    policy = rest.pop() if "hint" in program.tokens else None
    source = b.address(operands[1], program.other)
    wanted: i64 = opd.PT_OPERAND
    filled = False
    if rest and _is_predicate(b, rest[0]):
        wanted = b.value(rest[0]).bits ^ opd.NEGATE
    elif rest and rest[0][0] == nodes.INT:
        count: int = rest[0][1] & 0xFFFFFFFF
        filled = 0 < count < size
        wanted = opd.PT_OPERAND if count else opd.NOT_PT_OPERAND
        source = b.displaced(source, size - count) if filled else source
    elif rest:
        filled = True
        wanted = b.new_p()
        source = _ending(b, source, rest[0], size, wanted)
    env = b.open(program)
    b.put_address(env, b.within(b.address(operands[0], program.space), int(program.options["reach"])))
    b.put_second(env, b.within(source, int(program.options["other_reach"])))
    env.put_value(A, integer(_SIZES[size]))
    env.put_value(B, integer(filled))
    env.put(C, wanted)
    env.put(E, b.descriptor() if policy is None else _uniform(b, policy))
    env.put_value(F, integer(policy is not None))
    made: i64 = len(b.code.op)
    b.run(program, env, guard)
    b.close()
    while made < len(b.code.op):
        b.code.aux[made] |= AUX_VOLATILE
        made += 1


def _is_predicate(b: Memory, node: Any) -> bool:
    kind: int = node[0]
    return kind == nodes.NOT or (kind == nodes.REG and b.sizes[node[1]] == 0)


def _ending(b: Memory, source: Address, count: Any, size: int, any_: i64) -> Address:
    """Where a copy of as many bytes as a register says begins; the predicate ``any_`` becomes true if these are any."""
    base = b.new_pair()
    first = b.new_r()
    b.set(first, b.value(count))
    b.template("copied_part", 0, base, packed(source.base), packed(first), integer(size), integer(size - 1))
    b.template2("is_any", 0, any_, first)
    return Address(base, source.displacement)


def _uniform(b: Memory, policy: Any) -> i64:
    """A cache policy in uniform registers: threads that have several of them get one of these, as it is a hint."""
    wide = b.new_pair()
    b.set(wide, b.value(policy))
    pair = b.new("UR", 2)
    b.template2("uniform_pair", 0, pair, wide)
    return pair
