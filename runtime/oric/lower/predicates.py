"""Conditions on operands that rules name with ``if``. Each takes the PTX operand nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from oric.support import nodes


def all_constant(operands: Sequence[Any]) -> bool:
    """Every operand is an integer immediate."""
    return all(o[0] == nodes.INT for o in operands)


def middle_constant(operands: Sequence[Any]) -> bool:
    """The second and third operands are integer immediates."""
    return bool(operands[1][0] == nodes.INT and operands[2][0] == nodes.INT)


def fields_are_constant(operands: Sequence[Any]) -> bool:
    """The last two operands are constants that fit a byte."""
    return all(o[0] == nodes.INT and 0 <= o[1] <= 255 for o in operands[-2:])


def mask_is_full(operands: Sequence[Any]) -> bool:
    """The last operand is a member mask of all 32 lanes."""
    last = operands[-1]
    return bool(last[0] == nodes.INT and last[1] & 0xFFFFFFFF == 0xFFFFFFFF)


def has_four_operands(operands: Sequence[Any]) -> bool:
    """There is a third source."""
    return len(operands) == 4


def has_three_operands(operands: Sequence[Any]) -> bool:
    """What the third operand is for is not left out."""
    return len(operands) == 3


def first_is_sink(operands: Sequence[Any]) -> bool:
    """The first operand is ``_``."""
    return bool(operands[0][0] == nodes.SINK)


def names_variable(operands: Sequence[Any]) -> bool:
    """An operand is the address of a variable, or of an element of one."""
    return any(operand[0] in (nodes.ADDR_SYM, nodes.INDEX) for operand in operands)


def six_bits(operands: Sequence[Any]) -> bool:
    """The first operand is a constant of six bits."""
    return bool(operands[0][0] == nodes.INT and 0 <= operands[0][1] < 64)


def divisor_is_power_of_two(operands: Sequence[Any]) -> bool:
    """The third operand is a positive constant with one bit set."""
    last = operands[2]
    return bool(last[0] == nodes.INT and last[1] > 0 and not last[1] & (last[1] - 1))


def divisor_is_constant(operands: Sequence[Any]) -> bool:
    """The third operand is a constant other than 0, 1 and -1 (as a 32-bit pattern)."""
    last = operands[2]
    return bool(last[0] == nodes.INT and last[1] & 0xFFFFFFFF not in {0, 1, 0xFFFFFFFF})


def product_is_negated(operands: Sequence[Any]) -> bool:
    """One of the two factors is negated."""
    return bool((operands[1][0] == nodes.NEG) != (operands[2][0] == nodes.NEG))


def addend_is_negated(operands: Sequence[Any]) -> bool:
    """The last of four operands is negated."""
    return bool(operands[3][0] == nodes.NEG)


TESTS: Final = {
    "addend_is_negated": addend_is_negated,
    "all_constant": all_constant,
    "divisor_is_constant": divisor_is_constant,
    "divisor_is_power_of_two": divisor_is_power_of_two,
    "fields_are_constant": fields_are_constant,
    "has_four_operands": has_four_operands,
    "has_three_operands": has_three_operands,
    "first_is_sink": first_is_sink,
    "mask_is_full": mask_is_full,
    "middle_constant": middle_constant,
    "names_variable": names_variable,
    "product_is_negated": product_is_negated,
    "six_bits": six_bits,
}
