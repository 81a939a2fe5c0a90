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
from oric.ir.function import NONE, Function, control_flow
from oric.ir.optable import OPS
from oric.ir.passes import PassContext

from .ahead import is_plain

_COMPARE: Final = ops.op(ISETP)
_TABLE: Final = ops.op(LOP3).mods["lut"]
_EITHER: Final = 0xFC  # of a LOP3: the bits of its first two sources together
_BACK: Final = 8  # copies and blocks that are looked through


def trust_tests(f: Function, ctx: PassContext) -> bool:
    """Leave the tests out."""
    found = [i for i in _all(f) if f.op[i] in WIDE]
    if not found:
        return False
    tests = _Tests(f, control_flow(f))
    cursor = Cursor(f)
    settled = 0
    for i in found:
        if tests.show(i):
            cursor.rewrite(i, WIDE[f.op[i]], 0, f.count[i])
            settled += 1
    ctx.count("divisions behind tests", settled)
    return settled != 0


def _all(f: Function) -> list[int]:
    out: list[int] = []
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            out.append(i)
            i = f.next[i]
        b += 1
    return out


@final
class _Tests:
    """``writer``: by word the one instruction that writes it, under no guard; several: ``NONE``."""

    def __init__(self, f: Function, graph: Cfg) -> None:
        self.f = f
        self.graph = graph
        self.writer: dict[int, int] = {}
        for i in _all(f):
            mask = OPS.writes[f.op[i]]
            at: i64 = 0
            while at < f.count[i]:
                operand = f.get(i, at)
                if mask >> at & 1 and opd.is_register(operand):
                    word = f.words_of(operand)
                    end = word + opd.count_of(operand)
                    while word < end:
                        self.writer[word] = NONE if word in self.writer or f.guard[i] else i
                        word += 1
                at += 1

    def show(self, i: i64) -> bool:
        """Whether a branch on the only way to a division shows that an upper word of its operands is not zero."""
        f = self.f
        uppers: set[int] = set()
        for at in (1, 2):
            operand = f.get(i, at)
            if opd.is_register(operand) and opd.count_of(operand) == 2:
                uppers.add(self._origin(f.words_of(operand) + 1, i))
        uppers.discard(-1)
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
        branch = f.tail[before]
        if branch == NONE or f.op[branch] != BRA or not opd.is_register(f.guard[branch]):
            return set()
        ways = self.graph.succ_start[before + 1] - self.graph.succ_start[before]
        if ways != 2 or any(opd.is_register(f.get(branch, at)) for at in range(f.count[branch])):
            return set()
        compare = self._only_writer(f.words_of(f.guard[branch]), branch)
        if compare == NONE or f.op[compare] != ISETP or not is_plain(f, compare) or f.get(compare, 2) != opd.RZ_OPERAND:
            return set()
        relation = str(_COMPARE.unpack(f.mods[compare])["cmp"])
        holds = (target_of(f, branch) == b) == (f.guard[branch] & opd.NEGATE == 0)
        if relation != ("NE" if holds else "EQ") or not opd.is_register(f.get(compare, 1)):
            return set()
        word = self._origin(f.words_of(f.get(compare, 1)), compare)
        made = self._only_writer(word, compare) if word >= 0 else NONE
        if made == NONE:
            return {word} if word >= 0 else set()
        if f.op[made] != LOP3 or f.mods[made] >> _TABLE.shift & 0xFF != _EITHER or f.get(made, 3) != opd.RZ_OPERAND:
            return {word}
        parts = [f.get(made, at) for at in (1, 2)]
        origins = {self._origin(f.words_of(part), made) if opd.is_register(part) else -1 for part in parts}
        return origins if -1 not in origins else set()

    def _only_writer(self, word: i64, use: i64) -> i64:
        """The one instruction that writes a word, if it comes before a use of it on every way; else ``NONE``."""
        f = self.f
        i: i64 = self.writer.get(word, NONE)
        if i == NONE:
            return NONE
        if f.block[i] != f.block[use]:
            return i if self.graph.dominates(f.block[i], f.block[use]) else NONE
        at: i64 = i
        while at != NONE and at != use:
            at = f.next[at]
        return i if at == use and i != use else NONE

    def _origin(self, word: i64, use: i64) -> int:
        """The word that a word is a copy of, itself perhaps; -1 when it is not known."""
        f = self.f
        steps = 0
        while True:
            i = self._only_writer(word, use)
            if i == NONE:
                return -1
            source = f.get(i, 1) if f.count[i] > 1 else 0
            if f.op[i] != MOV or not opd.is_register(source) or source & opd.SIGNS or opd.count_of(source) > 1 or steps == _BACK:
                return word
            word = f.words_of(source)
            use = i
            steps += 1
