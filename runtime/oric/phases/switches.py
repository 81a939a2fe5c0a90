"""Phase 14: jumps of many ways become a table, a tree of comparisons or tests of bits. Phase 80: tables come into bank 2.

A jump of many ways is a SWITCH, or a chain of blocks that compare one word with constants and do nothing else. Both are *ways*:
where each number of a range leads to. What is made of them:

* a table where the ways of a stretch of numbers are many and most of its numbers have one of their own;
* a test of a bit where numbers that lie close lead to one block and all around them to another;
* comparisons that halve the ways for what is left.

Source: PTX-to-Ori, Timing Boundary (its place); observed: ptxas 13.0.88 makes such tables, of chains as well, of trees nothing.
"""

from __future__ import annotations

from typing import Final, NamedTuple, final

from mypy_extensions import i64
from oric_tables import knobs, ops
from oric_tables.op import BRA, BRX, IADD3, IMNMX, ISETP, LDC, LOP3, MOV, SHF, SWITCH, VIMNMX

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.facts import MASK32
from oric.ir.function import NONE, R2, Function, R
from oric.ir.module import BANK_COMPILER
from oric.ir.operand import SIGNS
from oric.ir.optable import OPS, instructions_with, marked, written_registers
from oric.ir.passes import PassContext

from .ahead import comes_before
from .comparing import branch_on, compare, is_plain
from .control import thread_jumps
from .flow import COND, GONE, JUMP, TABLE, Flow
from .predication import most_guarded
from .ways import Limits, Way, choose, keeps_table, most, origin_of, past, ways_of_cases, ways_of_table, with_bits

_COMPARED: Final = ops.op(ISETP)
_LEAST: Final = {IMNMX: ops.op(IMNMX).pack(sign="U32"), VIMNMX: ops.op(VIMNMX).pack(type="U32")}  # of words without sign
_RELATION: Final = _COMPARED.mods["cmp"]
_EQUALITIES: Final = frozenset(_RELATION.values[name] for name in ("EQ", "NE"))
_SHIFT_LEFT: Final[int] = ops.op(SHF).pack(dir="L", type="U32")
_SHIFT_RIGHT: Final[int] = ops.op(SHF).pack(dir="R", type="U32", hi=1)
_AND: Final[int] = ops.op(LOP3).pack(lut=0xC0)
_SWITCHES: Final = marked((SWITCH,))
_ENTRY: Final = 4  # bytes of a table's entry


def choose_switches(f: Function, ctx: PassContext) -> bool:
    """Phase 14; returns whether there was anything to choose for."""
    if not instructions_with(f, _SWITCHES) and not _may_have_chain(f):
        return False
    flow = Flow(f)
    thread_jumps(flow)
    flow.drop_unreachable()
    chooser = Chooser(flow, _room(f, ctx))
    made = 0
    b: i64 = 0
    while b < len(chooser.preds):
        if flow.kind[b] == TABLE and f.op[flow.node[b]] == SWITCH:
            made += chooser.settle_switch(b)
        elif flow.kind[b] == COND:
            made += chooser.settle_chain(b)
        b += 1
    flow.drop_unreachable()
    flow.rebuild()
    ctx.count("jumps of many ways", made)
    if made:
        f.merged = True
    return True


def place_tables(f: Function, ctx: PassContext) -> bool:
    """Phase 80: every SWITCH becomes a BRX of a table in bank 2 or, where that is of no use, comparisons."""
    found = instructions_with(f, _SWITCHES)
    if not found:
        return False
    cursor = Cursor(f)
    many = False
    for i in found:
        table = f.attributes.jump_tables[f.aux[i]]
        if len(table.targets) > _room(f, ctx):
            many = True
            continue
        offset = f.attributes.place_jump_table(f.aux[i])
        cursor.in_front(i)
        cursor.line = f.line[i]
        place, pair = opd.reg(f.new_reg(R)), opd.reg(f.new_reg(R2, 2), 0, 2)
        cursor.make4(SHF, place, f.get(i, 0), opd.imm(2), opd.RZ_OPERAND, _SHIFT_LEFT)
        cursor.make4(LDC, opd.word(pair, 0), place, opd.const_bank(BANK_COMPILER, 0), f.imm(offset))
        cursor.make2(MOV, opd.word(pair, 1), opd.RZ_OPERAND)
        cursor.rewrite(i, BRX, 0, 2)
        f.set(i, 0, pair)
        f.set(i, 1, opd.pool(f.own_imm()))  # how far it is to the start of the code
    if many:
        _without_tables(f)
    ctx.count("jump tables", len(f.attributes.jump_tables))
    return True


def _without_tables(f: Function) -> None:
    """Let comparisons do what is left of the SWITCHes."""
    flow = Flow(f)
    chooser = Chooser(flow, 0)
    for b in range(flow.blocks()):
        if flow.kind[b] == TABLE and f.op[flow.node[b]] == SWITCH:
            index = f.get(flow.node[b], 0)
            chooser.fill(b, index, ways_of_table(flow.tables.pop(b)))
    flow.rebuild()


def _room(f: Function, ctx: PassContext) -> int:
    """How many entries a jump table of a function may have: none where its bank 2 is that of another."""
    if not ctx.has_own_bank(f):
        return 0
    numbers = f.knobs.numbers
    return min(numbers[knobs.SWITCH_SPAN], max(0, numbers[knobs.SWITCH_ROOM] - len(f.attributes.constant2)) // _ENTRY)


def _may_have_chain(f: Function) -> bool:
    """Whether there are as many blocks that end with a branch behind a comparison with a constant for equality as a chain has."""
    found = 0
    b: i64 = 0
    while b < f.blocks():
        tail = f.tail[b]
        made = f.prev[tail] if tail != NONE and f.op[tail] == BRA and f.guard[tail] else NONE
        if made != NONE and f.op[made] == ISETP and f.mods[made] >> _RELATION.shift & _RELATION.mask in _EQUALITIES:
            found += 0 if opd.is_register(f.get(made, 2)) else 1
        b += 1
    return found >= Limits(f).fewest


class _Test(NamedTuple):
    """A block's end: to ``case`` where ``word`` is ``value``, else to ``rest``; ``made`` is the comparison."""

    word: int
    value: int
    case: int
    rest: int
    made: int


@final
class Chooser:
    """Makes code of ways. ``room``: the entries that a table may have."""

    def __init__(self, flow: Flow, room: int) -> None:
        self.flow = flow
        self.f: Function = flow.f
        self.room = room
        self.limits = Limits(flow.f)
        self.preds = flow.pred_counts()
        self._exposed: set[int] | None = None  # see _read_elsewhere

    # -- what there is -----------------------------------------------------------------------------------

    def settle_switch(self, b: i64) -> int:
        """Choose for a SWITCH; returns 1 if it is one no more."""
        f, flow = self.f, self.flow
        node = flow.node[b]
        targets = list(flow.tables[b])
        index = f.get(node, 0)
        constant = self._constant(b, index)
        ways = ways_of_table(targets)
        if constant >= 0:
            ways = [Way(0, targets[min(constant, len(targets) - 1)])]
        least = self._least(b, index, len(targets) - 1)
        word = f.get(least, 1) if least != NONE else index
        before = self._only_before(b) if least != NONE and self._last_writer(b, word) == NONE else NONE
        limit = self._limit(before, b, word) if before != NONE else 0
        below = 0 < limit <= len(targets)
        if keeps_table(self.limits, ways, len(targets), self.room):
            if below:
                f.set(node, 0, word)
            return 0
        del flow.tables[b]
        if below and f.head[b] == least and f.tail[b] == least and constant < 0:  # one test less
            beyond = flow.other[before] if flow.target[before] == b else flow.target[before]
            flow.kind[b] = GONE
            b = before
            flow.cursor.remove(least)
            flow.cursor.at_end(b)
            flow.cursor.link(least)  # others may read it, as phase 13 shares what is equal
            ways = [way for way in ways if way.first < limit]
            if ways[-1].target != beyond:
                ways.append(Way(limit, beyond))
        self.fill(b, word, with_bits(self.limits, ways))
        return 1

    def _constant(self, b: i64, index: i64) -> int:
        """What a word is at the end of a block, -1: it is not known."""
        i = self._last_writer(b, index)
        if i == NONE or self.f.guard[i] or self.f.op[i] != MOV:
            return -1
        source = self.f.get(i, 1)
        return self._number(source)

    def _number(self, source: i64) -> int:
        f = self.f
        form = source & opd.TYPE
        if source == opd.RZ_OPERAND:
            return 0
        if form == opd.IS_POOL and f.links.get(source & opd.INDEX) is not None:
            return -1
        if (form == opd.IS_IMM or form == opd.IS_POOL) and not source & SIGNS:
            return int(f.imm_value(source) & MASK32)
        return -1

    def _last_writer(self, b: i64, operand: i64) -> i64:
        f = self.f
        i = f.tail[b]
        while i != NONE:
            for written in written_registers(f, i):
                if written & opd.INDEX == operand & opd.INDEX:
                    return i
            i = f.prev[i]
        return NONE

    def _least(self, b: i64, index: i64, most: int) -> i64:
        """The instruction of a block that makes an index the lesser of a word, which the block leaves as it is, and ``most``."""
        f = self.f
        i = self._last_writer(b, index)
        if i == NONE or f.guard[i] or _LEAST.get(f.op[i], -1) != f.mods[i] or f.get(i, 3) != opd.PT_OPERAND:
            return NONE
        word = f.get(i, 1)
        if self._number(f.get(i, 2)) != most or not self._is_word(word):
            return NONE
        last = self._last_writer(b, word)
        return i if last == NONE or comes_before(self.f, last, i) else NONE

    def _is_word(self, operand: i64) -> bool:
        f = self.f
        return opd.is_register(operand) and not operand & SIGNS and f.reg_type[operand & opd.INDEX] == R

    def _only_before(self, b: i64) -> i64:
        """The block that alone goes to another, on one of two ways; ``NONE``: there is none."""
        flow = self.flow
        if self.preds[b] != 1:
            return NONE
        before: i64 = next(p for p in range(flow.blocks()) if flow.kind[p] != GONE and b in flow.successors(p))
        return before if flow.kind[before] == COND and flow.target[before] != flow.other[before] else NONE

    def _limit(self, before: i64, b: i64, word: i64) -> int:
        """The number below which a word is just where a block goes on to ``b``; 0: its branch does not depend on that."""
        f, flow = self.f, self.flow
        made = self._condition(before, word)
        if made == NONE or f.get(made, 1) != word:
            return 0
        names = _COMPARED.unpack(f.mods[made])
        number = self._number(f.get(made, 2))
        if str(names["sign"]) != "U32" or number < 0:
            return 0
        holds = (flow.target[before] == b) == (f.guard[flow.node[before]] & opd.NEGATE == 0)
        relation = str(names["cmp"])
        if relation == ("LT" if holds else "GE"):
            return number
        return number + 1 if relation == ("LE" if holds else "GT") else 0

    def _condition(self, b: i64, word: i64) -> i64:
        """The comparison that a block's branch depends on, behind which a word stays as it is; ``NONE``: there is no such one."""
        f, flow = self.f, self.flow
        node = flow.node[b]
        at: i64 = 0
        while at < f.count[node]:
            if opd.is_register(f.get(node, at)):
                return NONE
            at += 1
        if not opd.is_register(f.guard[node]):
            return NONE
        made = self._last_writer(b, f.guard[node])
        if made == NONE or f.op[made] != ISETP or f.guard[made] or not is_plain(f, made):
            return NONE
        last = self._last_writer(b, word) if word else NONE
        return made if last == NONE or comes_before(self.f, last, made) else NONE

    # -- chains ------------------------------------------------------------------------------------------

    def settle_chain(self, b: i64) -> int:
        """Choose for the chain of comparisons that begins at the end of a block; returns whether it is one no more."""
        first = self._test(b)
        if first is None:
            return 0
        cases: dict[int, int] = {first.value: first.case}
        tests = [(int(b), first)]
        while (following := self._next(tests[-1][1])) is not None:
            cases.setdefault(following.value, following.case)
            tests.append((tests[-1][1].rest, following))
        rest = tests[-1][1].rest
        if len(tests) < self.limits.fewest:
            return 0
        origin = origin_of(cases)
        found = ways_of_cases({number - origin & MASK32: case for number, case in cases.items()}, rest)
        ways = choose(self.limits, found, self.room)
        if not any(way.bits for way in ways) and len(ways) >= len(tests):
            better = len(tests) >= self.f.knobs.numbers[knobs.SWITCH_TREE] or any(way.entries for way in ways)
            if not better or self._are_guarded(cases):
                return 0
        self.fill(b, first.word, ways, origin)
        return 1

    def _are_guarded(self, cases: dict[int, int]) -> bool:
        """Whether phase 63 has something better: few short blocks that lead to one another are guarded instructions there."""
        flow = self.flow
        size = len(cases)
        for target in cases.values():
            if self.preds[target] != 1 or flow.kind[target] != JUMP:
                return False
            i = self.f.head[target]
            while i != NONE and size <= most_guarded(self.f):
                size += 1
                i = self.f.next[i]
        return size <= most_guarded(self.f)

    def _test(self, b: i64) -> _Test | None:
        """What the end of a block tests; None when it is no comparison of a word with a constant for equality."""
        f, flow = self.f, self.flow
        if flow.kind[b] != COND or flow.target[b] == flow.other[b]:
            return None
        made = self._condition(b, 0)
        if made == NONE or opd.index_of(f.get(made, 0)) in self._read_elsewhere():
            return None
        word, value = f.get(made, 1), self._number(f.get(made, 2))
        relation = str(_COMPARED.unpack(f.mods[made])["cmp"])
        if value < 0 or not self._is_word(word) or (relation != "EQ" and relation != "NE"):
            return None
        last = self._last_writer(b, word)
        if last != NONE and not comes_before(self.f, last, made):
            return None
        taken = (relation == "EQ") == (f.guard[flow.node[b]] & opd.NEGATE == 0)
        case, rest = (flow.target[b], flow.other[b]) if taken else (flow.other[b], flow.target[b])
        return _Test(word, value, case, rest, made)

    def _next(self, test: _Test) -> _Test | None:
        """The test that follows where the word is another: the same word's, in a block that has nothing else."""
        f, flow = self.f, self.flow
        b = test.rest
        if self.preds[b] != 1 or b == 0 or b in flow.follower or b in flow.follower.values():
            return None
        found = self._test(b)
        if found is None or found.word != test.word or f.head[b] != found.made or f.tail[b] != found.made:
            return None
        return found

    def _read_elsewhere(self) -> set[int]:
        """Predicates that a block reads and has not written."""
        if self._exposed is not None:
            return self._exposed
        f = self.f
        found: set[int] = set()
        b: i64 = 0
        while b < self.flow.blocks():
            written: set[int] = set()
            i = f.head[b] if self.flow.kind[b] != GONE else NONE
            while i != NONE:
                self._note_reads(i, written, found)
                if not f.guard[i]:
                    written.update(int(operand & opd.INDEX) for operand in written_registers(f, i) if f.is_predicate(operand))
                i = f.next[i]
            if self.flow.kind[b] != GONE and self.flow.node[b] != NONE:
                self._note_reads(self.flow.node[b], written, found)
            b += 1
        self._exposed = found
        return found

    def _note_reads(self, i: i64, written: set[int], found: set[int]) -> None:
        f = self.f
        at: i64 = -1
        while at < f.count[i]:
            operand = f.guard[i] if at < 0 else f.get(i, at)
            reads = at < 0 or not OPS.writes_at(f.op[i], at)
            if reads and operand and opd.is_register(operand) and f.is_predicate(operand):
                if int(operand & opd.INDEX) not in written:
                    found.add(int(operand & opd.INDEX))
            at += 1

    # -- making ------------------------------------------------------------------------------------------

    def fill(self, b: i64, word: int, ways: list[Way], origin: int = 0) -> None:
        """Let a block end with going the way of a word, whose numbers count from one on."""
        flow = self.flow
        node = flow.node[b]
        line: i64 = self.f.line[node] if node != NONE else flow.cursor.line
        flow.set_end(b, JUMP, NONE, -1, -1)
        flow.cursor.at_end(b)
        flow.cursor.line = line
        self._fill(b, self._from(word, origin), ways)

    def _block(self, word: int, ways: list[Way]) -> int:
        if len(ways) == 1 and ways[0].leads_to(ways[0].target):
            return ways[0].target
        made: int = self.flow.new_block(-1)
        self.flow.cursor.at_end(made)
        self._fill(made, word, ways)
        return made

    def _fill(self, b: i64, word: int, ways: list[Way]) -> None:
        flow = self.flow
        if len(ways) == 1 or (len(ways) == 2 and ways[0].bits and ways[1].leads_to(ways[0].target)):
            self._one_way(b, word, ways[0])
        elif len(ways) == 3 and ways[0].leads_to(ways[2].target) and ways[2].leads_to(ways[0].target):
            self._one_among(b, word, ways)
        elif self._is_short(ways):
            self._one_by_one(b, word, ways)
        else:
            middle = len(ways) // 2
            test = compare(flow.cursor, "LT", "U32", word, self._imm(ways[middle].first))
            node = branch_on(flow.cursor, test)
            below = self._block(word, ways[:middle])
            flow.set_end(b, COND, node, below, self._block(word, ways[middle:]))

    def _is_short(self, ways: list[Way]) -> bool:
        """Whether ways are few numbers and one block for all others: threads that are none of the first stay together."""
        rest = most(ways)
        numbers = 0
        for n, way in enumerate(ways):
            if way.entries or way.bits or (way.target != rest and past(ways, n) - way.first > 1):
                return False
            numbers += 1 if way.target != rest else 0
        return numbers <= self.f.knobs.numbers[knobs.SWITCH_LEAF]

    def _one_by_one(self, b: i64, word: int, ways: list[Way]) -> None:
        flow = self.flow
        rest = most(ways)
        numbers = [way for way in ways if way.target != rest]
        for at, way in enumerate(numbers):
            node = branch_on(flow.cursor, compare(flow.cursor, "EQ", "U32", word, self._imm(way.first)))
            following: int = flow.new_block(-1) if at + 1 < len(numbers) else rest
            flow.set_end(b, COND, node, way.target, following)
            b = following
            if at + 1 < len(numbers):
                flow.cursor.at_end(b)

    def _one_among(self, b: i64, word: int, ways: list[Way]) -> None:
        """Numbers that lead elsewhere than those below and above them."""
        flow, one = self.flow, ways[1]
        span = ways[2].first - one.first
        if one.bits:
            self._one_way(b, word, one)
        elif span == 1 and not one.entries:
            test = compare(flow.cursor, "EQ", "U32", word, self._imm(one.first))
            flow.set_end(b, COND, branch_on(flow.cursor, test), one.target, ways[0].target)
        else:
            offset = self._from(word, one.first)
            test = compare(flow.cursor, "GE", "U32", offset, self._imm(span))
            node = branch_on(flow.cursor, test)
            inside = self._block(offset, [one._replace(first=0)])
            flow.set_end(b, COND, node, ways[0].target, inside)

    def _one_way(self, b: i64, word: int, way: Way) -> None:
        flow, f = self.flow, self.f
        if way.entries:
            offset = self._from(word, way.first)
            node = flow.cursor.make1(SWITCH, offset)
            f.aux[node] = f.attributes.add_jump_table(list(way.entries))
            flow.cursor.remove(node)
            flow.tables[int(b)] = list(way.entries)
            flow.set_end(b, TABLE, node, -1, -1)
        elif way.bits:
            flow.set_end(b, COND, self._bit(self._from(word, way.first), way.bits), way.other, way.target)
        else:
            flow.set_end(b, JUMP, NONE, way.target, -1)

    def _bit(self, place: int, bits: int) -> int:
        """A branch where a number has the bit of that place; it has none above its last."""
        f, cursor = self.f, self.flow.cursor
        number, shifted, bit = opd.reg(f.new_reg(R)), opd.reg(f.new_reg(R)), opd.reg(f.new_reg(R))
        cursor.make2(MOV, number, f.imm(bits))
        cursor.make4(SHF, shifted, opd.RZ_OPERAND, place, number, _SHIFT_RIGHT)
        cursor.make4(LOP3, bit, shifted, opd.imm(1), opd.RZ_OPERAND, _AND)
        return branch_on(cursor, compare(cursor, "NE", "U32", bit, opd.RZ_OPERAND))

    def _from(self, word: int, first: int) -> int:
        """How far a word is beyond a number."""
        if not first:
            return word
        made = opd.reg(self.f.new_reg(R))
        self.flow.cursor.make4(IADD3, made, word, self.f.imm(-first & MASK32), opd.RZ_OPERAND)
        return made

    def _imm(self, number: int) -> int:
        return self.f.imm(number) if number else opd.RZ_OPERAND
