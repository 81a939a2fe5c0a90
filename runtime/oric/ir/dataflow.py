"""Data flow over the blocks of a function: one solver, and the worklist that passes share.

A problem has a set of facts for each place in front of and behind a block. Behind a block hold those that it makes and those in
front of it that it does not stop; in front of it those behind its predecessors: behind one of them (``every`` is false) or
behind each (``every``). A backward problem is the same on the reversed edges: *in front of* a block is then its end.
Source: Kildall, "A unified approach to global program optimization", 1973.
"""

from __future__ import annotations

from typing import Final, final

from librt.vecs import vec
from mypy_extensions import i64

from oric.support.arrays import zeros

from .cfg import Cfg

_SHIFT: Final = 5  # 32 facts in a word: no word is negative
_BIT: Final = 31


@final
class Worklist:
    """Numbers below ``limit`` that wait, each at most once at a time; first in, first out."""

    def __init__(self, limit: i64) -> None:
        self.limit: int = limit
        self.count: int = 0
        self._first: int = 0
        self._ring = zeros(limit)
        self._waits = zeros(limit)

    def add(self, number: i64) -> None:
        """Let a number wait unless it does."""
        if self._waits[number]:
            return
        self._waits[number] = 1
        place: i64 = self._first + self.count
        if place >= self.limit:
            place -= self.limit
        self._ring[place] = number
        self.count += 1

    def take(self) -> i64:
        """The number that has waited longest; there must be one (``count``)."""
        if self.count == 0:
            raise IndexError("nothing waits")
        number = self._ring[self._first]
        self._waits[number] = 0
        self._first += 1
        if self._first == self.limit:
            self._first = 0
        self.count -= 1
        return number


@final
class DataFlow:
    """A problem with ``bits`` facts on a graph, and once :meth:`solve` has run its solution.

    It is the least solution, with ``every`` the greatest. At the entry hold the facts of :meth:`start`; backward they hold at the
    end of blocks without successors. Blocks that the entry does not reach have no facts and count for nobody.
    """

    def __init__(self, cfg: Cfg, bits: i64, backward: bool = False, every: bool = False) -> None:
        self.cfg = cfg
        self.bits: int = bits
        self.every = every
        self.backward = backward
        self._from_start: vec[i64] = cfg.succ_start if backward else cfg.pred_start
        self._from: vec[i64] = cfg.succ if backward else cfg.pred
        self._to_start: vec[i64] = cfg.pred_start if backward else cfg.succ_start
        self._to: vec[i64] = cfg.pred if backward else cfg.succ
        width: i64 = bits + _BIT >> _SHIFT
        self.width: int = width
        self._boundary = zeros(width)
        self._made = zeros(cfg.blocks * width)
        self._stopped = zeros(cfg.blocks * width)
        self._front = zeros(cfg.blocks * width)
        self._behind = zeros(cfg.blocks * width)

    # -- the problem -------------------------------------------------------------------------------------

    def start(self, bit: i64) -> None:
        """A fact that holds where control begins."""
        self._check(0, bit)
        self._boundary[bit >> _SHIFT] |= 1 << (bit & _BIT)

    def make(self, b: i64, bit: i64) -> None:
        """Behind block ``b`` a fact holds, whatever comes into it."""
        self._check(b, bit)
        self._made[b * self.width + (bit >> _SHIFT)] |= 1 << (bit & _BIT)

    def stop(self, b: i64, bit: i64) -> None:
        """A fact in front of block ``b`` does not hold behind it any more, unless the block makes it."""
        self._check(b, bit)
        self._stopped[b * self.width + (bit >> _SHIFT)] |= 1 << (bit & _BIT)

    def _check(self, b: i64, bit: i64) -> None:
        if not 0 <= b < self.cfg.blocks or not 0 <= bit < self.bits:
            raise IndexError("no such block or fact")

    # -- the solution ------------------------------------------------------------------------------------

    def in_front(self, b: i64, bit: i64) -> bool:
        """Whether a fact holds in front of a block, in the direction of the problem."""
        self._check(b, bit)
        return self._front[b * self.width + (bit >> _SHIFT)] >> (bit & _BIT) & 1 != 0

    def behind(self, b: i64, bit: i64) -> bool:
        """Whether a fact holds behind a block, in the direction of the problem."""
        self._check(b, bit)
        return self._behind[b * self.width + (bit >> _SHIFT)] >> (bit & _BIT) & 1 != 0

    def all_in_front(self, b: i64) -> list[int]:
        """The facts that hold in front of a block, in ascending order."""
        self._check(b, 0)
        found: list[int] = []
        at: i64 = b * self.width
        bit: i64 = 0
        while bit < self.bits:
            if not self._front[at + (bit >> _SHIFT)]:
                bit += _BIT + 1
                continue
            if self._front[at + (bit >> _SHIFT)] >> (bit & _BIT) & 1:
                found.append(int(bit))
            bit += 1
        return found

    def passes(self, b: i64) -> bool:
        """Whether a fact holds in front of a block that does not stop it."""
        at: i64 = b * self.width
        end = at + self.width
        while at < end:
            if self._front[at] & ~self._stopped[at]:
                return True
            at += 1
        return False

    def solve(self) -> None:
        """Find the solution."""
        cfg = self.cfg
        work = Worklist(cfg.blocks)
        at: i64 = 0
        while at < cfg.reachable:
            b = cfg.order[cfg.reachable - 1 - at if self.backward else at]
            if self.every:
                self._fill(b)
            else:
                self._pass(b)
            work.add(b)
            at += 1
        while work.count > 0:
            b = work.take()
            self._meet(b)
            if self._pass(b):
                e = self._to_start[b]
                while e < self._to_start[b + 1]:
                    if cfg.number[self._to[e]] >= 0:
                        work.add(self._to[e])
                    e += 1

    def _fill(self, b: i64) -> None:
        """Let all facts hold behind a block for now."""
        word: i64 = 0
        while word < self.width:
            self._behind[b * self.width + word] = self._all(word)
            word += 1

    def _all(self, word: i64) -> i64:
        """All facts that a word of a set has."""
        left = self.bits - (word << _SHIFT)
        return (1 << (left if left <= _BIT else _BIT + 1)) - 1

    def _meet(self, b: i64) -> None:
        """Put together what comes into a block."""
        cfg = self.cfg
        at: i64 = b * self.width
        word: i64 = 0
        first = self._from_start[b]
        last = self._from_start[b + 1]
        begins = first == last if self.backward else b == 0
        while word < self.width:
            found: i64 = self._all(word) if self.every else 0
            if begins:
                found = self._boundary[word]
            e = first
            while e < last:
                source = self._from[e]
                if cfg.number[source] >= 0:
                    come = self._behind[source * self.width + word]
                    found = found & come if self.every else found | come
                e += 1
            self._front[at + word] = found
            word += 1

    def _pass(self, b: i64) -> bool:
        """Take what is in front of a block behind it; whether that is news."""
        changed = False
        at: i64 = b * self.width
        end = at + self.width
        while at < end:
            found = self._front[at] & ~self._stopped[at] | self._made[at]
            if found != self._behind[at]:
                self._behind[at] = found
                changed = True
            at += 1
        return changed
