"""What sums of words carry: nothing, where their sources cannot be great enough together; one, where they always are.

Sums of numbers of many words come as one sum with a carry for each word. The upper word of a product of words is at most
2^32 - 2, so that it takes a carry and carries nothing itself; what is added to nothing carries nothing. Where that is known the
carry is no predicate any more, and the sum behind it is one without a carry, or none at all. A difference with nothing borrows
nothing: its carry is one in each word. Source: observed (ptxas 13.0.88).
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64
from oric_tables import ops
from oric_tables.op import IADD3, IADD3_X, IMAD_HI, SEL

from oric.ir import operand as opd
from oric.ir.facts import MASK32, NOT_CONSTANT, is_absent
from oric.ir.function import NONE
from oric.ir.operand import SIGNS
from oric.ir.optable import OPS
from oric.ir.values import Values

SUMS: Final = frozenset({IADD3, IADD3_X})
_CARRIES: Final = 4  # where what a sum carries stands, behind three sources
_MOST_UPPER: Final = MASK32 - 1  # of an upper word of (2^32 - 1)^2
_UNSIGNED: Final[int] = ops.op(IMAD_HI).pack(sign="U32")
_WORD_BITS: Final = 32
_OF_MINUS_NOTHING: Final = MASK32 + 1
_MOST_WITH_ONE: Final = 2 * MASK32 + 1  # of a sum that carries no more than one


def carry_of(values: Values, i: i64) -> i64:
    """What a sum (of ``SUMS``) surely carries, as a predicate: PT or !PT; 0: nobody knows."""
    f = values.f
    least: i64 = 0
    most: i64 = 0
    at: i64 = 1
    while at < f.count[i]:
        operand = f.get(i, at)
        if at < _CARRIES:
            least += _least(values, operand)
            most += _most(values, operand)
        elif not OPS.writes_at(f.op[i], at) and operand != opd.NOT_PT_OPERAND and not is_absent(operand):
            least += operand == opd.PT_OPERAND
            most += 1
        at += 1
    if most <= MASK32:
        return opd.NOT_PT_OPERAND
    return opd.PT_OPERAND if least > MASK32 and most <= _MOST_WITH_ONE else 0


def carries_of(values: Values, i: i64) -> list[int]:
    """The predicates that a sum leaves for what it carries."""
    f = values.f
    found: list[int] = []
    at: i64 = _CARRIES
    while at < f.count[i]:
        operand = f.get(i, at)
        if OPS.writes_at(f.op[i], at) and opd.is_register(operand):
            found.append(operand)
        at += 1
    return found


def _least(values: Values, operand: i64) -> i64:
    """The smallest number that a source of a sum can be."""
    if is_absent(operand) or operand == opd.RZ_OPERAND:
        return 0
    if operand == opd.RZ_OPERAND | opd.NEGATE:
        return _OF_MINUS_NOTHING
    if operand == opd.RZ_OPERAND | opd.COMPLEMENT:
        return MASK32
    number = NOT_CONSTANT if operand & SIGNS else values.constant(operand)
    return 0 if number == NOT_CONSTANT else number


def _most(values: Values, operand: i64) -> i64:
    """The largest number that a source of a sum can be. A minus is no number of 32 bits: that of 0 is 2^32."""
    f = values.f
    if is_absent(operand) or operand == opd.RZ_OPERAND:
        return 0
    if operand & SIGNS:
        return MASK32 if operand & SIGNS == opd.COMPLEMENT else _OF_MINUS_NOTHING
    number = values.constant(operand)
    if number != NOT_CONSTANT:
        return number
    bits = values.width_of(operand, 0)
    if bits < _WORD_BITS:
        return MASK32 >> _WORD_BITS - bits
    i = values.maker_of(operand)
    if i != NONE and f.op[i] == SEL:
        return _most_of_two(values.constant(f.get(i, 1)), values.constant(f.get(i, 2)))
    if i != NONE and f.op[i] == IMAD_HI and f.mods[i] == _UNSIGNED and f.get(i, _CARRIES - 1) == opd.RZ_OPERAND:
        return _MOST_UPPER
    return MASK32


def _most_of_two(one: i64, other: i64) -> i64:
    if one == NOT_CONSTANT or other == NOT_CONSTANT:
        return MASK32
    return max(one, other)
