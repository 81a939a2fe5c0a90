"""Phase 20: divisions and roots whose operands a loop does not change are made in front of it, while they are one operation."""

from __future__ import annotations

from typing import Final, final

from librt.vecs import append, vec
from mypy_extensions import i64
from oric_tables.macros import EXPANSIONS

from oric.ir import operand as opd
from oric.ir.cfg import Cfg, Loops
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function, control_flow
from oric.ir.optable import CONTROL, MEMORY, OPS, PINNED, WARP
from oric.ir.passes import PassContext
from oric.ir.worklist import Worklist
from oric.support.arrays import nones, zeros

_PHASE: Final = EXPANSIONS["expand_control_flow"]
_EFFECTS: Final = MEMORY | PINNED | WARP | CONTROL


def hoist_invariants(f: Function, ctx: PassContext) -> bool:
    """Move what phase 45 makes long code of out of the loops in which nothing that it reads changes.

    Such an operation has no effect but its result, so that it may be made once more than needed, where a loop is not entered. It
    moves when each round of the loop makes it, nothing else writes its result, and no reader can come before it. Source:
    PTX-to-Ori lowering, Lowering Rules (what stays one operation until 45 or 78 can leave a loop).
    """
    waiting = Worklist(f, _PHASE, _EFFECTS)
    if not len(waiting):
        return False
    graph = control_flow(f)
    loops = graph.loops()
    if not loops.count or loops.irreducible:
        return False
    pass_ = _Hoisting(f, graph, loops)
    pass_.note(waiting)
    waiting.rewind()
    i = waiting.next()
    while i != NONE:
        if not f.guard[i]:
            pass_.hoist(i)
        i = waiting.next()
    ctx.count("operations moved out of loops", pass_.moved)
    return pass_.moved != 0


@final
class _Hoisting:
    """``maker[w]``: the candidate that makes register word w; ``early[i]``: a reader of candidate i's result can come before it;
    ``written``: (word, block) of each definition of a word that a candidate reads or writes.
    """

    def __init__(self, f: Function, graph: Cfg, loops: Loops) -> None:
        self.f = f
        self.graph = graph
        self.loops = loops
        self.cursor = Cursor(f)
        self.watched = zeros(f.words)
        self.maker = nones(f.words)
        self.early = zeros(len(f.op))
        self.written = vec[i64]()
        self.moved: int = 0

    def note(self, candidates: Worklist) -> None:
        """Walk over the code: note definitions, compare readers with the candidates."""
        i = candidates.next()
        while i != NONE:
            self._watch(i)
            i = candidates.next()
        f = self.f
        passed = zeros(len(f.op))
        b: i64 = 0
        while b < f.blocks():
            i = f.head[b]
            while i != NONE:
                at: i64 = 0
                while at < f.count[i]:
                    operand = f.get(i, at)
                    if opd.is_register(operand):
                        self._note(operand, OPS.writes_at(f.op[i], at), b, passed)
                    at += 1
                passed[i] = 1
                i = f.next[i]
            b += 1

    def _watch(self, i: i64) -> None:
        f = self.f
        at: i64 = 0
        while at < f.count[i]:
            operand = f.get(i, at)
            if opd.is_register(operand):
                word = f.words_of(operand)
                end = word + opd.count_of(operand)
                while word < end:
                    self.watched[word] = 1
                    if OPS.writes_at(f.op[i], at):
                        self.maker[word] = i
                    word += 1
            at += 1

    def _note(self, operand: i64, writes: bool, b: i64, passed: vec[i64]) -> None:
        """A register of an instruction in block ``b``; ``passed``: the instructions in front of it."""
        word = self.f.words_of(operand)
        end = word + opd.count_of(operand)
        while word < end:
            maker = self.maker[word]
            if writes and self.watched[word]:
                self.written = append(append(self.written, word), b)
            elif not writes and maker != NONE:
                home = self.f.block[maker]
                if not passed[maker] if home == b else not self.graph.dominates(home, b):
                    self.early[maker] = 1
            word += 1

    def hoist(self, i: i64) -> None:
        """Move an operation out of as many loops around it as can be."""
        while True:
            header = self.loops.header[self.f.block[i]]
            if header < 0 or not self._is_invariant(i, header) or not self._is_made_each_round(i, header):
                return
            place = self._place_in_front(header)
            if place < 0:
                return
            self._move(i, place)

    def _is_invariant(self, i: i64, header: i64) -> bool:
        """Whether nothing else writes the result, and nothing in the loop what is read."""
        f = self.f
        if self.early[i]:
            return False
        at: i64 = 0
        while at < f.count[i]:
            operand = f.get(i, at)
            if opd.is_register(operand):
                word = f.words_of(operand)
                end = word + opd.count_of(operand)
                writes = OPS.writes_at(f.op[i], at)
                while word < end:
                    if not self._is_written_once(word) if writes else self._is_written_in(word, header):
                        return False
                    word += 1
            at += 1
        return True

    def _is_written_once(self, word: i64) -> bool:
        times: i64 = 0
        n: i64 = 0
        while n < len(self.written):
            times += self.written[n] == word
            n += 2
        return times == 1

    def _is_written_in(self, word: i64, header: i64) -> bool:
        n: i64 = 0
        while n < len(self.written):
            if self.written[n] == word and self.loops.contains(header, self.written[n + 1]):
                return True
            n += 2
        return False

    def _is_made_each_round(self, i: i64, header: i64) -> bool:
        """Whether the operation stands on every way through the loop."""
        graph = self.graph
        block = self.f.block[i]
        e = graph.pred_start[header]
        while e < graph.pred_start[header + 1]:
            latch = graph.pred[e]
            if self.loops.contains(header, latch) and not graph.dominates(block, latch):
                return False
            e += 1
        return True

    def _place_in_front(self, header: i64) -> i64:
        """The only block from which the loop is entered, -1 when there are several."""
        graph = self.graph
        found: i64 = -1
        e = graph.pred_start[header]
        while e < graph.pred_start[header + 1]:
            block = graph.pred[e]
            if graph.number[block] >= 0 and not self.loops.contains(header, block):
                if found >= 0:
                    return -1
                found = block
            e += 1
        return found

    def _move(self, i: i64, block: i64) -> None:
        f = self.f
        cursor = self.cursor
        cursor.remove(i)
        last = f.tail[block]
        if last != NONE and OPS.flags[f.op[last]] & CONTROL:
            cursor.in_front(last)
        else:
            cursor.at_end(block)
        cursor.link(i)
        n: i64 = 0
        while n < len(self.written):
            if self.maker[self.written[n]] == i:
                self.written[n + 1] = block
            n += 2
        self.moved += 1
