"""The value of an instruction whose sources are constants, as ``spec/values`` has it (:c:func:`oric_value`)."""

from __future__ import annotations

from typing import final

from mypy_extensions import i64
from oric_tables._native import lib
from oric_tables.numbers import F_ABS, F_ABSENT, F_IMM, F_INV, F_NEG, INSN_OPERANDS

from oric.ir import operand as opd
from oric.ir.facts import NOT_CONSTANT, is_pair
from oric.ir.operand import SIGNS
from oric.ir.optable import OPS
from oric.ir.values import Values
from oric.support.arrays import zeros
from oric.support.lend import lend


def marks_of(operand: i64) -> i64:
    """The signs of a source as C takes them."""
    marks: i64 = 0
    if operand & opd.NEGATE:
        marks |= F_NEG
    if operand & opd.ABSOLUTE:
        marks |= F_ABS
    if operand & opd.COMPLEMENT:
        marks |= F_INV
    return marks


@final
class Folder:
    """Evaluates instructions on constants; the arrays that C reads are made once."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.marks = zeros(INSN_OPERANDS)
        self.sources = zeros(INSN_OPERANDS)
        self.results = zeros(INSN_OPERANDS)

    def fold(self, i: i64) -> bool:
        """Compute the first result, ``results[0]``; False when a source is no constant, or the operation has no value so."""
        f = self.values.f
        mask = OPS.writes[f.op[i]]
        wide = self.values.legality.whole[f.op[i]] != 0
        at: i64 = 0
        while at < INSN_OPERANDS:
            operand = f.get(i, at) if at < f.count[i] else opd.NO_OPERAND
            if operand == opd.NO_OPERAND:
                self.marks[at] = F_ABSENT
            elif mask >> at & 1:
                self.marks[at] = 0
            elif not (self._take_whole(at, operand) if wide or is_pair(operand) else self._take(at, operand)):
                return False
            at += 1
        return bool(lib.oric_value(f.op[i], f.mods[i], lend(self.marks), 1, lend(self.sources), lend(self.results)))

    def _take_whole(self, at: i64, operand: i64) -> bool:
        """The same for a source of 64 bits."""
        values = self.values
        if not values.has_whole(operand):
            return False
        self.marks[at] = 0
        self.sources[at] = values.whole(operand)
        return True

    def _take(self, at: i64, operand: i64) -> bool:
        """Put a source into the arrays; False when it is not known."""
        marks = marks_of(operand)
        bits = self.values.constant(operand & ~SIGNS)
        if bits == NOT_CONSTANT:
            if operand & (opd.TYPE | opd.INDEX) != opd.PT_OPERAND:
                return False
            bits = 1
        elif operand & opd.TYPE != opd.IS_REG:
            marks |= F_IMM
        self.marks[at] = marks
        self.sources[at] = bits
        return True
