"""Which words the threads of a warp that come by together have alike.

All are assumed to be, until one is found whose maker gives threads different values, or that is made of such, or that depends on
which way threads went: where they part at the end of a block, a word that several instructions write, one of them on a way to
where the ways meet, may be different behind; of a loop that threads leave in different rounds, so may all that is made in it.
Counters of loops stay alike whose ends all threads come to together. Source: this project; observed (ptxas 13.0.88 has no loop
over the threads of a warp around surfaces whose handles such counters choose).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64
from oric_tables.op import LDG, LDS
from oric_tables.operand_kinds import UNIFORM_SPECIAL

from oric.ir import operand as opd
from oric.ir.cfg import Cfg
from oric.ir.edges import is_conditional
from oric.ir.function import NONE, Function, control_flow
from oric.ir.optable import ATOMIC, BRANCH, CALL, CONSTANT, LOAD, OPS, WARP
from oric.ir.words import WordList
from oric.support.arrays import zeros

_VARYING: Final = LOAD | ATOMIC | WARP | CALL
_SAME_FOR_ALL: Final = frozenset({LDG, LDS})  # loads that give threads with one address one value


@final
class Alike:
    """What is so while the function is not changed; ``writers``: word -> the instructions that write it."""

    def __init__(self, f: Function, writers: dict[int, list[int]]) -> None:
        self.f = f
        self.writers = writers
        self.cfg: Cfg = control_flow(f)
        self.different: set[int] = set()
        self._branches: set[int] = set()  # blocks at whose ends threads part
        self._words = WordList()
        self._find()

    def is_alike(self, operand: i64) -> bool:
        """Whether threads that come by together have the same value in a word."""
        return not opd.is_register(operand) or self._is_same(self.f.words_of(operand))

    def _is_same(self, word: i64) -> bool:
        return int(word) not in self.different and int(word) in self.writers

    def _find(self) -> None:
        """Go through the blocks until nothing more is found to be different."""
        cfg = self.cfg
        meeting = self._meeting()
        found = True
        while found:
            found = False
            at: i64 = 0
            while at < cfg.reachable:
                b = cfg.order[at]
                found = self._look_through(b) or found
                if int(b) not in self._branches and self._parts(b):
                    self._branches.add(int(b))
                    self._mark_ways(b, int(meeting[b]))
                    found = True
                at += 1

    def _meeting(self) -> list[int]:
        """Where the ways that leave each block meet."""
        cfg = self.cfg
        ends = zeros(cfg.blocks)
        b: i64 = 0
        while b < cfg.blocks:
            ends[b] = 1 if not cfg.successors(b) else 0
            b += 1
        return list(cfg.postdominators(ends))

    def _look_through(self, b: i64) -> bool:
        """Whether an instruction of a block makes something different that was not known to be."""
        f = self.f
        found = False
        i = f.head[b]
        while i != NONE:
            if OPS.writes[f.op[i]] and not self._makes_same(i):
                found = self._mark(i) or found
            i = f.next[i]
        return found

    def _makes_same(self, i: i64) -> bool:
        """Whether an instruction gives threads the same that have the same sources, and they do."""
        f = self.f
        flags, sreg = OPS.flags[f.op[i]], OPS.sreg[f.op[i]]
        if flags & _VARYING and not flags & CONSTANT and (f.op[i] not in _SAME_FOR_ALL or OPS.is_strong(f, i)):
            return False
        if sreg >= 0 and f.get(i, sreg) & opd.INDEX not in UNIFORM_SPECIAL:
            return False
        return self._reads_same(i)

    def _reads_same(self, i: i64) -> bool:
        words = self._words
        words.clear()
        words.add_reads(self.f, i)
        at: i64 = 0
        while at < words.count:
            if not self._is_same(words.words[at]):
                return False
            at += 1
        return True

    def _mark(self, i: i64, several: bool = False) -> bool:
        """Note that what an instruction writes is different; ``several``: where it is not all that writes it."""
        words = self._words
        words.clear()
        words.add_writes(self.f, i)
        found = False
        at: i64 = 0
        while at < words.count:
            word = int(words.words[at])
            if word not in self.different and not (several and len(self.writers.get(word, [])) < 2):
                self.different.add(word)
                found = True
            at += 1
        return found

    def _parts(self, b: i64) -> bool:
        """Whether threads may leave a block by different ways."""
        f = self.f
        tail = f.tail[b]
        if tail == NONE or not OPS.flags[f.op[tail]] & BRANCH or len(self.cfg.successors(b)) < 2:
            return False
        return (is_conditional(f, tail) or f.guard[tail] == 0) and not self._reads_same(tail)

    def _mark_ways(self, b: i64, end: int) -> None:
        """Mark what is made on the ways from the end of a block to where they meet."""
        f = self.f
        seen: set[int] = set()
        waiting = list(self.cfg.successors(b))
        while waiting:
            block = int(waiting.pop())
            if block == end or block in seen:
                continue
            seen.add(block)
            waiting += self.cfg.successors(block)
        several = int(b) not in seen
        for block in sorted(seen):
            i = f.head[block]
            while i != NONE:
                if OPS.writes[f.op[i]]:
                    self._mark(i, several)
                i = f.next[i]
