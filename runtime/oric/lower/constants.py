"""Division of 32-bit integers by constants: a multiplication that gives the upper half of the product, and a shift.

After T. Granlund and P. L. Montgomery, "Division by Invariant Integers using Multiplication" (1994).
"""

from __future__ import annotations

from typing import Any

from mypy_extensions import i64

from .emit import OPERAND, Value, integer, packed
from .memory import Memory
from .program import Program


def unsigned_magic(divisor: int) -> tuple[int, int, bool]:
    """(multiplier, shift, whether the multiplier lacks its bit 32) for a divisor of 2 .. 2**32-1."""
    for shift in range(32):
        multiplier = -(-(1 << 32 + shift) // divisor)
        if multiplier >> 32:
            break
        if multiplier * divisor - (1 << 32 + shift) <= 1 << shift:
            return multiplier, shift, False
    shift = (divisor - 1).bit_length()
    return ((1 << 32 + shift) // divisor + 1) - (1 << 32), shift, True


def signed_magic(divisor: int) -> tuple[int, int]:
    """(multiplier below 2**32, shift) for a divisor of 2 .. 2**31."""
    for shift in range(32):
        multiplier = (1 << 32 + shift) // divisor + 1
        if multiplier * divisor - (1 << 32 + shift) <= 1 << shift + 1 and multiplier < 1 << 32:
            return multiplier, shift
    raise AssertionError(divisor)  # a shift of log2(divisor) always does


def divide_by_constant(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """``div`` and ``rem`` of 32 bits by a constant whose magnitude is 2 at least."""
    dest = b.dest(operands[0])
    value = b.value(operands[1])
    if value.kind != OPERAND:
        value = packed(b.constant(value.bits & 0xFFFFFFFF))
    remainder = program.options["part"] == "remainder"
    quotient = b.new_r() if remainder else dest
    over = 0 if remainder else guard
    divisor: int = operands[2][1] & 0xFFFFFFFF
    if program.options["signed"] == "True":
        divisor = _divide_signed(b, quotient, value, divisor - (divisor >> 31 << 32), over)
    else:
        multiplier, shift, wide = unsigned_magic(divisor)
        name = "divide_unsigned_wide" if wide else "divide_unsigned"
        b.template(name, over, quotient, value, integer(multiplier), integer(shift - wide))
    if remainder:
        b.template("multiply_add", guard, dest, packed(quotient), integer(-divisor), value)


def _divide_signed(b: Memory, quotient: i64, value: Value, divisor: int, guard: i64) -> int:
    multiplier, shift = signed_magic(abs(divisor))
    name = "divide_signed_wide" if multiplier >> 31 else "divide_signed"
    name += "_negative" if divisor < 0 else ""
    b.template(name, guard, quotient, value, integer(multiplier), integer(shift))
    return divisor
