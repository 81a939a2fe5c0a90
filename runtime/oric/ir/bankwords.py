"""Words of constant banks in registers: which instruction loads one on a target.

Up to sm_90 a word of a bank is an operand like any other, and ``MOV`` copies it. From sm_100 on no arithmetic operation has such
operands: LDC loads general registers, LDCU uniform ones (the shapes with constants end at sm_90, ``spec/formats.yaml``).
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64
from oric_tables.op import LDC, MOV

from . import operand as opd
from .cursor import Cursor
from .function import Function
from .legality import Legality

FARTHEST: Final = 1 << 15  # one behind the last offset that LDC has room for (spec/encoding: s38-53)


def bank_of(operand: i64) -> i64:
    """The bank of a word, as LDC and LDCU name it."""
    return opd.const_bank(opd.aux_of(operand), 0)


def is_far(f: Function, i: i64) -> bool:
    """Whether an instruction reads a word of a bank that may lie outside of it."""
    at: i64 = 0
    while at < f.count[i]:
        operand = f.get(i, at)
        if operand & opd.TYPE == opd.IS_SYMBOL and operand & opd.CONST_BANK and operand & opd.INDEX >= FARTHEST:
            return True
        at += 1
    return False


def load_word(cursor: Cursor, legality: Legality, dest: i64, operand: i64, guard: i64 = 0) -> i64:
    """Put a word of a constant bank below ``FARTHEST`` into a general register; returns the instruction."""
    if legality.takes_words:
        return cursor.make2(MOV, dest, operand, 0, guard)
    return cursor.make4(LDC, dest, opd.RZ_OPERAND, bank_of(operand), cursor.f.imm(operand & opd.INDEX), 0, guard)
