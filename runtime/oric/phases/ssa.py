"""Phase 23: registers that are written at several places get a name for each value; a MovPhi where values meet.

The form is pruned: a value that nobody reads behind the place where it would meet another needs no MovPhi. And it is partial.
Values that are written in parts or under a guard, that may be read before they are written, and predicates keep one name where
ways meet, so that there is no MovPhi for them; of such a register only what never meets gets names of its own. Registers of more
than two words, uniform and fixed ones, those that calls read and write and those that a debugger sees stay as they are.
Source: Ori IR, "Phase 23: GenerateMovPhi"; Cytron et al., "Efficiently Computing Static Single Assignment Form" (1991).
"""

from __future__ import annotations

from typing import Final, final

from librt.vecs import append, vec
from mypy_extensions import i64
from oric_tables import knobs
from oric_tables.op import MOV, SEL, MovPhi
from oric_tables.registers import FLAG_FIXED

from oric.ir import operand as opd
from oric.ir.cfg import Cfg
from oric.ir.cursor import Cursor
from oric.ir.dataflow import DataFlow
from oric.ir.function import NONE, R2, Function, P, R, control_flow
from oric.ir.journal import Journal
from oric.ir.optable import CALL, OPS
from oric.ir.passes import PassContext
from oric.support.arrays import nones, zeros

from .flow import Flow
from .promotion import promote_locals

_WIDEST: Final = 2  # words of registers that get names
_OUT: Final = -1


def generate_movphi(f: Function, ctx: PassContext) -> bool:
    """Enter partial SSA form; returns whether any register got another name."""
    f.in_window = True
    f.window.clear()
    f.homes.clear()
    if f.for_debugger:
        return False
    if control_flow(f).reachable < f.blocks():  # where no value comes from no value can be named
        flow = Flow(f)
        flow.drop_unreachable()
        flow.rebuild()
    promoted = promote_locals(f)
    ctx.count("words of local memory in registers", promoted)
    selected = _select_copies(f)
    ctx.count("copies under a guard that are a choice", selected)
    chosen = _choose(f)
    if chosen is None:
        return selected + promoted != 0
    made = _Construction(f, chosen)
    made.run()
    ctx.count("names in partial SSA form", made.named)
    f.merged = f.merged or made.named != 0  # more is known of what has one definition
    ctx.count("MovPhi", made.joined)
    return selected + promoted != 0 or made.named != 0


def _select_copies(f: Function) -> int:
    """Let copies under a guard choose between the new value and the old one, so that each has a name; returns how many do."""
    cursor = Cursor(f)
    selected = 0
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            if f.op[i] == MOV and f.guard[i] and _is_choice(f, i):
                dest, source, guard = f.get(i, 0), f.get(i, 1), f.guard[i]
                f.set_guard(i, 0)
                cursor.rewrite(i, SEL, 0, 4)
                f.set(i, 1, dest)
                f.set(i, 2, source)
                f.set(i, 3, guard ^ opd.NEGATE)
                selected += 1
            i = f.next[i]
        b += 1
    return selected


def _is_choice(f: Function, i: i64) -> bool:
    """Whether a copy is one of a word between registers of the warp's threads, or of a number, under a predicate of theirs."""
    dest, source = f.get(i, 0), f.get(i, 1)
    if f.mods[i] or f.aux[i] or not opd.is_register(dest) or f.count[i] != 2:
        return False
    r = dest & opd.INDEX
    if f.reg_type[r] != R or f.reg_size[r] != 1 or f.reg_flags[r] & FLAG_FIXED or f.reg_type[f.guard[i] & opd.INDEX] != P:
        return False
    if opd.is_register(source):
        return not source & opd.SIGNS and f.reg_type[source & opd.INDEX] == R and opd.count_of(source) == 1
    return source == opd.RZ_OPERAND or source & opd.TYPE in (opd.IS_IMM, opd.IS_POOL)


def _choose(f: Function) -> vec[i64] | None:
    """By register the number that it has among those that get names, or -1; None when none does, or too many would."""
    graph = control_flow(f)
    written = zeros(f.registers())
    b: i64 = 0
    while b < f.blocks():
        reached = graph.number[b] >= 0
        i = f.head[b]
        while i != NONE:
            _note(f, i, written, not reached or OPS.flags[f.op[i]] & CALL != 0 or OPS.writes[f.op[i]] < 0)
            i = f.next[i]
        b += 1
    for operand in (f.descriptor, f.stack, f.top, f.shared, f.sp):
        if opd.is_register(operand):
            written[operand & opd.INDEX] = _OUT
    chosen = nones(f.registers())
    count: i64 = 0
    r: i64 = 0
    while r < f.registers():
        if written[r] > 1 and _may_have_names(f, r):
            chosen[r] = count
            count += 1
        r += 1
    return chosen if 0 < count <= f.knobs.numbers[knobs.SSA_ROOM] // f.blocks() else None


def _note(f: Function, i: i64, written: vec[i64], out: bool) -> None:
    """Count the writes of registers; ``out``: what an instruction names stays as it is."""
    mask = OPS.writes[f.op[i]]
    at: i64 = 0
    while at < f.count[i]:
        operand = f.operand[f.first[i] + at]
        if opd.is_register(operand):
            index = operand & opd.INDEX
            if out:
                written[index] = _OUT
            elif mask >> at & 1 and written[index] >= 0:
                written[index] += 1
        at += 1


def _may_have_names(f: Function, r: i64) -> bool:
    kind = f.reg_type[r]
    if (kind != R and kind != R2 and kind != P) or f.reg_size[r] > _WIDEST or f.reg_flags[r] & FLAG_FIXED:
        return False
    return f.physical[r] == NONE and f.hint[r] == NONE and f.parent[r] == NONE


@final
class _Construction:
    """Values have numbers: ``register[v]`` is the register that v is a value of, ``whole[v]`` whether one instruction writes it,
    and all of it. Values that meet have one ``root``. ``phi_*``: by number of a place where values meet, with its ways in a list.
    """

    def __init__(self, f: Function, chosen: vec[i64]) -> None:
        self.f = f
        self.chosen = chosen
        self.graph: Cfg = control_flow(f)
        self.registers = vec[i64]()
        r: i64 = 0
        while r < f.registers():
            if chosen[r] >= 0:
                self.registers = append(self.registers, r)
            r += 1
        self.naming: list[list[int]] = [[] for _ in range(f.blocks())]  # by block, the instructions that name such registers
        self.begins: set[int] = set()  # places of operands that write the first word of a pair of which the other follows ...
        self.completes: set[int] = set()  # ... and of those that write the other
        self.live = DataFlow(self.graph, len(self.registers), backward=True)
        self.blocks: list[list[int]] = [[] for _ in range(len(self.registers))]  # of the writes of each, in order
        self.register = vec[i64]()
        self.whole = vec[i64]()
        self.root = vec[i64]()
        self.now = nones(len(self.registers))
        self.journal = Journal()
        self.phis: dict[int, list[int]] = {}  # block -> numbers
        self.phi_register = vec[i64]()
        self.phi_value = vec[i64]()
        self.phi_block = vec[i64]()
        self.phi_ways: list[list[tuple[int, int]]] = []  # value, block
        self.use_insn = vec[i64]()
        self.use_at = vec[i64]()  # -1: the guard
        self.use_value = vec[i64]()
        self.named = 0
        self.joined = 0

    def run(self) -> None:
        """Give names."""
        self._find_halves()
        self._find_live()
        self._find_meetings()
        self._number()
        self._join()
        self._name()

    def _find_halves(self) -> None:
        """Pairs that are written word by word, with nothing that reads them between, are written whole."""
        f = self.f
        first = nones(len(self.registers))  # the instruction that has written one half
        half = zeros(len(self.registers))  # and which
        at: i64 = 0
        while at < self.graph.reachable:
            b = self.graph.order[at]
            i = f.head[b]
            while i != NONE:
                if self._names(i):
                    self.naming[b].append(int(i))
                    self._note_half(b, i, first, half)
                i = f.next[i]
            at += 1

    def _names(self, i: i64) -> bool:
        """Whether an instruction names a register that gets names."""
        f = self.f
        if opd.is_register(f.guard[i]) and self.chosen[f.guard[i] & opd.INDEX] >= 0:
            return True
        at: i64 = f.first[i]
        end = at + f.count[i]
        while at < end:
            if opd.is_register(f.operand[at]) and self.chosen[f.operand[at] & opd.INDEX] >= 0:
                return True
            at += 1
        return False

    def _note_half(self, b: i64, i: i64, first: vec[i64], half: vec[i64]) -> None:
        f = self.f
        mask = OPS.writes[f.op[i]]
        at: i64 = -1
        while at < f.count[i]:
            operand = f.guard[i] if at < 0 else f.operand[f.first[i] + at]
            if opd.is_register(operand) and (at < 0 or not mask >> at & 1 or f.guard[i]):
                k = self.chosen[operand & opd.INDEX]
                if k >= 0:
                    first[k] = NONE
            at += 1
        at = 0
        while mask >> at and at < f.count[i] and not f.guard[i]:
            operand = f.operand[f.first[i] + at]
            if mask >> at & 1 and opd.is_register(operand):
                k = self.chosen[operand & opd.INDEX]
                if (k >= 0 and opd.count_of(operand) == f.reg_size[operand & opd.INDEX]) or (k >= 0 and at > 0):
                    first[k] = NONE
                elif k >= 0:
                    if first[k] != NONE and f.block[first[k]] == b and half[k] != opd.first_of(operand):
                        self.begins.add(int(f.first[first[k]]))
                        self.completes.add(int(f.first[i]))
                        first[k] = NONE
                    else:
                        first[k] = i
                        half[k] = opd.first_of(operand)
            at += 1

    # -- where ---------------------------------------------------------------------------------------------

    def _find_live(self) -> None:
        """Which registers are read behind which places; what is written in part or under a guard is read as well."""
        seen = nones(len(self.registers))  # the block in which it was read or written before
        at: i64 = 0
        while at < self.graph.reachable:
            b = self.graph.order[at]
            for i in self.naming[b]:
                self._note_live(b, i, seen)
            at += 1
        self.live.solve()

    def _note_live(self, b: i64, i: i64, seen: vec[i64]) -> None:
        f = self.f
        mask = OPS.writes[f.op[i]]
        at: i64 = -1
        while at < f.count[i]:
            operand = f.guard[i] if at < 0 else f.operand[f.first[i] + at]
            if opd.is_register(operand) and self._reads(i, at):
                k = self.chosen[operand & opd.INDEX]
                if k >= 0 and seen[k] != b:
                    seen[k] = b
                    self.live.make(b, k)
            at += 1
        at = 0
        while mask >> at and at < f.count[i]:
            operand = f.operand[f.first[i] + at]
            if mask >> at & 1 and opd.is_register(operand):
                k = self.chosen[operand & opd.INDEX]
                if k >= 0:
                    if seen[k] != b:
                        seen[k] = b
                        self.live.stop(b, k)
                    if not self.blocks[k] or self.blocks[k][-1] != b:
                        self.blocks[k].append(int(b))
            at += 1

    def _is_whole(self, i: i64, at: i64) -> bool:
        """Whether an operand that is written begins a value."""
        f = self.f
        place = f.first[i] + at
        operand = f.operand[place]
        if opd.count_of(operand) != f.reg_size[operand & opd.INDEX]:
            return int(place) in self.begins
        return not f.guard[i]

    def _reads(self, i: i64, at: i64) -> bool:
        """Whether a register at a place (-1: the guard) has to have had a value before: it is read, or written in part."""
        f = self.f
        if at < 0 or not OPS.writes[f.op[i]] >> at & 1:
            return True
        return not self._is_whole(i, at) and int(f.first[i] + at) not in self.completes

    def _find_meetings(self) -> None:
        """The blocks in which values of a register meet that is read there or behind."""
        frontier = self._frontiers()
        if not frontier:
            return
        placed = nones(self.graph.blocks)
        k: i64 = 0
        while k < len(self.registers):
            waiting = list(self.blocks[k])
            while waiting:
                for b in frontier.get(waiting.pop(), ()):
                    if placed[b] != k and self.live.behind(b, k):
                        placed[b] = k
                        self.phis.setdefault(b, []).append(len(self.phi_value))
                        self.phi_register = append(self.phi_register, k)
                        self.phi_value = append(self.phi_value, NONE)
                        self.phi_block = append(self.phi_block, b)
                        self.phi_ways.append([])
                        waiting.append(b)
            k += 1

    def _frontiers(self) -> dict[int, list[int]]:
        """The dominance frontiers of blocks."""
        graph = self.graph
        idom = graph.idom()
        found: dict[int, list[int]] = {}
        at: i64 = 0
        while at < graph.reachable:
            b = graph.order[at]
            at += 1
            e = graph.pred_start[b]
            end = graph.pred_start[b + 1]
            if end - e < 2:
                continue
            while e < end:
                runner = graph.pred[e]
                e += 1
                while graph.number[runner] >= 0 and runner != idom[b]:
                    behind = found.setdefault(runner, [])
                    if not behind or behind[-1] != b:
                        behind.append(b)
                    if runner == idom[runner]:
                        break
                    runner = idom[runner]
        return found

    # -- values ----------------------------------------------------------------------------------------------

    def _value(self, k: i64, whole: bool) -> i64:
        value: i64 = len(self.register)
        self.register = append(self.register, k)
        self.whole = append(self.whole, 1 if whole and self.f.reg_type[self.registers[k]] != P else 0)
        self.root = append(self.root, value)
        return value

    def _current(self, k: i64) -> i64:
        """The value that a register has here; one that nobody has written is one of its own."""
        if self.now[k] < 0:
            self.now[k] = self._value(k, False)
        return self.now[k]

    def _begin_value(self, k: i64) -> None:
        """A register gets a new value, until the walk has left what this block dominates."""
        self.journal.note(k, self.now[k])
        self.now[k] = self._value(k, True)

    def _number(self) -> None:
        """Walk over the dominator tree and number the values that are written and read."""
        graph = self.graph
        idom = graph.idom()
        children: dict[int, list[int]] = {}
        at: i64 = graph.reachable - 1
        while at > 0:
            b = graph.order[at]
            children.setdefault(idom[b], []).append(int(b))
            at -= 1
        k: i64 = 0
        while k < len(self.registers):
            if self.live.behind(0, k):
                self.now[k] = self._value(k, False)
            k += 1
        stack: list[int] = [0]
        while stack:
            b = stack.pop()
            if b < 0:  # behind all that a block dominates
                self.journal.roll_back(self.now, ~b)
                continue
            stack.append(~self.journal.count)
            self._number_block(b)
            stack.extend(children.get(int(b), ()))

    def _number_block(self, b: i64) -> None:
        for number in self.phis.get(int(b), ()):
            k = self.phi_register[number]
            self._begin_value(k)
            self.phi_value[number] = self.now[k]
        for i in self.naming[b]:
            self._number_instruction(i)
        e = self.graph.succ_start[b]
        while e < self.graph.succ_start[b + 1]:
            for number in self.phis.get(int(self.graph.succ[e]), ()):
                self.phi_ways[number].append((int(self._current(self.phi_register[number])), int(b)))
            e += 1

    def _number_instruction(self, i: i64) -> None:
        f = self.f
        mask = OPS.writes[f.op[i]]
        at: i64 = -1
        while at < f.count[i]:
            operand = f.guard[i] if at < 0 else f.operand[f.first[i] + at]
            if opd.is_register(operand) and (at < 0 or not mask >> at & 1 or not self._is_whole(i, at)):
                k = self.chosen[operand & opd.INDEX]
                if k >= 0:
                    value = self._current(k)
                    if at >= 0 and mask >> at & 1 and int(f.first[i] + at) not in self.completes:
                        self.whole[value] = 0
                    self._use(i, at, value)
            at += 1
        at = 0
        while mask >> at and at < f.count[i]:
            operand = f.operand[f.first[i] + at]
            if mask >> at & 1 and opd.is_register(operand) and self._is_whole(i, at):
                k = self.chosen[operand & opd.INDEX]
                if k >= 0:
                    self._begin_value(k)
                    self._use(i, at, self.now[k])
            at += 1

    def _use(self, i: i64, at: i64, value: i64) -> None:
        self.use_insn = append(self.use_insn, i)
        self.use_at = append(self.use_at, at)
        self.use_value = append(self.use_value, value)

    # -- names -----------------------------------------------------------------------------------------------

    def _find(self, value: i64) -> i64:
        while self.root[value] != value:
            self.root[value] = self.root[self.root[value]]
            value = self.root[value]
        return value

    def _join(self) -> None:
        """One root for values that meet where one of them cannot have a name of its own; the others get a MovPhi."""
        count = len(self.phi_value)
        number: i64 = 0
        while number < count:
            self._unite(number)
            number += 1
        apart = zeros(len(self.root))
        value: i64 = 0
        while value < len(self.root):
            if not self.whole[value]:
                apart[self._find(value)] = 1
            value += 1
        roots = vec[i64]([self._find(value) for value in range(len(self.root))])
        value = 0
        while value < len(self.root):
            self.root[value] = value
            value += 1
        number = 0
        while number < count:
            if apart[roots[self.phi_value[number]]]:
                self._unite(number)
                self.phi_block[number] = NONE
            number += 1

    def _unite(self, number: i64) -> None:
        for value, _ in self.phi_ways[number]:
            self.root[self._find(value)] = self._find(self.phi_value[number])

    def _name(self) -> None:
        """Registers for roots: the first one of a register keeps it."""
        f = self.f
        name = nones(len(self.root))
        taken = zeros(len(self.registers))
        several = zeros(len(self.root))
        value: i64 = 0
        while value < len(self.root):
            root = self._find(value)
            several[root] += 1
            k = self.register[value]
            if name[root] < 0:
                register = self.registers[k]
                name[root] = f.new_reg(f.reg_type[register], f.reg_size[register]) if taken[k] else register
                self.named += 1 if taken[k] else 0
                taken[k] = 1
            value += 1
        value = 0
        while value < len(self.root):
            root = self._find(value)
            if several[root] == 1 and self.whole[value]:
                f.window.add(int(name[root]))
            value += 1
        use: i64 = 0
        while use < len(self.use_value):
            self._rename(use, name[self._find(self.use_value[use])])
            use += 1
        self._insert(name)

    def _rename(self, use: i64, register: i64) -> None:
        f = self.f
        i, at = self.use_insn[use], self.use_at[use]
        operand = f.guard[i] if at < 0 else f.get(i, at)
        if operand & opd.INDEX == register:
            return
        if at < 0:
            f.set_guard(i, opd.with_index(operand, register))
        else:
            f.set(i, at, opd.with_index(operand, register))

    def _insert(self, name: vec[i64]) -> None:
        """Put a MovPhi where values meet that have names of their own."""
        f = self.f
        cursor = Cursor(f)
        for b, numbers in sorted(self.phis.items()):
            for number in numbers:
                if self.phi_block[number] == NONE:
                    continue
                cursor.at_start(b)
                cursor.line = f.line[f.head[b]] if f.head[b] != NONE else 0
                size = f.reg_size[self.registers[self.phi_register[number]]]
                cursor.make1(MovPhi, opd.reg(name[self.phi_value[number]], 0, size))
                home = self.registers[self.phi_register[number]]
                f.homes[int(name[self.phi_value[number]])] = home
                for value, source in self.phi_ways[number]:
                    f.homes[int(name[value])] = home
                    cursor.put(opd.reg(name[value], 0, size))
                    cursor.put(opd.label(source))
                self.joined += 1
