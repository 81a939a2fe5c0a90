"""Comparisons of words and branches on them, as passes make them."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64
from oric_tables import ops
from oric_tables.op import BRA, ISETP

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.facts import is_absent
from oric.ir.function import Function, P

_COMPARE: Final = ops.op(ISETP)
OTHER: Final = [operand.name for operand in _COMPARE.operands].index("Pp")  # what a comparison of words is combined with
_COMBINED: Final = _COMPARE.mods["bop"]
_AND: Final[int] = _COMBINED.values["AND"]


def is_joined_by_and(f: Function, i: i64) -> bool:
    """Whether a comparison of words holds only where its other condition does; true, that one changes nothing."""
    return f.mods[i] >> _COMBINED.shift & _COMBINED.mask == _AND


def is_plain(f: Function, i: i64) -> bool:
    """Whether a comparison of words makes one predicate, of its sides alone."""
    at: i64 = 3
    while at < f.count[i]:
        if f.get(i, at) != opd.PT_OPERAND and not is_absent(f.get(i, at)):
            return False
        at += 1
    return is_joined_by_and(f, i)


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
