"""Phase 19: both halves of one product, made by one operation.

Of words that is IMAD.WIDE, of pairs MUL128, whose template makes the lower half of what it needs for the upper one. Lower
halves of products are the same whatever the sign. Source: this project; observed: what ptxas 13.0.88 makes of mul.lo and mul.hi.
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64
from oric_tables import knobs, ops
from oric_tables.op import IMAD, IMAD_HI, IMAD_WIDE, MOV, MUL64, MUL128, MULHI64

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.facts import is_absent
from oric.ir.function import NONE, Function, R
from oric.ir.words import WordList
from oric.support.arrays import zeros

_WORDS: Final = 0
_PAIRS: Final = 1
_LOW: Final = 0
_HIGH: Final = 1
_HIGHER: Final = ops.op(IMAD_HI)
_WIDE: Final = ops.op(IMAD_WIDE)


def pair_products(f: Function) -> int:
    """Make the halves of a product together where a block makes both; returns how many."""
    if not _has_both(f):
        return 0
    pairing = _Pairing(f)
    b: i64 = 0
    while b < f.blocks():
        pairing.walk(b)
        b += 1
    return pairing.done


def _half(f: Function, i: i64) -> i64:
    """Which half of a product of words (0 and 1) or of pairs (2 and 3) an instruction makes, -1 for any other."""
    op = f.op[i]
    if op == MUL64:
        return 2 * _PAIRS + _LOW
    if op == MULHI64:
        return 2 * _PAIRS + _HIGH
    if (op != IMAD and op != IMAD_HI) or f.get(i, 3) != opd.RZ_OPERAND:
        return -1
    if op == IMAD:
        return 2 * _WORDS + _LOW
    carry = f.get(i, 4) if f.count[i] > 4 else opd.NO_OPERAND
    return 2 * _WORDS + _HIGH if is_absent(carry) else -1


def _has_both(f: Function) -> bool:
    found: i64 = 0
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            half = _half(f, i)
            if half >= 0:
                found |= 1 << half
            i = f.next[i]
        b += 1
    return found & 3 == 3 or found & 12 == 12


@final
class _Pairing:
    """``written``: by word the place in the walk where it was written last; ``place``: of instructions; ``seen``: the last
    instruction that makes a half of a product, by its factors."""

    def __init__(self, f: Function) -> None:
        self.f = f
        self.cursor = Cursor(f)
        self.words = WordList()
        self.written = zeros(f.words)
        self.place: dict[int, int] = {}
        self.seen: dict[tuple[int, int, int], int] = {}
        self.clock: int = 0
        self.done: int = 0

    def walk(self, b: i64) -> None:
        """Look at a block."""
        f = self.f
        self.seen = {}
        i = f.head[b]
        while i != NONE:
            following = f.next[i]
            self.clock += 1
            half = _half(f, i)
            if half >= 0 and not f.guard[i] and opd.is_register(f.get(i, 0)):
                self._look_at(i, half)
            self.words.clear()
            self.words.add_writes(f, i)
            at: i64 = 0
            while at < self.words.count:
                word = self.words.words[at]
                if word < len(self.written):
                    self.written[word] = self.clock
                at += 1
            i = following

    def _look_at(self, i: i64, half: i64) -> None:
        """Pair an instruction with the one that makes the other half, or note it."""
        f = self.f
        a, b = f.get(i, 1), f.get(i, 2)
        factors = (a, b) if a <= b else (b, a)
        other = self.seen.get((half ^ 1, factors[0], factors[1]), NONE)
        if other != NONE and self.clock - self.place[other] <= f.knobs.numbers[knobs.PAIR_REACH] and self._hold(factors, other):
            del self.seen[half ^ 1, factors[0], factors[1]]
            self._pair(other, i, half)
            self.done += 1
            return
        self.seen[half, factors[0], factors[1]] = i
        self.place[i] = self.clock

    def _hold(self, factors: tuple[int, int], other: i64) -> bool:
        """Whether the factors still have the values that they had at an instruction."""
        for factor in factors:  # what was made since the walk began is nobody's factor
            if opd.is_register(factor):
                word = self.f.words_of(factor)
                end = word + opd.count_of(factor)
                while word < end:
                    if word >= len(self.written) or self.written[word] >= self.place[other]:
                        return False
                    word += 1
        return True

    def _pair(self, first: i64, last: i64, half: i64) -> None:
        """Make both halves at the first of two instructions; ``half`` is that of the last one."""
        if half >> 1 == _WORDS:
            self._pair_words(first, last, half & 1)
        else:
            self._pair_pairs(first, last, half & 1)

    def _pair_words(self, first: i64, last: i64, half: i64) -> None:
        f = self.f
        cursor = self.cursor
        high = last if half == _HIGH else first
        sign = str(_HIGHER.unpack(f.mods[high])["sign"])
        made = f.new_reg(R, 2)
        cursor.in_front(first)
        cursor.make4(IMAD_WIDE, opd.reg(made, 0, 2), f.get(first, 1), f.get(first, 2), opd.RZ_OPERAND, _WIDE.pack(sign=sign))
        for i, which in ((first, half ^ 1), (last, half)):
            cursor.rewrite(i, MOV, 0, 2)
            f.set(i, 1, opd.reg(made, which))

    def _pair_pairs(self, first: i64, last: i64, half: i64) -> None:
        f = self.f
        cursor = self.cursor
        made = opd.reg(f.new_reg(R, 2), 0, 2)
        dest, a, b = f.get(first, 0), f.get(first, 1), f.get(first, 2)
        cursor.rewrite(first, MUL128, 0, 4)
        f.set(first, 0, made if half == _LOW else dest)
        f.set(first, 1, dest if half == _LOW else made)
        f.set(first, 2, a)
        f.set(first, 3, b)
        cursor.in_front(last)
        result = f.get(last, 0)
        cursor.make2(MOV, opd.word(result, 0), opd.word(made, 0))
        cursor.make2(MOV, opd.word(result, 1), opd.word(made, 1))
        cursor.remove(last)
