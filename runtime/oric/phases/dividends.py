"""Phase 44: divisions of 64 bits behind a test that their operands do not all fit 32 bits have no such test of their own.

Compilers that emit PTX put that test, and a division of 32 bits, in front of what they cannot bound. Source: this project;
observed: nvcc 13.0.88 and LLVM emit such tests, ptxas 13.0.88 has none.
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64
from oric_tables import ops
from oric_tables.macros import WIDE
from oric_tables.op import BRA, ISETP, LOP3, MOV

from oric.ir import operand as opd
from oric.ir.cfg import Cfg
from oric.ir.cursor import Cursor
from oric.ir.edges import target_of
from oric.ir.function import NONE, Function
from oric.ir.optable import instructions_with, marked
from oric.ir.passes import PassContext
from oric.ir.text import operands_of

from .comparing import is_plain
from .makers import makers_of

_COMPARE: Final = ops.op(ISETP)
_TABLE: Final = ops.op(LOP3).mods["lut"]
_WIDE: Final = marked(WIDE)
_EITHER: Final = 0xFC  # of a LOP3: the bits of its first two sources together
_BACK: Final = 8  # copies and blocks that are looked through


def trust_tests(f: Function, ctx: PassContext) -> bool:
    """Leave the tests out."""
    found = instructions_with(f, _WIDE)
    if not found:
        return False
    tests = _Tests(f)
    cursor = Cursor(f)
    settled = 0
    for i in found:
        if tests.show(i):
            cursor.rewrite(i, WIDE[f.op[i]], 0, f.count[i])
            settled += 1
    ctx.count("divisions behind tests", settled)
    return settled != 0


@final
class _Tests:
    """What branches show of the words of a function. A word is named by the one that it is a copy of."""

    def __init__(self, f: Function) -> None:
        self.f = f
        self.makers = makers_of(f)
        self.graph: Cfg = self.makers.cfg

    def show(self, i: i64) -> bool:
        """Whether a branch on the only way to a division shows that an upper word of its operands is not zero."""
        f = self.f
        uppers: set[int] = set()
        for at in (1, 2):
            operand = f.get(i, at)
            if opd.is_register(operand) and opd.count_of(operand) == 2:
                uppers.add(self._origin(opd.word(operand, 1), i))
        uppers.discard(NONE)
        b = f.block[i]
        steps = 0
        while uppers and steps < _BACK and self.graph.pred_start[b + 1] - self.graph.pred_start[b] == 1:
            before = self.graph.pred[self.graph.pred_start[b]]
            tested = self._tested(before, b)
            if tested and tested <= uppers:
                return True
            b = before
            steps += 1
        return False

    def _tested(self, before: i64, b: i64) -> set[int]:
        """Words that are not all zero where a block goes on to ``b``; none when it does not test for that."""
        f = self.f
        compare = self._compared(before, b)
        if compare == NONE:
            return set()
        word = self._origin(f.get(compare, 1), compare)
        if word == NONE:
            return set()
        made = self.makers.maker[word]
        if f.op[made] != LOP3 or f.mods[made] >> _TABLE.shift & 0xFF != _EITHER or f.get(made, 3) != opd.RZ_OPERAND:
            return {word}
        origins = {self._origin(f.get(made, at), made) for at in (1, 2)}
        return origins if NONE not in origins else set()

    def _compared(self, before: i64, b: i64) -> i64:
        """The comparison of a word with zero that finds another value where a block goes on to ``b``; ``NONE``: there is none."""
        f = self.f
        branch = f.tail[before]
        ways = self.graph.succ_start[before + 1] - self.graph.succ_start[before]
        if branch == NONE or f.op[branch] != BRA or ways != 2 or any(map(opd.is_register, operands_of(f, branch))):
            return NONE
        guard = f.guard[branch]
        if not opd.is_register(guard) or not self.makers.is_settled(guard, branch):
            return NONE
        compare = self.makers.of(guard)
        if f.op[compare] != ISETP or not is_plain(f, compare) or f.get(compare, 2) != opd.RZ_OPERAND:
            return NONE
        holds = (target_of(f, branch) == b) == (guard & opd.NEGATE == 0)
        return compare if str(_COMPARE.unpack(f.mods[compare])["cmp"]) == ("NE" if holds else "EQ") else NONE

    def _origin(self, operand: i64, use: i64) -> int:
        """The word that a source of an instruction is a copy of, itself perhaps; ``NONE`` when it is not known."""
        f = self.f
        steps = 0
        while opd.is_register(operand) and self.makers.is_settled(operand, use):
            use = self.makers.of(operand)
            source = f.get(use, 1) if f.op[use] == MOV else opd.NO_OPERAND
            if not opd.is_register(source) or source & opd.SIGNS or opd.count_of(source) > 1 or steps == _BACK:
                return f.words_of(operand)
            operand = source
            steps += 1
        return NONE
