"""What sums of words carry: nothing, where their sources cannot be great enough together; one, where they always are.

Sums of numbers of many words come as one sum with a carry for each word. The upper word of a product of words is at most
2^32 - 2, so that it takes a carry and carries nothing itself; what is added to nothing carries nothing. Where that is known the
carry is no predicate any more, and the sum behind it is one without a carry, or none at all. A difference with nothing borrows
nothing: its carry is one in each word. Source: observed (ptxas 13.0.88).
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64
from oric_tables.op import IADD3, IADD3_X

from oric.ir import operand as opd
from oric.ir.facts import MASK32, is_absent
from oric.ir.optable import OPS
from oric.ir.values import Values

from .bounds import largest, smallest

SUMS: Final = frozenset({IADD3, IADD3_X})
_CARRIES: Final = 4  # where what a sum carries stands, behind three sources
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
            least += smallest(values, operand)
            most += largest(values, operand)
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
