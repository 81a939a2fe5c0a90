"""Phase 22: loops whose rounds are known to end become their rounds, one behind the other.

A loop of any blocks is run on what is constant in it, round by round, until no way back to its header is open any more. Then each
round is a copy of the blocks that it can come to, without the branches that are known, and what it reads that is known is a
constant there. A round of a loop in which something else decides has its ways; threads that leave it go on as ever.

Registers that each round writes before it reads them, or reads before it writes them, whatever way it takes, have names of their
own in each round, so that rounds can overlap; those that somebody reads behind the loop get them back on the way out.
Source: Ori IR, "Partial SSA" (its place); observed: ptxas 13.0.88 unrolls such loops of any shape at -O3.
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64
from oric_tables import knobs
from oric_tables import op as op_numbers
from oric_tables.macros import EXPANSIONS

from oric.ir import operand as opd
from oric.ir.cfg import Cfg, Loops
from oric.ir.function import AUX_CONTRACT, AUX_MBARRIER, BLOCK_NOUNROLL, NONE, Function, P, R
from oric.ir.optable import BARRIER, CONTROL, CONVERGENCE, OPS, WARP

from .flow import COND, COND_STOP, GONE, JUMP, STOP, Flow
from .naming import Names
from .rounds import Rounds, most_steps

_LONG: Final = EXPANSIONS["expand_control_flow"]
# A copy of these is another place where threads meet, or has a place of its own in the tables of a function.
_NEVER: Final = CONTROL | BARRIER | WARP | CONVERGENCE | op_numbers.E_CALL | op_numbers.E_SIDE_EFFECT


def unroll_wholly(flow: Flow, isa: str) -> int:
    """Put the rounds of all loops that can be unrolled so one behind the other, inner ones first; returns how many."""
    done = 0
    room = _Room(flow.f)
    while room.is_left():
        graph = flow.graph()
        loops = graph.loops()
        if not loops.count or loops.irreducible or not _unroll_next(flow, graph, loops, room, isa):
            break
        flow.drop_unreachable()
        done += 1
    return done


@final
class _Room:
    """What one function may still have: instructions in unrolled loops, and looked at. ``tried``: headers of loops."""

    def __init__(self, f: Function) -> None:
        self.growth: int = f.knobs.numbers[knobs.UNROLL_GROWTH]
        self.steps: int = most_steps(f)
        self.tried: set[int] = set()

    def is_left(self) -> bool:
        """Whether there is any."""
        return self.growth > 0 and self.steps > 0


def _innermost(graph: Cfg, loops: Loops, tried: set[int]) -> int:
    """The header of a deepest loop that has not been tried, -1 when there is none."""
    found: i64 = -1
    at: i64 = 0
    while at < graph.reachable:
        b = graph.order[at]
        if loops.header[b] == b and b not in tried and (found < 0 or loops.depth[b] > loops.depth[found]):
            found = b
        at += 1
    return found


def _unroll_next(flow: Flow, graph: Cfg, loops: Loops, room: _Room, isa: str) -> bool:
    """Try loops until one is unrolled; false when none is left."""
    bodies = _bodies(graph, loops)
    preds: list[list[int]] = [[] for _ in range(flow.blocks())]
    for b in range(flow.blocks()):
        if flow.kind[b] != GONE:
            for target in flow.successors(b):
                preds[target].append(b)
    while room.is_left():
        header = _innermost(graph, loops, room.tried)
        if header < 0:
            return False
        room.tried.add(header)
        body = bodies[header]
        if not _is_fit(flow, header, body):
            continue
        entries = [p for p in preds[header] if p not in body]
        if not entries:  # the function begins there
            continue
        rounds = Rounds(flow, isa)
        if len(entries) == 1:
            rounds.come_to(entries[0], preds)
        unrolled = _Loop(flow, graph, loops, header, body, rounds)
        worth = unrolled.is_worth_it()
        room.steps -= unrolled.looked_at
        if worth:
            room.growth -= unrolled.staying
            unrolled.unroll(entries)
            return True
    return False


def _bodies(graph: Cfg, loops: Loops) -> dict[int, list[int]]:
    """The blocks of each loop by its header, in reverse post-order."""
    out: dict[int, list[int]] = {}
    at: i64 = 0
    while at < graph.reachable:
        b = graph.order[at]
        header = loops.header[b]
        while header >= 0:
            if header in out:
                out[header].append(b)
            else:
                out[header] = [b]
            header = loops.outer[header]
        at += 1
    return out


def _is_fit(flow: Flow, header: i64, body: list[int]) -> bool:
    """Whether copies of the blocks do the same as the blocks."""
    f = flow.f
    if f.flags[header] & BLOCK_NOUNROLL:
        return False
    length: i64 = 0
    for b in body:
        kind = flow.kind[b]
        if (kind != JUMP and kind != COND and kind != COND_STOP) or b in flow.follower:
            return False
        i = f.head[b]
        while i != NONE:
            length += _weight(f, i)
            if OPS.flags[f.op[i]] & _NEVER or f.aux[i] & ~(AUX_CONTRACT | AUX_MBARRIER):
                return False
            i = f.next[i]
        if length > f.knobs.numbers[knobs.UNROLL_STAYING]:
            return False
    return True


def _weight(f: Function, i: i64) -> i64:
    """How many instructions one counts as: operations that are expanded later are many."""
    return f.knobs.numbers[knobs.UNROLL_MACRO] if OPS.expansion[f.op[i]] == _LONG else 1


@final
class _Loop:
    """One loop. ``place``: of its blocks in ``body``; ``start``: what is known where it is entered."""

    def __init__(self, flow: Flow, graph: Cfg, loops: Loops, header: int, body: list[int], rounds: Rounds) -> None:
        self.flow = flow
        self.f: Function = flow.f
        self.graph = graph
        self.loops = loops
        self.header = header
        self.body = body
        self.place: dict[int, int] = {b: at for at, b in enumerate(body)}
        self.rounds = rounds
        self.start = self._used(rounds.known)
        self.killed: dict[int, set[int]] = {}
        self.count: int = 0
        self.looked_at: int = 0
        self.staying: int = 0
        self.names: Names | None = None
        self.copies: dict[int, int] = {}  # of this round
        self.next_header: int = -1
        self.constants: dict[int, int] = {}  # of this block: registers by their values

    def _used(self, known: dict[int, int]) -> dict[int, int]:
        """What is known of the words that the loop has to do with."""
        f = self.f
        out: dict[int, int] = {}
        for b in self.body:
            i = f.head[b]
            while i != NONE:
                at: i64 = -1
                while at < f.count[i]:
                    operand = f.guard[i] if at < 0 else f.get(i, at)
                    if operand and opd.is_register(operand):
                        word = f.words_of(operand)
                        end = word + opd.count_of(operand)
                        while word < end:
                            if word in known:
                                out[word] = known[word]
                            word += 1
                    at += 1
                i = f.next[i]
            node = self.flow.node[b]
            if node != NONE:
                at = -1
                while at < f.count[node]:
                    operand = f.guard[node] if at < 0 else f.get(node, at)
                    if operand and opd.is_register(operand) and f.words_of(operand) in known:
                        out[f.words_of(operand)] = known[f.words_of(operand)]
                    at += 1
        return out

    # -- running -----------------------------------------------------------------------------------------

    def is_worth_it(self) -> bool:
        """Whether the rounds end, and few enough instructions stay."""
        state: dict[int, int] | None = self.start
        last: dict[int, int] | None = None
        numbers = self.f.knobs.numbers
        around = any(self.loops.header[b] != self.header for b in self.body)
        while state is not None:
            if state == last:  # nothing counts
                return False
            last = state
            states: dict[int, dict[int, int]] = {self.header: state}
            state = None
            for b in self.body:
                if b not in states:
                    continue
                self._enter(b, states[b])
                self._look_at(b)
                if self.looked_at > numbers[knobs.UNROLL_EVALUATED] or self.staying > numbers[knobs.UNROLL_STAYING]:
                    return False
                if self._leave(b, states):
                    state = self._met(state)
            self.count += 1
            self.looked_at += 1
            if self.count > numbers[knobs.UNROLL_ROUNDS + 1] or (around and self.count > numbers[knobs.UNROLL_AROUND]):
                return False
        if self.count < numbers[knobs.UNROLL_ROUNDS]:
            return False
        share = self.f.knobs.reals[knobs.UNROLL_SHARE]
        return self.looked_at <= numbers[knobs.UNROLL_KNOWN] or self.staying <= share * self.looked_at

    def _look_at(self, b: i64) -> None:
        """Run a block, and count what would stay of its copy."""
        f = self.f
        i = f.head[b]
        while i != NONE:
            weight = _weight(f, i)
            self.looked_at += weight
            if self.rounds.step(i) == 0:
                self.staying += weight
            i = f.next[i]
        if self.flow.kind[b] != JUMP:
            self.looked_at += 1
            self.staying += 1 if self._ways(b) > 1 else 0

    def _ways(self, b: i64) -> i64:
        """How many ways out of a block are open."""
        out: i64 = 0
        for open_ in self._open(b):
            out += open_
        return out

    def _open(self, b: i64) -> tuple[int, int]:
        """Whether the way to a block's target, or where its thread ends, and the other one are open."""
        kind = self.flow.kind[b]
        if kind == JUMP:
            return 1, 0
        taken = self.rounds.condition(self.flow.node[b])
        return (0 if taken == 0 else 1), (0 if taken == 1 else 1)

    def _enter(self, b: int, known: dict[int, int]) -> None:
        """Know what is known in front of a block; of what an inner loop writes that is nothing."""
        if b != self.header and self.loops.header[b] == b:
            if b not in self.killed:
                self.killed[b] = self._written_in(b)
            known = {word: value for word, value in known.items() if word not in self.killed[b]}
        self.rounds.known = dict(known)

    def _written_in(self, header: int) -> set[int]:
        f = self.f
        out: set[int] = set()
        for b in self.body:
            if not self.loops.contains(header, b):
                continue
            i = f.head[b]
            while i != NONE:
                at: i64 = 0
                while at < f.count[i]:
                    operand = f.get(i, at)
                    if OPS.writes_at(f.op[i], at) and opd.is_register(operand):
                        word = f.words_of(operand)
                        end = word + opd.count_of(operand)
                        while word < end:
                            out.add(word)
                            word += 1
                    at += 1
                i = f.next[i]
        return out

    def _leave(self, b: i64, states: dict[int, dict[int, int]]) -> bool:
        """Tell the blocks behind one what is known there; returns whether another round is among them."""
        again = False
        target, other = self._open(b)
        places: tuple[int, int] = (self.flow.target[b] if target else -1, self.flow.other[b] if other else -1)
        for at in places:
            if at == self.header:
                again = True
            elif at in self.place and self.place[at] > self.place[b]:
                states[at] = self._both(states[at], self.rounds.known) if at in states else dict(self.rounds.known)
        return again

    def _met(self, state: dict[int, int] | None) -> dict[int, int]:
        return dict(self.rounds.known) if state is None else self._both(state, self.rounds.known)

    @staticmethod
    def _both(one: dict[int, int], other: dict[int, int]) -> dict[int, int]:
        return {word: value for word, value in one.items() if other.get(word, -1) == value}

    # -- copying -----------------------------------------------------------------------------------------

    def unroll(self, entries: list[int]) -> None:
        """Put the copies in the place of the loop."""
        flow = self.flow
        names = self.names = Names(flow, self.graph, self.header, self.body, self.place)
        first = self._new_copy(self.header)
        for b in entries:
            flow.redirect(b, self.header, first)
        self.next_header = first
        state: dict[int, int] | None = self.start
        turn = 0
        while state is not None:
            turn += 1
            names.begin(turn == self.count)
            states: dict[int, dict[int, int]] = {self.header: state}
            state = None
            self.copies = {self.header: self.next_header}
            self.next_header = -1
            for b in self.body:
                if b in states:
                    self._enter(b, states[b])
                    self._copy_block(b)
                    if self._leave(b, states):
                        state = self._met(state)

    def _new_copy(self, b: i64) -> int:
        made = self.flow.new_block(-1)
        self.f.flags[made] = self.f.flags[b]
        return made

    def _copy_block(self, b: i64) -> None:
        f = self.f
        flow = self.flow
        assert self.names is not None
        made = self._copy_of(b)
        self.names.enter(b)
        self.constants = {}
        i = f.head[b]
        while i != NONE:
            flow.cursor.at_end(made)
            self._copy(i)
            i = f.next[i]
        flow.cursor.at_end(made)
        flow.cursor.line = f.line[flow.node[b]] if flow.node[b] != NONE else 0
        target, other = self._open(b)
        if flow.kind[b] == JUMP or (flow.kind[b] == COND and not (target and other)):
            flow.set_end(made, JUMP, NONE, self._way(b, flow.target[b] if target else flow.other[b]), -1)
        elif not target:
            flow.set_end(made, JUMP, NONE, self._way(b, flow.other[b]), -1)
        else:
            self._copy_end(b, made, other)

    def _copy_end(self, b: i64, made: i64, other: i64) -> None:
        """Let the copy of a block end as the block does."""
        f = self.f
        flow = self.flow
        node = flow.node[b]
        copy = flow.cursor.clone(node)
        if other:
            f.set_guard(copy, self._read(f.guard[node]))
        at: i64 = 0
        while at < f.count[node]:
            f.set(copy, at, self._read(f.get(node, at)))
            at += 1
        flow.cursor.remove(copy)
        if flow.kind[b] == COND:
            flow.set_end(made, COND, copy, self._way(b, flow.target[b]), self._way(b, flow.other[b]))
        elif other:
            flow.set_end(made, COND_STOP, copy, -1, self._way(b, flow.other[b]))
        else:
            flow.set_end(made, STOP, copy, -1, -1)

    def _copy_of(self, b: i64) -> int:
        if b not in self.copies:
            self.copies[b] = self._new_copy(b)
        return self.copies[b]

    def _way(self, b: i64, target: i64) -> int:
        """Where the way from a block to another leads in this round."""
        flow = self.flow
        assert self.names is not None
        if target == self.header:
            if self.next_header < 0:
                self.next_header = self._new_copy(self.header)
            return self.next_header
        if target in self.place:
            return self._copy_of(target)
        moves = self.names.moves(target)
        if not moves:
            return target
        made = flow.new_block(target)
        flow.cursor.at_end(made)
        for register, name in moves:
            word: i64 = 0
            while word < self.f.reg_size[register]:
                flow.cursor.make2(op_numbers.MOV, opd.reg(register, word), opd.reg(name, word))
                word += 1
        return made

    def _copy(self, i: i64) -> None:
        f = self.f
        assert self.names is not None
        flow = self.flow
        flow.cursor.line = f.line[i]
        reads: list[int] = []
        mask = OPS.writes[f.op[i]]
        at: i64 = 0
        guard: i64 = f.guard[i]
        met: i64 = self.rounds.predicate(guard) if guard else 1
        if met:
            while at < f.count[i]:
                reads.append(0 if mask >> at & 1 else self._read(f.get(i, at)))
                at += 1
            guard = 0 if met > 0 else self._read(guard)
        self.rounds.step(i)
        if not met:
            return
        made = flow.cursor.clone(i)
        f.set_guard(made, guard)
        at = 0
        while at < f.count[i]:
            f.set(made, at, self.names.written(f.get(i, at)) if mask >> at & 1 else reads[at])
            at += 1

    def _read(self, operand: i64) -> i64:
        """A source under its name of now, or what is known of it."""
        f = self.f
        assert self.names is not None
        if not operand or not opd.is_register(operand):
            return operand
        index: i64 = operand & opd.INDEX
        known = self.rounds.known
        word = f.words_of(operand)
        if f.reg_type[index] == P and word in known:
            return (opd.PT_OPERAND if known[word] else opd.NOT_PT_OPERAND) ^ (operand & opd.NEGATE)
        count = opd.count_of(operand)
        if f.reg_type[index] == R and count <= 2 and word in known and word + count - 1 in known:
            return self._constant(operand, word, count)
        return self.names.read(operand)

    def _constant(self, operand: i64, word: i64, count: i64) -> i64:
        """A register with what is known of a source, which phase 46 makes an immediate where there can be one."""
        f = self.f
        known = self.rounds.known
        value: i64 = known[word]
        made: i64 = self.constants.get(value, -1) if count == 1 else -1
        if made < 0:
            made = f.new_reg(f.reg_type[operand & opd.INDEX], count)
            if count == 1:
                self.constants[value] = made
            at: i64 = 0
            while at < count:
                self.flow.cursor.make2(op_numbers.MOV, opd.reg(made, at), f.imm(known[word + at]))
                at += 1
        return opd.reg(made, 0, count) | operand & opd.SIGNS
