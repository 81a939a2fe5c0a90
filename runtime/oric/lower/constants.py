"""Division of 32-bit integers by constants: a multiplication that gives the upper half of the product, and a shift.

After T. Granlund and P. L. Montgomery, "Division by Invariant Integers using Multiplication" (1994).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from oric.support import nodes

if TYPE_CHECKING:
    from .builder import OriBuilder
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


def divide_by_constant(b: OriBuilder, program: Program, guard: int, operands: Sequence[Any]) -> None:
    """``div`` and ``rem`` of 32 bits by a constant whose magnitude is 2 at least."""
    dest, value = b.value(operands[0]), b.value(operands[1])
    if value.__class__ is not int:
        value = b.constant(value[1] & 0xFFFFFFFF)
    remainder = program.options["part"] == "remainder"
    quotient = b.new("R") if remainder else dest
    over = 0 if remainder else guard
    divisor = operands[2][1] & 0xFFFFFFFF
    if program.options["signed"] == "True":
        divisor = _divide_signed(b, quotient, value, divisor - (divisor >> 31 << 32), over)
    else:
        multiplier, shift, wide = unsigned_magic(divisor)
        name = "divide_unsigned_wide" if wide else "divide_unsigned"
        b.template(name, over, d=quotient, a=value, b=(nodes.INT, multiplier), c=(nodes.INT, shift - wide))
    if remainder:
        b.template("multiply_add", guard, d=dest, a=quotient, b=(nodes.INT, -divisor), c=value)


def _divide_signed(b: OriBuilder, quotient: int, value: int, divisor: int, guard: int) -> int:
    multiplier, shift = signed_magic(abs(divisor))
    name = "divide_signed_wide" if multiplier >> 31 else "divide_signed"
    name += "_negative" if divisor < 0 else ""
    b.template(name, guard, d=quotient, a=value, b=(nodes.INT, multiplier), c=(nodes.INT, shift))
    return divisor
