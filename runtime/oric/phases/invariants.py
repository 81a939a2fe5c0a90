"""What a loop does not change is computed in front of it: divisions and roots (phase 20) while they are one operation, and (phase
47) what phase 45 has made of others, such as the part of a division that the divisor alone says.
"""

from __future__ import annotations

from typing import Final, final

from librt.vecs import append, vec
from mypy_extensions import i64
from oric_tables.macros import EXPANSIONS
from oric_tables.op import MOV

from oric.ir import operand as opd
from oric.ir.cfg import Cfg, Loops
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function, control_flow
from oric.ir.optable import CONTROL, MEMORY, OPS, PINNED, WARP, written_registers
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
    return _hoist(f, ctx, Worklist(f, _PHASE, _EFFECTS).items)


def hoist_expanded(f: Function, ctx: PassContext) -> bool:
    """The same of all operations without effects but copies and special registers, which are cheaper than the registers that they
    would wait in.
    """
    found = vec[i64]()
    loops = control_flow(f).loops()
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b] if loops.depth[b] else NONE
        while i != NONE:
            number = f.op[i]
            plain = OPS.writes[number] and not OPS.flags[number] & _EFFECTS and not OPS.repeats[number]
            if plain and number != MOV and OPS.sreg[number] < 0:
                found = append(found, i)
            i = f.next[i]
        b += 1
    return _hoist(f, ctx, found)


def _hoist(f: Function, ctx: PassContext, candidates: vec[i64]) -> bool:
    if not len(candidates):
        return False
    graph = control_flow(f)
    loops = graph.loops()
    if not loops.count or loops.irreducible:
        return False
    pass_ = _Hoisting(f, graph, loops)
    pass_.note(candidates)
    at: i64 = 0
    while at < len(candidates):
        if not f.guard[candidates[at]]:
            pass_.hoist(candidates[at])
        at += 1
    ctx.count("operations moved out of loops", pass_.moved)
    return pass_.moved != 0


@final
class _Hoisting:
    """``maker[w]``: the candidate that makes register word w; ``early[i]``: a reader of candidate i's result can come before it;
    ``written``: the block of each definition of a word that a candidate reads or writes; lists by word (``latest``, ``before``).
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
        self.before = vec[i64]()
        self.latest = nones(f.words)
        self.moved: int = 0

    def note(self, candidates: vec[i64]) -> None:
        """Walk over the code: note definitions, compare readers with the candidates."""
        n: i64 = 0
        while n < len(candidates):
            self._watch(candidates[n])
            n += 1
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
                self.before = append(self.before, self.latest[word])
                self.latest[word] = len(self.written)
                self.written = append(self.written, b)
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
        return self.latest[word] >= 0 and self.before[self.latest[word]] < 0

    def _is_written_in(self, word: i64, header: i64) -> bool:
        n = self.latest[word]
        while n >= 0:
            if self.loops.contains(header, self.written[n]):
                return True
            n = self.before[n]
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
        for operand in written_registers(f, i):
            word = f.words_of(operand)
            end = word + opd.count_of(operand)
            while word < end:
                self.written[self.latest[word]] = block
                word += 1
        self.moved += 1
