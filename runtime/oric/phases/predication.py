"""Phase 63: short conditional blocks become predicated instructions.

A block of a few instructions with one way in and one way out is moved in front of the branch that skips it. What has an
effect, or defines a register that is known elsewhere, runs under the branch's condition; computations of registers that
only the block itself uses run always.
"""

from __future__ import annotations

from typing import Final, final

from librt.vecs import vec
from mypy_extensions import i64
from oric_tables import knobs
from oric_tables import op as op_numbers

from oric.ir import operand as opd
from oric.ir.bankwords import is_far
from oric.ir.function import AUX_MBARRIER, NONE, Function, control_flow
from oric.ir.optable import ATOMIC, BARRIER, CONTROL, CONVERGENCE, FENCE, LOAD, OPS, STORE, WARP
from oric.ir.passes import PassContext
from oric.ir.phis import all_phis
from oric.ir.words import WordList
from oric.support.arrays import nones

from .classes import waits
from .flow import COND, GONE, JUMP, Flow, can_invert
from .unssa import leave

_NEVER: Final = (
    CONTROL | BARRIER | CONVERGENCE | FENCE | WARP | op_numbers.E_CALL | op_numbers.E_SIDE_EFFECT | op_numbers.E_SPECIAL
)
_EFFECTS: Final = STORE | ATOMIC
_STEP: Final = 4  # cycles of a result of known time, more or less
_NOBODY: Final = -1
_SEVERAL: Final = -2


def most_guarded(f: Function) -> i64:
    """Instructions that the blocks that a branch chooses from may have where they are guarded instead."""
    return f.knobs.numbers[knobs.PREDICATION_SIZE]


def predicate_short_blocks(f: Function, ctx: PassContext) -> bool:
    """Replace branches round short blocks by predicates."""
    b: i64 = 0
    while b < f.blocks() and f.succ_count[b] < 2:
        b += 1
    if b == f.blocks():
        return False
    leave(f, ctx, _merged(f))
    work = _Predication(Flow(f), waits(ctx.target.isa))
    work.run()
    work.flow.rebuild()
    ctx.count("predicated branches", work.done)
    return True


def _merged(f: Function) -> dict[int, list[int]]:
    """The phis of the blocks in which short blocks meet: what has a value under a guard keeps its register behind it."""
    found = all_phis(f) if f.in_window else {}
    if not found:
        return found
    graph = control_flow(f)
    short: set[int] = set()
    b: i64 = 0
    while b < f.blocks():
        if f.succ_count[b] == 1 and graph.pred_start[b + 1] - graph.pred_start[b] == 1 and _is_short(f, b):
            short.add(f.successor(b, 0))
        b += 1
    return {b: phis for b, phis in found.items() if b in short}


def _is_short(f: Function, b: i64) -> bool:
    """Whether a block has no more instructions than run under a guard, and a jump."""
    left: i64 = most_guarded(f) + 1
    i = f.head[b]
    while i != NONE and left >= 0:
        left -= 1
        i = f.next[i]
    return left >= 0


@final
class _Predication:
    """``users[w]``: the block that alone mentions a word; ``preds[b]``: number of predecessors; ``waits``: of operations."""

    def __init__(self, flow: Flow, waits: vec[i64]) -> None:
        self.flow = flow
        self.waits = waits
        self.f: Function = flow.f
        flow.drop_unreachable()
        self.users: vec[i64] = nones(flow.f.words)
        self.preds: vec[i64] = flow.pred_counts()
        self.scratch = WordList()
        self.done = 0
        self._find_users()

    def run(self) -> None:
        """Look at every branch."""
        flow = self.flow
        b: i64 = 0
        while b < flow.blocks():
            if flow.kind[b] == COND and can_invert(self.f, flow.node[b]):
                self._predicate(b)
            b += 1

    def _find_users(self) -> None:
        f = self.f
        b: i64 = 0
        while b < self.flow.blocks():
            if self.flow.kind[b] != GONE:
                i = f.head[b]
                while i != NONE:
                    self._note_users(b, i)
                    i = f.next[i]
                if self.flow.node[b] != NONE:
                    self._note_users(b, self.flow.node[b])
            b += 1

    def _note_users(self, b: i64, i: i64) -> None:
        f = self.f
        words = self.scratch
        words.clear()
        at: i64 = 0
        while at < f.count[i]:
            words.add(f, f.get(i, at))
            at += 1
        if f.guard[i]:
            words.add(f, f.guard[i])
        at = 0
        while at < words.count:
            word = words.words[at]
            if self.users[word] == _NOBODY:
                self.users[word] = b
            elif self.users[word] != b:
                self.users[word] = _SEVERAL
            at += 1

    def _is_side(self, b: i64, target: i64) -> bool:
        """Whether ``target`` is a block that only the branch of block ``b`` goes to, and that goes on to one block."""
        return self.flow.kind[target] == JUMP and self.preds[target] == 1 and target != b and target != 0

    def _predicate(self, b: i64) -> None:
        """Predicate the blocks that the branch at the end of ``b`` chooses from, if they are fit."""
        flow, f = self.flow, self.f
        target, other = flow.target[b], flow.other[b]
        condition: i64 = f.guard[flow.node[b]]
        if not opd.is_register(condition):
            return
        sides: list[tuple[int, int]] = []  # blocks and the conditions under which they run
        meet: i64 = -1
        if self._is_side(b, target) and flow.target[target] == other:
            sides, meet = [(target, condition)], other
        elif self._is_side(b, other) and flow.target[other] == target:
            sides, meet = [(other, condition ^ opd.NEGATE)], target
        elif self._is_side(b, target) and self._is_side(b, other) and flow.target[target] == flow.target[other]:
            sides, meet = [(target, condition), (other, condition ^ opd.NEGATE)], flow.target[target]
        if meet < 0 or meet == b or sum(self._length(side) for side, _ in sides) > most_guarded(f):
            return
        if flow.phis and (meet in flow.phis or any(side in flow.phis for side, _ in sides)):
            return
        word = f.words_of(condition)
        for side, _ in sides:
            if not self._is_fit(side, word) or self._cycles(side) > f.knobs.numbers[knobs.PREDICATION_CYCLES]:
                return
        self.preds[meet] += 1 - len(sides) - (1 if meet == target or meet == other else 0)
        for side, guard in sides:
            self._guard(side, guard)
            flow.cursor.append_block(b, side)
            flow.kind[side] = GONE
        flow.set_end(b, JUMP, NONE, meet, -1)
        self.done += 1

    def _length(self, b: i64) -> i64:
        count: i64 = 0
        i = self.f.head[b]
        while i != NONE:
            count += 1
            i = self.f.next[i]
        return count

    def _cycles(self, b: i64) -> int:
        """The longest chain of a block: what everybody would wait for. A load stays under its guard, and is soon over then."""
        f = self.f
        ready: dict[int, int] = {}
        longest = 0
        i = f.head[b]
        while i != NONE:
            start = 0
            self.scratch.clear()
            self.scratch.add_reads(f, i)
            for at in range(self.scratch.count):
                start = max(start, ready.get(self.scratch.words[at], 0))
            number = f.op[i]
            known = number < len(self.waits) and not OPS.flags[number] & (_EFFECTS | LOAD)
            end = start + max(int(self.waits[number]) if known else 0, _STEP)
            self.scratch.clear()
            self.scratch.add_writes(f, i)
            for at in range(self.scratch.count):
                ready[self.scratch.words[at]] = end
            longest = max(longest, end)
            i = f.next[i]
        return longest

    def _is_fit(self, b: i64, condition: i64) -> bool:
        f = self.f
        i = f.head[b]
        while i != NONE:
            flags = OPS.flags[f.op[i]]
            if f.guard[i] or f.aux[i] & ~AUX_MBARRIER or flags & _NEVER or OPS.uniform[f.op[i]]:
                return False
            self.scratch.clear()
            self.scratch.add_writes(f, i)
            at: i64 = 0
            while at < self.scratch.count:
                if self.scratch.words[at] == condition:
                    return False
                at += 1
            i = f.next[i]
        return True

    def _guard(self, b: i64, guard: i64) -> None:
        """Put the instructions of a block under a condition, but for those that nobody outside this run of it knows.

        A load stays under it: where the condition does not hold its address may be nobody's, and a word far behind a constant
        bank is one. So does what reads its result, which has a value under the condition alone.
        """
        f = self.f
        carried = self._read_before_written(b)
        under: set[int] = set()
        i = f.head[b]
        while i != NONE:
            loads = OPS.flags[f.op[i]] & (_EFFECTS | LOAD) or is_far(f, i)
            if loads or self._reads(i, under) or not self._is_local(b, i, carried):
                f.set_guard(i, guard)
                self.scratch.clear()
                self.scratch.add_writes(f, i)
                under.update([self.scratch.words[at] for at in range(self.scratch.count)])
            i = f.next[i]

    def _reads(self, i: i64, under: set[int]) -> bool:
        """Whether an instruction reads one of these words."""
        self.scratch.clear()
        self.scratch.add_reads(self.f, i)
        at: i64 = 0
        while at < self.scratch.count:
            if self.scratch.words[at] in under:
                return True
            at += 1
        return False

    def _read_before_written(self, b: i64) -> set[int]:
        """Words whose value comes from before the block, be it from its own last run."""
        f = self.f
        written: set[int] = set()
        carried: set[int] = set()
        i = f.head[b]
        while i != NONE:
            self.scratch.clear()
            self.scratch.add_reads(f, i)
            at: i64 = 0
            while at < self.scratch.count:
                if self.scratch.words[at] not in written:
                    carried.add(self.scratch.words[at])
                at += 1
            self.scratch.clear()
            self.scratch.add_writes(f, i)
            at = 0
            while at < self.scratch.count:
                written.add(self.scratch.words[at])
                at += 1
            i = f.next[i]
        return carried

    def _is_local(self, b: i64, i: i64, carried: set[int]) -> bool:
        """Whether nobody outside this run of block ``b`` knows what an instruction defines."""
        self.scratch.clear()
        self.scratch.add_writes(self.f, i)
        at: i64 = 0
        while at < self.scratch.count:
            word = self.scratch.words[at]
            if self.users[word] != b or word in carried:
                return False
            at += 1
        return True
