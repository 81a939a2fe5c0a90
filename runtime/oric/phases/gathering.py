"""What threads of one warp do together although they reach it at different places: they meet, and go through one place.

PTX lets the threads of a warp come to ``barrier`` without ``.aligned`` at different places and times, and those of a member mask
to ``shfl.sync`` and its like, while the hardware's instruction is for the threads that are at it. All such places of one kind
become one block: a thread leaves its place and operands in registers, waits for the others, and goes back to where it came from.
ptxas 13.0.88 does the same by a function (up to sm_89) or a collective (later) to which threads go that are apart; here it is
control flow as any other.
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64
from oric_tables import ops
from oric_tables.op import BRA, ISETP, MOV, SEL

from oric.ir import operand as opd
from oric.ir.function import NONE, R2, UR, Function, P, R
from oric.ir.optable import OPS

from .flow import COND, Flow

_EQUAL: Final[int] = ops.op(ISETP).pack(cmp="EQ", sign="U32", bop="AND")
_NOT_EQUAL: Final[int] = ops.op(ISETP).pack(cmp="NE", sign="U32", bop="AND")


@final
class Unit:
    """Instructions, one right behind another, that become one with their like.

    ``members``: those that are repeated in the block where threads meet; ``waits``: the WARPSYNC in front of them, NONE where
    there is none; ``mask``: the operand with the threads that it waits for.
    """

    def __init__(self, members: list[int], waits: i64 = NONE, mask: i64 = opd.NO_OPERAND) -> None:
        self.members = members
        self.waits: int = waits
        self.mask: int = mask

    @property
    def first(self) -> int:
        """The first of the instructions."""
        return self.members[0] if self.waits == NONE else self.waits

    @property
    def last(self) -> int:
        """The last of the instructions."""
        return self.members[-1] if self.members else self.waits


@final
class Slots:
    """The operands of a unit's members: (member, place of the operand).

    ``reads``: what comes from in front of the unit; ``makes``: what it leaves behind; ``inside``: uniform registers that it makes
    and reads itself.
    """

    def __init__(self, f: Function, unit: Unit) -> None:
        self.reads: list[tuple[int, int]] = []
        self.makes: list[tuple[int, int]] = []
        self.inside: list[tuple[int, int]] = []
        made: set[int] = set()
        for k, i in enumerate(unit.members):
            at: i64 = 0
            while at < f.count[i]:
                operand = f.get(i, at)
                kind = operand & opd.TYPE
                number = operand & opd.INDEX
                uniform = opd.is_register(operand) and f.reg_type[number] == UR
                if OPS.writes_at(f.op[i], at):
                    if uniform:
                        made.add(number)
                    (self.inside if uniform else self.makes).append((k, at))
                elif uniform and number in made:
                    self.inside.append((k, at))
                elif kind not in (opd.IS_NONE, opd.IS_SPECIAL, opd.IS_LABEL):
                    self.reads.append((k, at))
                at += 1


def is_predicate(f: Function, operand: i64) -> bool:
    """Whether an operand is a predicate, PT among them."""
    if operand & opd.TYPE != opd.IS_REG:
        return False
    number = operand & opd.INDEX
    return number == opd.PT or (number != opd.RZ and f.reg_type[number] == P)


def branch_around(flow: Flow, unit: Unit) -> None:
    """Make a branch of the guard of a unit's instructions."""
    f, cursor = flow.f, flow.cursor
    first = unit.first
    guard = f.guard[first]
    block = f.block[first]
    rest = flow.split_behind(unit.last)
    del flow.follower[block]
    guarded = flow.new_block(rest)
    i: i64 = first
    cursor.line = f.line[first]
    while i != NONE:
        following = f.next[i]
        cursor.remove(i)
        cursor.at_end(guarded)
        cursor.link(i)
        if f.guard[i] == guard:
            f.set_guard(i, 0)
        i = following
    cursor.at_end(block)
    node = cursor.make1(BRA, opd.label(rest), 0, guard ^ opd.NEGATE)
    cursor.remove(node)
    flow.set_end(block, COND, node, rest, guarded)


@final
class Gathering:
    """One block in place of units that are alike.

    ``wait``: for units with masks, an instruction in no block that waits for the threads of one.
    """

    def __init__(self, flow: Flow, units: list[Unit], wait: i64 = NONE) -> None:
        self.flow = flow
        self.f = flow.f
        self.units = units
        self.wait: int = wait
        self.place: int = opd.reg(self.f.new_reg(R))  # which unit a thread came from
        self.slots = Slots(flow.f, units[0])
        self.mask: int = opd.reg(self.f.new_reg(R)) if wait != NONE and self.f.get(wait, 0) == opd.NO_OPERAND else opd.NO_OPERAND
        self.given = {slot: self._carrier(slot) for slot in self.slots.reads}
        self.results = {slot: self._carrier(slot) for slot in self.slots.makes}
        self._share()

    def _operands(self, slot: tuple[int, int]) -> list[int]:
        """What the units have there."""
        return [self.f.get(unit.members[slot[0]], slot[1]) for unit in self.units]

    def _carrier(self, slot: tuple[int, int]) -> i64:
        """What an operand is in the block: a register that threads bring or take with them, or the constant of all of them."""
        operands = self._operands(slot)
        if not any(opd.is_register(operand) for operand in operands) and len(set(operands)) == 1:
            return operands[0]
        count: i64 = 1
        for operand in operands:
            if opd.is_register(operand) and not is_predicate(self.f, operand):
                count = max(count, opd.count_of(operand))
        return opd.reg(self.f.new_reg(R if count == 1 else R2, count), 0, count)

    def _share(self) -> None:
        """The two words of a barrier with a count are one register."""
        for n, slot in enumerate(self.slots.reads):
            operands = self._operands(slot)
            for other in self.slots.reads[:n]:
                if opd.is_register(self.given[other]) and operands == self._operands(other):
                    self.given[slot] = self.given[other]
                    break

    def run(self) -> i64:
        """Make the block; gives the instruction for which the threads meet there."""
        f, cursor = self.f, self.flow.cursor
        back = [self._leave(unit, number) for number, unit in enumerate(self.units)]
        shared = self.flow.new_block(back[-1])
        for unit in self.units:
            self.flow.target[f.block[unit.first]] = shared
        cursor.at_end(shared)
        cursor.line = f.line[self.units[0].first]
        made = self._together()
        for unit in self.units:
            for i in [*unit.members, *([unit.waits] if unit.waits != NONE else [])]:
                cursor.remove(i)
        block = shared
        for number, rest in enumerate(back[:-1]):
            block = self._choose(block, number, rest, back[-1])
        return made

    def _leave(self, unit: Unit, number: int) -> i64:
        """In front of a unit leave what the block asks for; gives the block behind, which begins with the results."""
        f, cursor = self.f, self.flow.cursor
        cursor.in_front(unit.first)
        for (k, at), carrier in self.given.items():
            operand = f.get(unit.members[k], at)
            if not opd.is_register(carrier):
                continue
            if is_predicate(f, operand):
                cursor.make4(SEL, carrier, opd.RZ_OPERAND, opd.imm(1), operand ^ opd.NEGATE)
            else:
                self._move(carrier, operand)
        if opd.is_register(self.mask):
            cursor.make2(MOV, self.mask, unit.mask)
        cursor.make2(MOV, self.place, opd.imm(number))
        rest = self.flow.split_behind(unit.last)
        del self.flow.follower[f.block[unit.first]]
        cursor.at_start(rest)
        for (k, at), carrier in self.results.items():
            dest = f.get(unit.members[k], at)
            if not opd.is_register(dest):
                continue
            if is_predicate(f, dest):
                self._test(dest, carrier, opd.RZ_OPERAND, _NOT_EQUAL)
            else:
                self._move(dest, carrier)
        return rest

    def _move(self, dest: i64, source: i64) -> None:
        """Copy all words of a register."""
        cursor = self.flow.cursor
        if not opd.is_register(source) or opd.count_of(dest) == 1:
            cursor.make2(MOV, dest, source)
            return
        at: i64 = 0
        while at < opd.count_of(dest):
            cursor.make2(MOV, opd.word(dest, at), opd.word(source, at))
            at += 1

    def _together(self) -> i64:
        """What all threads do, and what keeps its results, at the cursor."""
        f, cursor = self.f, self.flow.cursor
        tests = self._tests()
        first: i64 = NONE
        if self.wait != NONE:
            first = self.wait
            cursor.link(first)
            if self.mask != opd.NO_OPERAND:
                f.set(first, 0, self.mask)
        fresh: dict[int, int] = {}
        kept: list[tuple[int, int]] = []
        for k, like in enumerate(self.units[0].members):
            made = cursor.clone(like)
            first = made if first == NONE else first
            at: i64 = 0
            while at < f.count[made]:
                slot = (k, at)
                operand = f.get(made, at)
                if slot in self.given:
                    f.set(made, at, tests.get(slot, self.given[slot]))
                elif slot in self.results and opd.is_register(self.results[slot]):
                    there = self.results[slot]
                    if any(is_predicate(f, operand) for operand in self._operands(slot)):
                        there = opd.reg(f.new_reg(P))
                        kept.append((self.results[slot], there))
                    f.set(made, at, there)
                elif slot in self.slots.inside:
                    number = operand & opd.INDEX
                    if number not in fresh:
                        fresh[number] = f.new_reg(UR, f.reg_size[number])
                    f.set(made, at, opd.with_index(operand, fresh[number]))
                at += 1
        for result, predicate in kept:
            cursor.make4(SEL, result, opd.RZ_OPERAND, opd.imm(1), predicate ^ opd.NEGATE)
        return first

    def _tests(self) -> dict[tuple[int, int], int]:
        """The predicates that threads bring with them, at the cursor."""
        found: dict[tuple[int, int], int] = {}
        for slot, carrier in self.given.items():
            if opd.is_register(carrier) and is_predicate(self.f, self._operands(slot)[0]):
                found[slot] = opd.reg(self.f.new_reg(P))
                self._test(found[slot], carrier, opd.RZ_OPERAND, _NOT_EQUAL)
        return found

    def _choose(self, block: i64, number: int, rest: i64, other: i64) -> i64:
        """Threads that came from that unit go back to it; gives the block in which the others are."""
        flow, cursor = self.flow, self.flow.cursor
        cursor.at_end(block)
        here = opd.reg(self.f.new_reg(P))
        self._test(here, self.place, opd.imm(number), _EQUAL)
        node = cursor.make1(BRA, opd.label(rest), 0, here)
        cursor.remove(node)
        following = flow.new_block(other)
        flow.set_end(block, COND, node, rest, following)
        return following

    def _test(self, predicate: i64, register: i64, value: i64, mods: i64) -> None:
        cursor = self.flow.cursor
        cursor.make(ISETP, mods)
        for operand in (predicate, register, value):
            cursor.put(operand)
