"""Names of registers in the rounds of a loop that stand one behind the other.

What each round writes before it reads it, or reads before it writes it, whatever way it takes, has a name of its own in each.
Source: Ori IR, "Partial SSA".
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from oric.ir import operand as opd
from oric.ir.cfg import Cfg
from oric.ir.dataflow import DataFlow
from oric.ir.function import NONE, Function, R
from oric.ir.optable import OPS, written_registers

from .flow import Flow


def is_written_whole(f: Function, i: i64, operand: i64) -> bool:
    """Whether an instruction writes all of a register that is a result of it, whatever the threads."""
    return not f.guard[i] and opd.count_of(operand) == f.reg_size[operand & opd.INDEX]


@final
class Names:
    """The registers of rounds. ``own``: those that have names of their own in each, by number the bit in masks; ``now``,
    ``before``: these names in this round and in the one before it; ``surely``, ``maybe``: masks of what a round has written;
    ``wanted``: of what somebody reads behind the loop, which gets its own name in the last round."""

    def __init__(self, flow: Flow, graph: Cfg, header: int, body: list[int], place: dict[int, int]) -> None:
        self.f: Function = flow.f
        self.flow = flow
        self.own: dict[int, int] = {}
        self.kept = 0
        self.now: dict[int, int] = {}
        self.before: dict[int, int] = {}
        self.last = False
        self.wanted = 0
        self.surely = 0
        self.maybe = 0
        self.surely_in: dict[int, int] = {}
        self.maybe_in: dict[int, int] = {}
        self.live: dict[int, int] = {}  # in front of the header and of the blocks behind the loop
        self._find(body)
        self._follow(header, body, place)
        self._find_live(graph, header, body, place)
        self._keep(header, body, place)
        self.own = {register: bit for register, bit in self.own.items() if not self.kept >> bit & 1}

    # -- which -------------------------------------------------------------------------------------------

    def _find(self, body: list[int]) -> None:
        """Number what the loop writes; what it writes in part, or under a guard, keeps its name."""
        f = self.f
        for b in body:
            i = f.head[b]
            while i != NONE:
                for operand in written_registers(f, i):
                    index: i64 = operand & opd.INDEX
                    if index not in self.own:
                        self.own[index] = len(self.own)
                    if not is_written_whole(f, i, operand):
                        self.kept |= 1 << self.own[index]
                i = f.next[i]

    def _written(self, i: i64) -> int:
        """What an instruction writes, as a mask."""
        out = 0
        for operand in written_registers(self.f, i):
            index: i64 = operand & opd.INDEX
            if index in self.own:
                out |= 1 << self.own[index]
        return out

    def _whole(self, i: i64) -> int:
        """What an instruction writes as a whole."""
        out = 0
        for operand in written_registers(self.f, i):
            index: i64 = operand & opd.INDEX
            if index in self.own and is_written_whole(self.f, i, operand):
                out |= 1 << self.own[index]
        return out

    def _read(self, i: i64) -> int:
        f = self.f
        out = 0
        mask = OPS.writes[f.op[i]]
        at: i64 = -1
        while at < f.count[i]:
            operand = f.guard[i] if at < 0 else f.get(i, at)
            if operand and opd.is_register(operand) and (at < 0 or not mask >> at & 1):
                index: i64 = operand & opd.INDEX
                if index in self.own:
                    out |= 1 << self.own[index]
            at += 1
        return out

    def _follow(self, header: int, body: list[int], place: dict[int, int]) -> None:
        """Find what a round surely, or maybe, has written where it comes to each block."""
        f = self.f
        written: dict[int, int] = {}
        for b in body:
            mask = 0
            i = f.head[b]
            while i != NONE:
                mask |= self._written(i)
                i = f.next[i]
            written[b] = mask
        self.surely_in = {header: 0}
        self.maybe_in = {header: 0}
        changed = True
        while changed:
            changed = False
            for b in body:
                if b not in self.surely_in:
                    continue
                surely, maybe = self.surely_in[b] | written[b], self.maybe_in[b] | written[b]
                for target in self.flow.successors(b):
                    if target == header or target not in place:
                        continue
                    if target in self.surely_in:
                        surely_now, maybe_now = self.surely_in[target] & surely, self.maybe_in[target] | maybe
                    else:
                        surely_now, maybe_now = surely, maybe
                    if self.surely_in.get(target, -1) != surely_now or self.maybe_in.get(target, -1) != maybe_now:
                        self.surely_in[target], self.maybe_in[target] = surely_now, maybe_now
                        changed = True

    def _find_live(self, graph: Cfg, header: int, body: list[int], place: dict[int, int]) -> None:
        """Find which of the registers are read later, at the header and behind the loop."""
        f = self.f
        flow = self.flow
        live = DataFlow(graph, len(self.own) + 1, backward=True)
        at: i64 = 0
        while at < graph.reachable:
            b = graph.order[at]
            at += 1
            read = 0
            stopped = 0
            i = f.head[b]
            while i != NONE:
                read |= self._read(i) & ~stopped
                stopped |= self._whole(i)
                i = f.next[i]
            if flow.node[b] != NONE:
                read |= self._read(flow.node[b]) & ~stopped
            self._tell(live, b, read, stopped)
        live.solve()
        outside = [target for b in body for target in flow.successors(b) if target not in place]
        for b in [header, *outside]:
            mask = 0
            for bit in self.own.values():
                if live.behind(b, bit):
                    mask |= 1 << bit
            self.live[b] = mask
            if b != header:
                self.wanted |= mask

    def _tell(self, live: DataFlow, b: i64, read: int, stopped: int) -> None:
        for bit in self.own.values():  # masks have any number of bits: no shift of theirs has an i64 in it
            if read >> bit & 1:
                live.make(b, bit)
            elif stopped >> bit & 1:
                live.stop(b, bit)

    def _keep(self, header: int, body: list[int], place: dict[int, int]) -> None:
        """Find the registers of which nobody knows, at a reader or a way out, in which round they were written."""
        f = self.f
        for b in body:
            surely, maybe = self.surely_in[b], self.maybe_in[b]
            i = f.head[b]
            while i != NONE:
                self.kept |= self._read(i) & maybe & ~surely
                written = self._written(i)
                surely |= written
                maybe |= written
                i = f.next[i]
            if self.flow.node[b] != NONE:
                self.kept |= self._read(self.flow.node[b]) & maybe & ~surely
            for target in self.flow.successors(b):
                if target == header:
                    self.kept |= self.live[header] & ~surely
                elif target not in place:
                    self.kept |= self.live[target] & maybe & ~surely
                    self.kept |= self.live[target] & self._not_general()

    def _not_general(self) -> int:
        mask = 0
        for register, bit in self.own.items():
            if self.f.reg_type[register] != R:
                mask |= 1 << bit
        return mask

    # -- names -------------------------------------------------------------------------------------------

    def begin(self, last: bool) -> None:
        """A new round."""
        self.before = dict(self.now)
        self.now = {}
        self.last = last

    def enter(self, b: int) -> None:
        """A block of this round."""
        self.surely = self.surely_in[b]

    def read(self, operand: i64) -> i64:
        """A source under its name of now."""
        index: i64 = operand & opd.INDEX
        return opd.with_index(operand, self._name(index))

    def _name(self, index: i64) -> int:
        if index not in self.own:
            return index
        if self.surely >> self.own[index] & 1:
            return self._new(index)
        return self.before.get(index, index)

    def _new(self, index: i64) -> int:
        if self.last and self.wanted >> self.own[index] & 1:
            return index
        if index not in self.now:
            self.now[index] = self.f.new_reg(self.f.reg_type[index], self.f.reg_size[index])
        return self.now[index]

    def written(self, operand: i64) -> i64:
        """A result under its name in this round."""
        if not opd.is_register(operand):
            return operand
        index: i64 = operand & opd.INDEX
        if index not in self.own:
            return operand
        self.surely |= 1 << self.own[index]
        return opd.with_index(operand, self._new(index))

    def moves(self, target: i64) -> list[tuple[int, int]]:
        """The registers that a block behind the loop reads, with the names that they have now."""
        out: list[tuple[int, int]] = []
        for register, bit in self.own.items():
            if self.live[target] >> bit & 1:
                name = self._name(register)
                if name != register:
                    out.append((register, name))
        return out
