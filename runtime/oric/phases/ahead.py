"""Phase 22: loops of one short block whose rounds are counted while the program runs.

Where a test in front of the loop, and behind each turn, shows that none of the next tests but the last can end it, some rounds
stand one behind the other without tests; the loop that was there makes the rounds that are left. Counters that wrap do not
deceive these tests: one that comes ever closer to its end is compared with an end so much nearer, if there is one, and one that
must meet its end is asked how far away it is, as a number without sign.
Source: Ori IR, "Partial SSA" (its place); observed: ptxas 13.0.88 makes four rounds of such loops at -O3.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from mypy_extensions import i64
from oric_tables import ops
from oric_tables.op import IADD3, ISETP, MOV

from oric.ir import operand as opd
from oric.ir.facts import MASK32
from oric.ir.function import NONE, Function, R
from oric.ir.operand import SIGNS
from oric.ir.optable import written_registers

from .comparing import branch_on, compare, is_plain
from .flow import COND, Flow

_COMPARE: Final = ops.op(ISETP)
_TURNED: Final = {"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE", "EQ": "EQ", "NE": "NE"}  # with sides exchanged
_OPPOSITE: Final = {"LT": "GE", "GE": "LT", "GT": "LE", "LE": "GT", "EQ": "NE", "NE": "EQ"}
_CLOSER: Final = {"LT": 1, "LE": 1, "GT": -1, "GE": -1}  # the sign of the steps that bring a counter to the end of its loop
_LEAST: Final = {"S32": -(1 << 31), "U32": 0}
_GREATEST: Final = {"S32": (1 << 31) - 1, "U32": MASK32}
_FARTHEST: Final = 1 << 28  # that rounds one behind the other go


class Count(NamedTuple):
    """A loop goes on while ``counter``, which ``step`` is added to in each round, compares so with ``end``."""

    counter: int
    step: int
    compare: str
    sign: str
    end: int


def count_of(flow: Flow, b: i64) -> Count | None:
    """How a loop of one block counts its rounds; None when it does not so that this phase sees it."""
    f = flow.f
    node = flow.node[b]
    guard = f.guard[node]
    if not guard or not opd.is_register(guard) or any(opd.is_register(f.get(node, at)) for at in range(f.count[node])):
        return None
    compare = _only_writer(f, b, guard & opd.INDEX)
    if compare == NONE or f.op[compare] != ISETP or not is_plain(f, compare):
        return None
    names = _COMPARE.unpack(f.mods[compare])
    relation, sign = str(names["cmp"]), str(names["sign"])
    if relation not in _OPPOSITE or sign not in _LEAST:
        return None
    if (guard & opd.NEGATE != 0) == (flow.target[b] == b):
        relation = _OPPOSITE[relation]
    for at in (1, 2):
        counter, end = f.get(compare, at), f.get(compare, 3 - at)
        if at == 2:
            relation = _TURNED[relation]
        step = _step(f, b, counter, compare)
        if step and _is_fixed(f, b, end):
            return Count(counter, step, relation, sign, end)
    return None


def _only_writer(f: Function, b: i64, index: i64) -> i64:
    """The instruction of a block that alone writes a register there, under no guard; ``NONE`` when there is no such one."""
    found: i64 = NONE
    i = f.head[b]
    while i != NONE:
        if _writes(f, i, index):
            if found != NONE:
                return NONE
            found = i
        i = f.next[i]
    return found if found != NONE and not f.guard[found] else NONE


def _writes(f: Function, i: i64, index: i64) -> bool:
    return any(operand & opd.INDEX == index for operand in written_registers(f, i))


def _step(f: Function, b: i64, counter: i64, compare: i64) -> i64:
    """What each round adds to a register in front of a comparison; 0 when that is not so, or no constant."""
    if not opd.is_register(counter) or counter & SIGNS or f.reg_type[counter & opd.INDEX] != R:
        return 0
    if f.reg_size[counter & opd.INDEX] != 1:
        return 0
    i = _only_writer(f, b, counter & opd.INDEX)
    if i == NONE or f.op[i] != IADD3 or f.mods[i] or f.get(i, 0) != counter or not comes_before(f, i, compare):
        return 0
    step: i64 = 0
    found: i64 = 0
    at: i64 = 1
    while at < f.count[i]:
        operand = f.get(i, at)
        if operand == counter and at < 4:
            found += 1
        elif operand & opd.TYPE == opd.IS_IMM or operand & opd.TYPE == opd.IS_POOL:
            if step or f.links.get(operand & opd.INDEX) is not None or operand & SIGNS:
                return 0
            step = f.imm_value(operand) & MASK32
        elif operand != opd.RZ_OPERAND and operand != opd.PT_OPERAND and operand != opd.NO_OPERAND:
            return 0
        at += 1
    if step >> 31:
        step -= 1 << 32
    return step if found == 1 else 0


def comes_before(f: Function, i: i64, other: i64) -> bool:
    """Whether an instruction stands in front of another one of its block, or is it."""
    while i != NONE and i != other:
        i = f.next[i]
    return i == other


def _is_fixed(f: Function, b: i64, operand: i64) -> bool:
    """Whether a side of a comparison is the same in each round."""
    form = operand & opd.TYPE
    if operand & SIGNS:
        return False
    if form == opd.IS_IMM or form == opd.IS_POOL:
        return form == opd.IS_IMM or f.links.get(operand & opd.INDEX) is None
    if form == opd.IS_SYMBOL:
        return operand & opd.CONST_BANK != 0
    if operand == opd.RZ_OPERAND:
        return True
    if not opd.is_register(operand) or f.reg_type[operand & opd.INDEX] != R:
        return False
    i = f.head[b]
    while i != NONE:
        if _writes(f, i, operand & opd.INDEX):
            return False
        i = f.next[i]
    return True


def can_be_tested(count: Count, tests: i64) -> bool:
    """Whether one test can say that so many more of a loop do not end it."""
    if abs(count.step) * tests >= _FARTHEST:
        return False
    if count.compare == "NE":
        return True
    return count.compare in _CLOSER and (count.step > 0) == (_CLOSER[count.compare] > 0)


class Ahead:
    """The test of a loop: made in front of it by :meth:`first`, and again behind each turn by :meth:`again`."""

    def __init__(self, flow: Flow, count: Count, tests: i64) -> None:
        self.flow = flow
        self.f: Function = flow.f
        self.count = count
        self.far: int = abs(count.step) * tests
        self.end: int = 0

    def first(self) -> int:
        """Make what is needed at the cursor; returns the predicate that says whether a turn can begin."""
        count = self.count
        self.end = opd.reg(self.f.new_reg(R))
        self.flow.cursor.make2(MOV, self.end, count.end)
        if count.compare == "NE":
            return self.again()
        up = count.step > 0
        near = opd.reg(self.f.new_reg(R))
        self._add(near, self.end, self.f.imm(-self.far if up else self.far))
        limit = _LEAST[count.sign] + self.far if up else _GREATEST[count.sign] - self.far
        there = self._test("GE" if up else "LE", count.sign, self.end, limit, 0)
        self.end = near
        return compare(self.flow.cursor, "LT" if up else "GT", count.sign, count.counter, near, there)

    def again(self) -> int:
        """The same where a turn has been made."""
        count = self.count
        if count.compare != "NE":
            return compare(self.flow.cursor, "LT" if count.step > 0 else "GT", count.sign, count.counter, self.end, 0)
        way = opd.reg(self.f.new_reg(R))
        if count.step > 0:
            self._add(way, self.end, count.counter ^ opd.NEGATE)
        else:
            self._add(way, count.counter, self.end ^ opd.NEGATE)
        return self._test("GT", "U32", way, self.far, 0)

    def _add(self, result: int, a: int, b: int) -> None:
        self.flow.cursor.make4(IADD3, result, a, b, opd.RZ_OPERAND)

    def _test(self, relation: str, sign: str, a: int, limit: int, also: int) -> int:
        limit &= MASK32
        return compare(self.flow.cursor, relation, sign, a, self.f.imm(limit) if limit else opd.RZ_OPERAND, also)


def enter_ahead(flow: Flow, b: int, entries: list[int], test: Ahead, turns: int) -> None:
    """Put block ``turns``, which has the rounds, in front of the loop ``b``."""
    f = flow.f
    cursor = flow.cursor
    front = flow.new_block(b)
    cursor.at_end(front)
    cursor.line = f.line[flow.node[b]]
    flow.set_end(front, COND, branch_on(cursor, test.first()), turns, b)
    for entry in entries:
        flow.redirect(entry, b, front)
    cursor.at_end(turns)
    behind = flow.new_block(b)
    flow.set_end(turns, COND, branch_on(cursor, test.again()), turns, behind)
    cursor.at_end(behind)
    node = cursor.clone(flow.node[b])
    f.set_guard(node, f.guard[flow.node[b]])
    cursor.remove(node)
    flow.set_end(behind, COND, node, flow.target[b], flow.other[b])
