"""Comparisons of words and branches on them, as passes make them."""

from __future__ import annotations

from typing import Final

from oric_tables import ops
from oric_tables.op import BRA, ISETP

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import P

_COMPARE: Final = ops.op(ISETP)


def compare(cursor: Cursor, relation: str, sign: str, a: int, b: int, also: int = 0) -> int:
    """A new predicate at the cursor: whether two words compare so, and another predicate, if one is given, holds."""
    made = opd.reg(cursor.f.new_reg(P))
    cursor.make(ISETP, _COMPARE.pack(cmp=relation, sign=sign, bop="AND"))
    for operand in (made, a, b, opd.PT_OPERAND, also):
        if operand:
            cursor.put(operand)
    return made


def branch_on(cursor: Cursor, predicate: int) -> int:
    """A branch at the cursor, taken out of its block: the end of one (:class:`~oric.phases.flow.Flow`)."""
    node = cursor.make1(BRA, opd.label(0), 0, predicate)
    cursor.remove(node)
    return node
