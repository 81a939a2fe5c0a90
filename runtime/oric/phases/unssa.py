"""Phase 73: every MovPhi becomes copies at the ends of the blocks before; names that can be one again are one.

What a MovPhi merges and what it defines get one name where they never hold values at the same time, those of inner loops first:
there is nothing to copy then. The copies of all others of a block are as if done at once (swaps, values that are lost otherwise).
They stand at the end of the block before where it leads nowhere else, or where nobody misses what they write on the other ways;
else the edge gets a block of its own. Source: Ori IR, "Phase 73: ConvertAllMovPhiToMov"; Boissinot et al., "Revisiting Out-of-SSA
Translation for Correctness, Code Quality, and Efficiency" (2009).
"""

from __future__ import annotations

from typing import Final, final

from librt.vecs import append, vec
from mypy_extensions import i64
from oric_tables.op import BRA, MovPhi

from oric.ir import operand as opd
from oric.ir import phis as merges
from oric.ir.cfg import Cfg
from oric.ir.cursor import Cursor
from oric.ir.dataflow import DataFlow
from oric.ir.edges import make_edges, set_target, target_of
from oric.ir.function import NONE, Function, control_flow
from oric.ir.optable import BRANCH, EXIT, INDIRECT, OPS, written_registers
from oric.ir.passes import PassContext
from oric.support.arrays import nones, zeros

_CONTROL: Final = BRANCH | EXIT


def convert_movphi(f: Function, ctx: PassContext) -> bool:
    """Leave partial SSA form; returns whether there was any MovPhi."""
    if not f.in_window:
        return False
    left = leave(f, ctx, merges.all_phis(f))
    f.in_window = False
    f.window.clear()
    f.homes.clear()
    return left


def leave(f: Function, ctx: PassContext, leaving: dict[int, list[int]]) -> bool:
    """Make copies of some of the phis of a function, by their blocks; returns whether there were any."""
    if not leaving:
        return False
    work = _Leaving(f, leaving)
    work.run()
    ctx.count("MovPhi to MOV", work.gone)
    ctx.count("copies of MovPhi", work.copied)
    ctx.count("edges with copies", work.split)
    return True


@final
class _Leaving:
    """Registers that phis name are *members*: ``member[r]`` is the number of one. ``base[m]``: the first bit of its words in sets
    of what is live; ``part[m]``: members that phis connect; ``root[m]``: members that have one name; ``near[m]``: for a root, the
    members that hold values while one of it does.
    """

    def __init__(self, f: Function, leaving: dict[int, list[int]]) -> None:
        self.f = f
        self.leaving = leaving
        self.graph: Cfg = control_flow(f)
        self.phis = merges.all_phis(f)
        self.member = nones(f.registers())
        self.register = vec[i64]()
        self.base = vec[i64]()
        self.bits: int = 0
        self.bit_member = vec[i64]()
        self.part = vec[i64]()
        self.root = vec[i64]()
        self.near: list[set[int]] = []
        self.members: list[list[int]] = []
        self.naming: list[list[int]] = [[] for _ in range(f.blocks())]  # by block, the instructions that name members
        self.written: set[int] = set()  # block and bit: what a block writes
        self.dead: set[int] = set()  # phis of which nobody reads what they define
        self.copied = 0
        self.gone = 0
        self.split = 0
        self._find_members()
        self.live = DataFlow(self.graph, self.bits, backward=True)

    def run(self) -> None:
        """Take the phis out."""
        self._find_live()
        self._find_near()
        self._unite()
        copies = self._copies()
        self._rename()
        self._remove()
        self._insert(copies)

    # -- members -------------------------------------------------------------------------------------------

    def _find_members(self) -> None:
        for b in self.leaving:
            for i in self.leaving[b]:
                dest = self._member(self.f.get(i, 0))
                at: i64 = 1
                while at < self.f.count[i]:
                    source = self.f.get(i, at)
                    if opd.is_register(source):
                        other = self._part(self._member(source))
                        self.part[other] = self._part(dest)
                    at += 2

    def _member(self, operand: i64) -> i64:
        index = operand & opd.INDEX
        known = self.member[index]
        if known < 0:
            known = len(self.register)
            self.member[index] = known
            self.register = append(self.register, index)
            self.base = append(self.base, self.bits)
            self.part = append(self.part, known)
            self.root = append(self.root, known)
            self.near.append(set())
            self.members.append([int(known)])
            word: i64 = 0
            while word < self.f.reg_size[index]:
                self.bit_member = append(self.bit_member, known)
                word += 1
            self.bits += self.f.reg_size[index]
        return known

    def _part(self, m: i64) -> i64:
        while self.part[m] != m:
            self.part[m] = self.part[self.part[m]]
            m = self.part[m]
        return m

    def _root(self, m: i64) -> i64:
        while self.root[m] != m:
            self.root[m] = self.root[self.root[m]]
            m = self.root[m]
        return m

    def _bit(self, operand: i64) -> i64:
        """The bit of the first word of an operand, -1 when its register is no member."""
        if not opd.is_register(operand):
            return -1
        m = self.member[operand & opd.INDEX]
        return self.base[m] + opd.first_of(operand) if m >= 0 else -1

    # -- what is live ----------------------------------------------------------------------------------------

    def _find_live(self) -> None:
        """Words that are read later; what a phi reads is read at the ends of the blocks before."""
        f = self.f
        seen = nones(self.bits)
        at: i64 = 0
        while at < self.graph.reachable:
            b = self.graph.order[at]
            i = f.head[b]
            while i != NONE:
                if self._names(i):
                    self.naming[b].append(int(i))
                    self._note(b, i, seen)
                i = f.next[i]
            at += 1
        for phis in self.phis.values():
            for i in phis:
                at = 1
                while at + 1 < f.count[i]:
                    self._read_at_end(f.get(i, at + 1) & opd.INDEX, f.get(i, at))
                    at += 2
        self.live.solve()

    def _note(self, b: i64, i: i64, seen: vec[i64]) -> None:
        f = self.f
        mask = OPS.writes[f.op[i]]
        at: i64 = -1
        while at < f.count[i] and f.op[i] != MovPhi:
            operand = f.guard[i] if at < 0 else f.operand[f.first[i] + at]
            bit = self._bit(operand)
            if bit >= 0 and (at < 0 or not mask >> at & 1):
                end = bit + opd.count_of(operand)
                while bit < end:
                    if seen[bit] != b:
                        seen[bit] = b
                        self.live.make(b, bit)
                    bit += 1
            at += 1
        at = 0
        while mask >> at and at < f.count[i] and not f.guard[i]:
            operand = f.operand[f.first[i] + at]
            bit = self._bit(operand)
            if bit >= 0 and mask >> at & 1:
                end = bit + opd.count_of(operand)
                while bit < end:
                    self.written.add(int(b * self.bits + bit))
                    if seen[bit] != b:
                        seen[bit] = b
                        self.live.stop(b, bit)
                    bit += 1
            at += 1

    def _read_at_end(self, b: i64, operand: i64) -> None:
        bit = self._bit(operand)
        if bit < 0 or self.graph.number[b] < 0:
            return
        end = bit + opd.count_of(operand)
        while bit < end:
            if not self._written_in(b, bit):
                self.live.make(b, bit)
            bit += 1

    def _written_in(self, b: i64, bit: i64) -> bool:
        return int(b * self.bits + bit) in self.written

    # -- what is near what -----------------------------------------------------------------------------------

    def _find_near(self) -> None:
        """Walk over blocks from their ends: what is written is near what is live there."""
        f = self.f
        ends: dict[int, list[int]] = {}  # what phis read at the end of a block
        for phis in self.phis.values():
            for i in phis:
                at: i64 = 1
                while at + 1 < f.count[i]:
                    if self._bit(f.get(i, at)) >= 0:
                        ends.setdefault(int(f.get(i, at + 1) & opd.INDEX), []).append(int(f.get(i, at)))
                    at += 2
        alive = _Alive(self)
        at = 0
        while at < self.graph.reachable:
            b = self.graph.order[at]
            alive.clear()
            for bit in self.live.all_in_front(b):
                alive.add(bit, 1)
            for operand in ends.get(int(b), ()):
                alive.add(self._bit(operand), opd.count_of(operand))
            for i in reversed(self.naming[b]):
                if f.op[i] != MovPhi:
                    self._pass(i, alive)
            self._pass_phis(b, alive)
            at += 1

    def _names(self, i: i64) -> bool:
        """Whether an instruction names a member; predicates are none."""
        f = self.f
        at: i64 = f.first[i]
        end = at + f.count[i]
        while at < end:
            if self._bit(f.operand[at]) >= 0:
                return True
            at += 1
        return False

    def _pass(self, i: i64, alive: _Alive) -> None:
        f = self.f
        mask = OPS.writes[f.op[i]]
        written = [operand for operand in written_registers(f, i) if self._bit(operand) >= 0]
        self._write(written, alive, f.guard[i] != 0)
        at: i64 = -1
        while at < f.count[i]:
            operand = f.guard[i] if at < 0 else f.operand[f.first[i] + at]
            if at < 0 or not mask >> at & 1:
                bit = self._bit(operand)
                if bit >= 0:
                    alive.add(bit, opd.count_of(operand))
            at += 1

    def _pass_phis(self, b: i64, alive: _Alive) -> None:
        """What the phis of a block define they define at once."""
        f = self.f
        written: list[int] = []
        for i in self.phis.get(int(b), ()):
            operand = f.get(i, 0)
            bit = self._bit(operand)
            if bit >= 0:
                written.append(int(operand))
                if not alive.any_of(bit, opd.count_of(operand)):
                    self.dead.add(i)
        self._write(written, alive, False)

    def _write(self, written: list[int], alive: _Alive, guarded: bool) -> None:
        """What is written at once is near what is live behind it, and one to the other."""
        was: list[int] = []
        for operand in written:
            bit = self._bit(operand)
            for word in range(bit, bit + opd.count_of(operand)):
                if alive.is_live[word]:
                    was.append(word)
            alive.add(bit, opd.count_of(operand))
        for operand in written:
            bit = self._bit(operand)
            for word in range(bit, bit + opd.count_of(operand)):
                self._meet(word, alive)
        for operand in written:
            bit = self._bit(operand)
            for word in range(bit, bit + opd.count_of(operand)):
                alive.drop(word)
        if guarded:
            for word in was:
                alive.add(word, 1)

    def _meet(self, bit: i64, alive: _Alive) -> None:
        m = self.bit_member[bit]
        place = bit - self.base[m]
        for other in alive.of_part(self._part(m)):
            n = self.bit_member[other]
            if n != m and other - self.base[n] == place:
                self.near[m].add(int(n))
                self.near[n].add(int(m))

    # -- one name ------------------------------------------------------------------------------------------------

    def _unite(self) -> None:
        """One name for what phis connect and what is never near, at first for what meets in inner loops."""
        f = self.f
        depth = self.graph.loops().depth
        pairs: list[tuple[int, int, int, int]] = []
        for phis in self.leaving.values():
            for i in phis:
                at: i64 = 1
                while at + 1 < f.count[i]:
                    if opd.is_register(f.get(i, at)):
                        dest, source = self._member(f.get(i, 0)), self._member(f.get(i, at))
                        pairs.append((-int(depth[f.get(i, at + 1) & opd.INDEX]), len(pairs), int(dest), int(source)))
                    at += 2
        pairs.sort()
        for _, _, one, other in pairs:
            a, b = int(self._root(one)), int(self._root(other))
            if a == b or self._is_near(a, b):
                continue
            if len(self.members[a]) < len(self.members[b]):
                a, b = b, a
            self.root[b] = a
            self.near[a] |= self.near[b]
            self.members[a] += self.members[b]

    def _is_near(self, a: int, b: int) -> bool:
        near = self.near[a]
        if any(m in near for m in self.members[b]):
            return True
        near = self.near[b]
        return any(m in near for m in self.members[a])

    def _name(self, operand: i64) -> i64:
        """An operand under the name that it has from now on."""
        if self._bit(operand) < 0:
            return operand
        return opd.with_index(operand, self._first(self._root(self.member[operand & opd.INDEX])))

    def _first(self, root: i64) -> i64:
        """The register whose name members have that are one: the first, which the values had before."""
        return min([self.register[m] for m in self.members[root]])

    # -- copies -------------------------------------------------------------------------------------------------

    def _copies(self) -> list[tuple[int, int, list[tuple[int, int]]]]:
        """What is copied on which edges."""
        f = self.f
        found: list[tuple[int, int, list[tuple[int, int]]]] = []
        for b, phis in self.leaving.items():
            moves: dict[int, list[tuple[int, int]]] = {}
            for i in phis:
                self.gone += 1
                at: i64 = 1
                while at + 1 < f.count[i] and i not in self.dead:
                    dest, source = self._name(f.get(i, 0)), self._name(f.get(i, at))
                    if dest != source:
                        moves.setdefault(int(f.get(i, at + 1) & opd.INDEX), []).append((int(dest), int(source)))
                    at += 2
            found += [(p, b, moves[p]) for p in sorted(moves)]
        return found

    def _is_missed(self, p: i64, b: i64, moves: list[tuple[int, int]]) -> bool:
        """Whether what is copied at the end of a block, on the way to ``b``, is read on another way or by the branch."""
        f = self.f
        tail = f.tail[p]
        for dest, _ in moves:
            root = self._root(self.member[dest & opd.INDEX])
            at: i64 = -1
            while tail != NONE and OPS.flags[f.op[tail]] & _CONTROL and at < f.count[tail]:
                operand = f.guard[tail] if at < 0 else f.get(tail, at)
                if self._bit(operand) >= 0 and self._root(self.member[operand & opd.INDEX]) == root:
                    return True
                at += 1
            e = self.graph.succ_start[p]
            while e < self.graph.succ_start[p + 1]:
                other = self.graph.succ[e]
                if other != b and self._is_wanted(root, p, other):
                    return True
                e += 1
        return False

    def _is_wanted(self, root: i64, p: i64, b: i64) -> bool:
        """Whether a name is read behind an edge."""
        for m in self.members[root]:
            for bit in range(self.base[m], self.base[m] + self.f.reg_size[self.register[m]]):
                if self.live.behind(b, bit):
                    return True
        for i in self.phis.get(int(b), ()):
            value = merges.value_from(self.f, i, p)
            if self._bit(value) >= 0 and self._root(self.member[value & opd.INDEX]) == root:
                return True
        return False

    # -- changing ------------------------------------------------------------------------------------------------

    def _rename(self) -> None:
        f = self.f
        name = vec[i64](range(f.registers()))
        changed = False
        for root in [m for m in range(len(self.register)) if self._root(m) == m]:
            members = self.members[root]
            first = self._first(root)
            for m in members:
                if len(members) > 1:
                    f.window.discard(int(self.register[m]))
                    name[self.register[m]] = first
                    changed = True
        for naming in self.naming if changed else ():
            for i in naming:
                at: i64 = 0
                while at < f.count[i]:
                    operand = f.operand[f.first[i] + at]
                    if opd.is_register(operand) and name[operand & opd.INDEX] != operand & opd.INDEX:
                        f.set(i, at, opd.with_index(operand, name[operand & opd.INDEX]))
                    at += 1

    def _remove(self) -> None:
        f = self.f
        cursor = Cursor(f)
        for phis in self.leaving.values():
            for i in phis:
                f.window.discard(int(f.get(i, 0) & opd.INDEX))
                cursor.remove(i)

    def _insert(self, copies: list[tuple[int, int, list[tuple[int, int]]]]) -> None:
        """Put the copies into the code; edges whose copies can stand in neither of their blocks get a block."""
        f = self.f
        cursor = Cursor(f)
        apart: list[tuple[int, int, list[tuple[int, int]]]] = []
        for p, b, moves in copies:
            self.copied += len(moves)
            if self._is_missed(p, b, moves):
                apart.append((p, b, moves))
                continue
            cursor.at_exit(p)
            cursor.line = f.line[f.tail[p]] if f.tail[p] != NONE else 0
            merges.move_words(cursor, moves)
        if apart:
            self.split += len(apart)
            split_edges(f, apart)


@final
class _Alive:
    """The bits that are live at a place: ``is_live[bit]``, and those of each part in a set."""

    def __init__(self, work: _Leaving) -> None:
        self.work = work
        self.is_live = zeros(work.bits)
        self.parts: dict[int, set[int]] = {}

    def clear(self) -> None:
        """Let no word be live."""
        for live in self.parts.values():
            for bit in live:
                self.is_live[bit] = 0
            live.clear()

    def add(self, bit: i64, count: i64) -> None:
        """Let words be live."""
        end = bit + count
        while bit < end:
            if not self.is_live[bit]:
                self.is_live[bit] = 1
                self.parts.setdefault(int(self.work._part(self.work.bit_member[bit])), set()).add(int(bit))
            bit += 1

    def drop(self, bit: i64) -> None:
        """Let a word be live no more."""
        if self.is_live[bit]:
            self.is_live[bit] = 0
            self.parts[int(self.work._part(self.work.bit_member[bit]))].discard(int(bit))

    def any_of(self, bit: i64, count: i64) -> bool:
        """Whether one of some words is live."""
        end = bit + count
        while bit < end:
            if self.is_live[bit]:
                return True
            bit += 1
        return False

    def of_part(self, part: i64) -> set[int]:
        """The live words of the members that phis connect."""
        return self.parts[int(part)]


def split_edges(f: Function, edges: list[tuple[int, int, list[tuple[int, int]]]]) -> None:
    """Give edges a block with copies: behind the first one where control falls through, else at the end of the function.

    No other block moves: what brings threads together stands where it has to.
    """
    cursor = Cursor(f)
    behind: dict[int, int] = {}
    last: list[int] = []
    count = f.blocks()
    for p, b, moves in edges:
        made = cursor.new_block()
        cursor.at_end(made)
        tail = f.tail[p]
        cursor.line = f.line[tail] if tail != NONE else 0
        merges.move_words(cursor, moves)
        merges.renamed(f, merges.phis_of(f, b), p, made)
        flags = OPS.flags[f.op[tail]] if tail != NONE else 0
        jumps = False
        if flags & INDIRECT:
            table = f.attributes.jump_tables[f.aux[tail]]
            jumps = b in table.targets
            table.targets = [int(made) if target == b else target for target in table.targets]
        elif flags & BRANCH and target_of(f, tail) == b:
            set_target(f, tail, made)
            jumps = True
        if jumps:
            cursor.make1(BRA, opd.label(b))
            last.append(int(made))
        else:
            behind[p] = int(made)
    order = vec[i64]()
    at: i64 = 0
    while at < count:
        order = append(order, at)
        if int(at) in behind:
            order = append(order, behind[int(at)])
        at += 1
    for made in last:
        order = append(order, made)
    cursor.reorder(order)
    make_edges(f)
