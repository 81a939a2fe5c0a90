"""Phase 68: loads behind the place where two ways meet again join those in front of the place where they part.

Whoever comes by the first of these blocks comes by the other one, too. Where nothing on the ways between, which are short and
no loops, writes memory or orders accesses, and the address is known in front of them, the loads are under way together. A
volatile, relaxed or ordered load stays where it is. Source: observed (ptxas 13.0.88: unrolled rounds that test what they load).
"""

from __future__ import annotations

from typing import Final, final

from librt.vecs import append, vec
from mypy_extensions import i64
from oric_rules.matchers import OFFSET
from oric_tables import knobs

from oric.ir.cursor import Cursor
from oric.ir.function import AUX_VOLATILE, NONE, Function, control_flow
from oric.ir.optable import (
    ATOMIC,
    BARRIER,
    CALL,
    CONSTANT,
    CONTROL,
    CONVERGENCE,
    EXIT,
    FENCE,
    GLOBAL,
    LOAD,
    LOCAL,
    OPS,
    RETURN,
    SHARED,
    SIDE_EFFECT,
    STORE,
    WARP,
)
from oric.ir.passes import PassContext
from oric.ir.words import WordList
from oric.support.arrays import nones, zeros

from .makers import makers_of

_ORDERS: Final = ATOMIC | BARRIER | CALL | CONVERGENCE | FENCE | SIDE_EFFECT | WARP
_SPACES: Final = SHARED | LOCAL | GLOBAL
_ALL: Final[int] = -1  # in place of the spaces that are written: nothing passes


def raise_loads(f: Function, ctx: PassContext) -> bool:
    """Returns whether any load was moved."""
    if f.for_debugger:
        return False
    loads = _loads(f)
    if not loads or f.block[loads[0]] == f.block[loads[-1]]:
        return False
    raising = _Raising(f, loads)
    raising.run()
    ctx.count("loads moved to earlier ones", raising.moved)
    return raising.moved != 0


def _loads(f: Function) -> list[int]:
    """The weak loads, in the order of the blocks."""
    found: list[int] = []
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            if _is_plain(f, i):
                found.append(int(i))
            i = f.next[i]
        b += 1
    return found


def _is_plain(f: Function, i: i64) -> bool:
    flags = OPS.flags[f.op[i]]
    if not flags & LOAD or flags & (ATOMIC | CONSTANT | STORE) or not OFFSET[f.op[i]]:
        return False
    return not f.aux[i] & AUX_VOLATILE and not OPS.is_strong(f, i)


@final
class _Raising:
    """``size``: instructions of a block; ``stores``: the spaces that it writes; ``front``: those that are written in front of a
    load in its block; ``early``: loads whose result somebody may read who comes before them; ``taken``: words that a block has
    got; ``has``: operations that it loads with; ``seen``: the last of so many searches that came by a block; ``writer``: what
    writes a ``watched`` word, which addresses have: lists by word (``latest``, ``before``).
    """

    def __init__(self, f: Function, loads: list[int]) -> None:
        self.f = f
        self.loads = loads
        self.moved = 0
        self.cursor = Cursor(f)
        self.cfg = control_flow(f)
        self.nest = self.cfg.loops()
        self.makers = makers_of(f)
        self.size = zeros(f.blocks())
        self.stores = zeros(f.blocks())
        self.front = zeros(len(f.op))
        self.early = zeros(len(f.op))
        self.taken = zeros(f.blocks())
        self.seen = zeros(f.blocks())
        self.searches = 0
        self.has: dict[int, set[int]] = {}
        self.scratch = WordList()
        self.watched = zeros(f.words)
        self.latest = nones(f.words)
        self.before = vec[i64]()
        self.writer = vec[i64]()
        for i in loads:
            self._watch(i)
        exits = zeros(f.blocks())
        b: i64 = 0
        while b < f.blocks():
            self._note_block(b, exits)
            b += 1
        self.behind = self.cfg.postdominators(exits)

    def _note_block(self, b: i64, exits: vec[i64]) -> None:
        f = self.f
        last = f.tail[b]
        if last == NONE or OPS.flags[f.op[last]] & (EXIT | RETURN) or self.cfg.succ_start[b] == self.cfg.succ_start[b + 1]:
            exits[b] = 1
        i = f.head[b]
        while i != NONE:
            self.size[b] += 1
            flags = OPS.flags[f.op[i]]
            if _is_plain(f, i):
                self.has.setdefault(int(b), set()).add(int(f.op[i]))
                self.front[i] = self.stores[b]
            elif flags & _ORDERS or f.aux[i] & AUX_VOLATILE or (flags & LOAD and OPS.is_strong(f, i)):
                self.stores[b] = _ALL
            elif flags & STORE:
                self.stores[b] |= _spaces(flags)
            self._note_registers(i)
            i = f.next[i]

    def _note_registers(self, i: i64) -> None:
        f, words = self.f, self.scratch
        words.clear()
        words.add_writes(f, i)
        for at in range(words.count):
            word = words.words[at]
            if self.watched[word]:
                self.before = append(self.before, self.latest[word])
                self.latest[word] = len(self.writer)
                self.writer = append(self.writer, i)
        words.clear()
        words.add_reads(f, i)
        for at in range(words.count):
            made = self.makers.maker[words.words[at]]
            if made >= 0 and OPS.flags[f.op[made]] & LOAD and not self.makers.reaches(made, i):
                self.early[made] = 1

    def _watch(self, i: i64) -> None:
        """Mark what a load reads."""
        words = self.scratch
        words.clear()
        words.add_reads(self.f, i)
        for at in range(words.count):
            self.watched[words.words[at]] = 1

    def run(self) -> None:
        f = self.f
        for i in self.loads:
            if f.guard[i] or self.early[i] or not self._is_made_once(i):
                continue
            block = self._place(i)
            if block != NONE:
                self._move(i, block)

    def _is_made_once(self, i: i64) -> bool:
        words = self.scratch
        words.clear()
        words.add_writes(self.f, i)
        return all(self.makers.maker[words.words[at]] == i for at in range(words.count))

    def _place(self, i: i64) -> i64:
        """The earliest block that a load can join others of its kind in."""
        f = self.f
        b: i64 = f.block[i]
        if self.cfg.number[b] < 0 or self.front[i] & _spaces(OPS.flags[f.op[i]]):
            return NONE
        found: i64 = NONE
        length: i64 = 0
        x = b
        while length <= self.f.knobs.numbers[knobs.RAISE_LOOK]:
            above = self.cfg.idom()[x]
            if above == x or not self._meets(above, x) or self.nest.header[above] != self.nest.header[b]:
                break
            if x != b:
                if not self._passes(x, i):
                    break
                length += self.size[x]
            between = self._between(above, x, i)
            if between < 0 or not self._is_known(i, above, x):
                break
            length += between
            if length <= self.f.knobs.numbers[knobs.RAISE_LOOK] and int(f.op[i]) in self.has.get(int(above), ()):
                if self.taken[above] + self._words(i) <= self.f.knobs.numbers[knobs.RAISE_WORDS]:
                    found = above
            x = above
        return found

    def _meets(self, above: i64, x: i64) -> bool:
        """Whether whoever comes by the one comes by the other."""
        at = self.behind[above]
        steps: i64 = 0
        while at >= 0 and at < self.cfg.blocks and at != x and steps < self.f.knobs.numbers[knobs.RAISE_LOOK]:
            at = self.behind[at]
            steps += 1
        return at == x

    def _passes(self, b: i64, i: i64) -> bool:
        """Whether a load may be made in front of a block instead of behind it."""
        return not self.stores[b] & _spaces(OPS.flags[self.f.op[i]])

    def _between(self, above: i64, x: i64, i: i64) -> i64:
        """The instructions of the blocks between two, -1 where the load cannot pass them."""
        self.searches += 1
        self.seen[above] = self.searches
        self.seen[x] = self.searches
        work: list[int] = [int(x)]
        total: i64 = 0
        most = self.f.knobs.numbers[knobs.RAISE_LOOK]
        while work:
            b: i64 = work.pop()
            e = self.cfg.pred_start[b]
            while e < self.cfg.pred_start[b + 1]:
                one = self.cfg.pred[e]
                e += 1
                if self.seen[one] == self.searches or self.cfg.number[one] < 0:
                    continue
                self.seen[one] = self.searches
                total += self.size[one]
                if total > most or not self._passes(one, i) or self.nest.header[one] != self.nest.header[x]:
                    return -1
                work.append(int(one))
        return total

    def _is_known(self, i: i64, above: i64, x: i64) -> bool:
        """Whether nothing writes what a load reads between two blocks, of which the later one has it or lies on its way."""
        words = self.scratch
        words.clear()
        words.add_reads(self.f, i)
        return all(self._stays(words.words[at], i, above, x) for at in range(words.count))

    def _stays(self, word: i64, i: i64, above: i64, x: i64) -> bool:
        n = self.latest[word]
        while n >= 0:
            writer = self.writer[n]
            b = self.f.block[writer]
            if b == self.f.block[i]:
                if b == x and self.makers.place[writer] < self.makers.place[i]:
                    return False
            elif b != above and self.seen[b] == self.searches:
                return False
            n = self.before[n]
        return True

    def _words(self, i: i64) -> i64:
        """Number of words that a load writes."""
        self.scratch.clear()
        self.scratch.add_writes(self.f, i)
        return self.scratch.count

    def _move(self, i: i64, block: i64) -> None:
        f = self.f
        last = f.tail[block]
        self.cursor.remove(i)
        if last != NONE and OPS.flags[f.op[last]] & CONTROL:
            self.cursor.in_front(last)
        else:
            self.cursor.at_end(block)
        self.cursor.link(i)
        self.taken[block] += self._words(i)
        self.moved += 1


def _spaces(flags: i64) -> i64:
    """The spaces that an access may be of, as bits."""
    return flags & _SPACES if flags & _SPACES else _ALL
