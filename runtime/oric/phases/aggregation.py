"""Phase 30: one thread does the atomics of all threads of its warp that come to them together, where they have one address.

The threads vote, the last of them does the atomic for all: n times what each would add, or what they have together. Where they
want what stood there, each gets what the one thread has got, and what those before it add. Which atomics, and how, says
``spec/aggregation.yaml``. Threads that come later, by themselves, vote by themselves: nobody is waited for, and nothing is moved.
What threads that are together have just loaded from one address is the same for them, be it volatile.

Source: observed (ptxas 13.0.88 at -O1 to -O3: at addresses that are the same for all threads of the warp by what is known of
them, whatever the scope and the order of the atomic is, in loops and where threads have parted, too, but not where one thread is
alone: behind a comparison of its number with what is the same for all, or an election).
"""

from __future__ import annotations

from typing import Final, final

from librt.vecs import vec
from mypy_extensions import i64
from oric_tables import ops
from oric_tables.aggregation import ACQUIRES, ONCE, PARITY, ROWS, TIMES, Row
from oric_tables.macros import EXPANSIONS
from oric_tables.op import (
    COMBINED,
    FROM_LAST,
    FROM_LAST64,
    FROM_LAST64_MET,
    IADD3,
    IMAD,
    IMAD_WIDE,
    LOP3,
    MOV,
    REDUX,
    S2R,
    SEL,
    TOGETHER,
    TOGETHER_COUNT,
    TOGETHER_LAST,
    TOGETHER_MASK,
    TOGETHER_RANK,
    YIELD,
)
from oric_tables.operand_kinds import BEFORE, LANE

from oric.ir import operand as opd
from oric.ir.cfg import Cfg
from oric.ir.cursor import Cursor
from oric.ir.function import AUX_VOLATILE, NONE, R2, Function, P, R, control_flow
from oric.ir.optable import ATOMIC, BARRIER, CALL, COMMON, CONTROL, CONVERGENCE, LOAD, OPS, SIDE_EFFECT, SPECIAL, WARP
from oric.ir.passes import PassContext
from oric.ir.words import WordList

from .divergence import Definitions, WaitingLoops, divergence
from .flow import Flow
from .lone import lone_blocks, truth
from .makers import makers_of
from .regions import leaving_blocks, meeting_points
from .single import single_predicates

_LOOPS: Final = EXPANSIONS["expand_control_flow"]
_PARTS: Final = BARRIER | CALL | CONTROL | CONVERGENCE | WARP  # behind which other threads may be together
_VARY: Final = LOAD | ATOMIC | WARP | CALL | SIDE_EFFECT | SPECIAL  # what may give threads different values of its own accord
_STEPS: Final = 8  # from an operand to what it is made of
_MASK32: Final = 0xFFFFFFFF
_UNKNOWN: Final = -1  # a word that is no constant
_UNSIGNED: Final[int] = ops.op(IMAD_WIDE).pack(sign="U32")
_AND: Final[int] = ops.op(LOP3).pack(lut=0xC0)


def aggregate_atomics(f: Function, ctx: PassContext) -> bool:
    """Let one thread do them; returns whether there is anything to do."""
    if not f.is_entry or f.attributes.reqntid == (1, 1, 1) or not _has_atomics(f):
        return False
    flow = Flow(f)
    different = _different(flow)
    flow.rebuild()
    if len(different):
        work = _Aggregation(f, ctx, different)
        work.run()
        f.merged = f.merged or work.done > 0
        ctx.count("atomics that one thread does for others", work.done)
    return True


def _has_atomics(f: Function) -> bool:
    i: i64 = 0
    while i < len(f.op):
        if OPS.flags[f.op[i]] & ATOMIC and f.block[i] != NONE and f.op[i] in ROWS:
            return True
        i += 1
    return False


def _different(flow: Flow) -> vec[i64]:
    """By word, whether threads of a warp may have different values of it; empty where that cannot be told."""
    cfg = flow.graph(without_bare_exits=True)
    if cfg.loops().irreducible:
        return vec[i64]()
    points = meeting_points(flow, cfg, cfg, leaving_blocks(flow)).points
    definitions = Definitions(flow)
    waits = WaitingLoops(flow, cfg, definitions, points)
    return divergence(flow, cfg, definitions, points, waits)[1]


@final
class _Places:
    """Where an atomic has its operands: ``result`` (-1: nowhere), ``value``; its register file says how many words they have."""

    def __init__(self, number: int) -> None:
        names = [operand.name for operand in ops.op(number).operands]
        self.result: int = names.index("Rd") if "Rd" in names else -1
        self.value: int = names.index("Rb")


# What a vote may have to tell besides which thread is the last one; they are its results in this order.
_COUNT: Final = 1
_RANK: Final = 2
_LAST: Final = 4
_VOTES: Final = ((0, TOGETHER), (_COUNT, TOGETHER_COUNT), (_LAST, TOGETHER_LAST), (_COUNT | _RANK | _LAST, TOGETHER_RANK))


@final
class _Vote:
    """A vote ``insn`` of the threads that are together, what it has ``told``; ``leader``: whether a thread is the last one."""

    def __init__(self, leader: i64) -> None:
        self.insn: int = NONE
        self.told: int = 0
        self.leader: int = leader
        self.results: dict[int, int] = {}

    @property
    def count(self) -> int:
        """How many they are."""
        return self.results[_COUNT]

    @property
    def rank(self) -> int:
        """How many of them come before a thread."""
        return self.results[_RANK]

    @property
    def last(self) -> int:
        """The number of the last one."""
        return self.results[_LAST]


@final
class _Aggregation:
    """The atomics of a function. ``different``: see :func:`_different`."""

    def __init__(self, f: Function, ctx: PassContext, different: vec[i64]) -> None:
        self.f = f
        self.isa: str = ctx.target.isa_name
        self.different = different
        self.cursor = Cursor(f)
        self.makers = makers_of(f)
        self.graph: Cfg = control_flow(f)
        self.single = single_predicates(f, self.makers, different)
        self.lone = lone_blocks(f, self.single)
        self.reduces: bool = self.isa in ops.op(REDUX).isas
        self.acquires: bool = ACQUIRES in ctx.target.features
        self.places: dict[int, _Places] = {}
        self.vote: _Vote | None = None  # that the threads which are together have had
        self.numbers: dict[tuple[int, int, bool], int] = {}  # special registers that have been read: number, block, at its end
        self.block: int = NONE  # that is looked at,
        self.since: int = NONE  # and the place in it of what has last let threads part or meet
        self.done: int = 0

    def run(self) -> None:
        """Look at every atomic."""
        f = self.f
        b: i64 = 0
        while b < f.blocks():
            self.vote = None
            self.block = b
            self.since = NONE
            i = f.head[b] if not self.lone[b] and self.graph.number[b] >= 0 else NONE
            while i != NONE:
                following = f.next[i]
                flags = OPS.flags[f.op[i]]
                if flags & ATOMIC and f.op[i] in ROWS:
                    self._look_at(i)
                if flags & _PARTS or OPS.expansion[f.op[i]] == _LOOPS or f.op[i] == YIELD:
                    self.vote = None
                    self.since = self.makers.place[i]
                i = following
            b += 1

    def _look_at(self, i: i64) -> None:
        f = self.f
        places = self.places.get(f.op[i])
        if places is None:
            places = self.places[f.op[i]] = _Places(f.op[i])
        value = f.get(i, places.value)
        constant = self._constant(value)
        row = self._row(i, constant)
        if row is None or (f.guard[i] and truth(f.guard[i]) in self.single) or not self._is_one_address(i, places):
            return
        wanted = self._is_wanted(i, places)
        if f.aux[i] & AUX_VOLATILE and not row[2] and not self.acquires:
            return
        alike = constant != _UNKNOWN or not self._differs(value)
        if alike and row[1] == PARITY and self.reduces:
            alike = False  # cheaper so
        if (wanted and not (row[2] and alike)) or (not alike and not (row[3][0] and self.reduces)):
            return
        self.cursor.in_front(i)
        if wanted:
            self._do_wanted(i, places, row, constant)
        elif alike:
            self._do_alike(i, places, row, constant)
        else:
            self._do_different(i, places, row)
        f.set_mods(i, f.mods[i] & ~row[7] | row[8])
        self.done += 1

    # -- looking -----------------------------------------------------------------------------------------

    def _row(self, i: i64, constant: i64) -> Row | None:
        """The row that is for an atomic."""
        for row in ROWS[self.f.op[i]]:
            fits = all(allowed >> (self.f.mods[i] >> shift & mask) & 1 for shift, mask, allowed in row[0])
            if fits and (row[5] < 0 or row[5] == constant):
                return row
        return None

    def _constant(self, value: i64) -> i64:
        """The bits of an operand of 32 bits that is a constant; :data:`_UNKNOWN` of all others."""
        return _UNKNOWN if opd.is_register(value) and opd.count_of(value) > 1 else self._word(value, 0)

    def _word(self, value: i64, at: i64) -> i64:
        """The bits of a word of an operand, :data:`_UNKNOWN` where they are not known."""
        if value == opd.RZ_OPERAND:
            return 0
        if not opd.is_register(value):
            return _UNKNOWN
        maker = self.makers.maker[self.f.words_of(value) + at]
        if maker < 0 or self.f.op[maker] != MOV or self.f.guard[maker]:
            return _UNKNOWN
        made = self.f.get(maker, 1)
        form = made & opd.TYPE
        if made == opd.RZ_OPERAND:
            return 0
        return (
            self.f.imm_value(made) & _MASK32 if (form == opd.IS_IMM or form == opd.IS_POOL) and not made & opd.SIGNS else _UNKNOWN
        )

    def _differs(self, operand: i64) -> bool:
        """Whether threads that are together may have different values of an operand."""
        if not opd.is_register(operand):
            return False
        word = self.f.words_of(operand)
        end = word + opd.count_of(operand)
        while word < end:
            if self.different[word] and not self._is_made_together(word, _STEPS):
                return True
            word += 1
        return False

    def _is_made_together(self, word: i64, steps: int) -> bool:
        """Whether those that are together have just made a word, of what is the same for all of them."""
        f = self.f
        maker = self.makers.maker[word]
        if maker < 0 or f.guard[maker] or f.block[maker] != self.block or self.makers.place[maker] <= self.since or not steps:
            return False
        flags = OPS.flags[f.op[maker]]
        if (flags & _VARY and not (flags & LOAD and flags & COMMON)) or OPS.sreg[f.op[maker]] >= 0:
            return False
        words = WordList()
        words.add_reads(f, maker)
        at: i64 = 0
        while at < words.count:
            if self.different[words.words[at]] and not self._is_made_together(words.words[at], steps - 1):
                return False
            at += 1
        return True

    def _is_one_address(self, i: i64, places: _Places) -> bool:
        """Whether all that an atomic reads but its operand is the same for all threads, and it makes nothing but its result."""
        f = self.f
        at: i64 = 0
        while at < f.count[i]:
            if at != places.value and at != places.result:
                operand = f.get(i, at)
                if OPS.writes_at(f.op[i], at) and opd.is_register(operand):
                    return False
                if self._differs(operand):
                    return False
            at += 1
        return True

    def _is_wanted(self, i: i64, places: _Places) -> bool:
        """Whether anybody reads the result."""
        result = self.f.get(i, places.result) if places.result >= 0 else opd.RZ_OPERAND
        if not opd.is_register(result):
            return False
        word = self.f.words_of(result)
        end = word + opd.count_of(result)
        while word < end:
            if self.makers.read[word]:
                return True
            word += 1
        return False

    # -- changing ----------------------------------------------------------------------------------------

    def _do_alike(self, i: i64, places: _Places, row: Row, constant: i64) -> None:
        """Threads with the same operand, of which nobody wants what stood there."""
        f = self.f
        value = f.get(i, places.value)
        if row[1] == ONCE or (row[1] == TIMES and constant == 0):
            f.set_guard(i, self._vote(i, 0).leader)
            return
        vote = self._vote(i, _COUNT)
        if row[1] == PARITY:
            odd = self._new()
            self.cursor.make4(LOP3, odd, vote.count, f.imm(1), opd.RZ_OPERAND, _AND)
            total = self._product(odd, value, constant)
        else:
            total = self._times(vote.count, value, row[6] if row[5] >= 0 else constant)
        f.set(i, places.value, total)
        f.set_guard(i, vote.leader)

    def _do_different(self, i: i64, places: _Places, row: Row) -> None:
        """Threads with operands that may differ."""
        f, cursor = self.f, self.cursor
        value = f.get(i, places.value)
        if f.guard[i]:
            chosen = self._new()
            cursor.make4(SEL, chosen, value, f.imm(row[4]) if row[4] else opd.RZ_OPERAND, f.guard[i])
            value = chosen
        vote = self._vote(i, 0)
        total = self._new()
        operation, sign = row[3]
        cursor.make2(COMBINED, total, value, ops.op(COMBINED).pack(op=operation, sign=sign))
        f.set(i, places.value, total)
        f.set_guard(i, vote.leader)

    def _do_wanted(self, i: i64, places: _Places, row: Row, constant: i64) -> None:
        """Threads with the same operand that want what stood there: each gets it with the operands of those before it added."""
        f, cursor = self.f, self.cursor
        value, result, guard = f.get(i, places.value), f.get(i, places.result), f.guard[i]
        if row[5] >= 0:
            constant = row[6]
        wide = opd.count_of(result) > 1
        nothing = constant == 0 and not wide  # is added
        vote = self._vote(i, _LAST if nothing else _RANK)
        threads = opd.NO_OPERAND
        if wide and OPS.expansion[f.op[i]] == _LOOPS:  # the one thread has a way of its own
            threads = self._new()
            cursor.make1(TOGETHER_MASK, threads)
        if not nothing:
            f.set(i, places.value, self._times_wide(vote.count, value) if wide else self._times(vote.count, value, constant))
        stood = self._new_pair() if wide else self._new()
        f.set(i, places.result, stood)
        f.set_guard(i, vote.leader)
        cursor.behind(i)
        if wide:
            found = self._new_pair()
            if threads == opd.NO_OPERAND:
                self._make3(FROM_LAST64, found, stood, vote.last)
            else:
                cursor.make4(FROM_LAST64_MET, found, stood, vote.last, threads)
            self._add_wide(result, vote.rank, value, found, guard)
            return
        if nothing and not guard:
            self._make3(FROM_LAST, result, stood, vote.last)
            return
        found = self._new()
        self._make3(FROM_LAST, found, stood, vote.last)
        self._add(result, opd.RZ_OPERAND if nothing else vote.rank, value, constant, found, guard)

    def _vote(self, i: i64, needed: i64) -> _Vote:
        """A vote in front of the cursor, or that which the threads have had, which tells what is needed."""
        f = self.f
        guard = f.guard[i]
        vote = self.vote if not guard else None
        if vote is None:
            vote = _Vote(opd.reg(f.new_reg(P)))
            if not guard:
                self.vote = vote
        elif needed & ~vote.told == 0:
            return vote
        old = vote.insn
        vote.told, op = next((told, op) for told, op in _VOTES if not (needed | vote.told) & ~told)
        place = i if old == NONE else old
        sources = [self._special(LANE, f.block[i])]
        if vote.told & _RANK:
            sources.append(self._special(BEFORE, f.block[i]))
        for what in (_COUNT, _RANK, _LAST):
            if vote.told & what and what not in vote.results:
                vote.results[what] = self._new()
        self.cursor.in_front(place)
        vote.insn = self.cursor.make(op)
        for operand in (vote.leader, *(vote.results[what] for what in sorted(vote.results)), *sources, guard or opd.PT_OPERAND):
            self.cursor.put(operand)
        if old != NONE:
            self.cursor.remove(old)
        self.cursor.in_front(i)
        return vote

    def _special(self, number: i64, b: i64) -> int:
        """A special register of the thread, read in front of the loops around a block, else where the block begins."""
        place = self._in_front_of_loops(b)
        key = int(number), int(place), place != b
        found = self.numbers.get(key)
        if found is not None:
            return found
        made = self.numbers[key] = self._new()
        cursor = self.cursor
        last = self.f.tail[place]
        if place == b:
            cursor.at_start(b)
        elif last != NONE and OPS.flags[self.f.op[last]] & CONTROL:
            cursor.in_front(last)
        else:
            cursor.at_end(place)
        cursor.make2(S2R, made, opd.special(number))
        return made

    def _in_front_of_loops(self, b: i64) -> i64:
        """The only block from which the outermost loop around a block is entered; the block itself where there is none."""
        graph = self.graph
        loops = graph.loops()
        header = loops.header[b]
        if header < 0:
            return b
        while loops.outer[header] >= 0:
            header = loops.outer[header]
        found: i64 = -1
        e = graph.pred_start[header]
        while e < graph.pred_start[header + 1]:
            block = graph.pred[e]
            if graph.number[block] >= 0 and not loops.contains(header, block):
                if found >= 0:
                    return b
                found = block
            e += 1
        return found if found >= 0 else b

    # -- sums --------------------------------------------------------------------------------------------

    def _new(self) -> int:
        return opd.reg(self.f.new_reg(R))

    def _new_pair(self) -> int:
        return opd.reg(self.f.new_reg(R2, 2), 0, 2)

    def _make3(self, op: i64, a: i64, b: i64, c: i64, guard: i64 = 0) -> None:
        self.cursor.make2(op, a, b, 0, guard)
        self.cursor.put(c)

    def _factor(self, word: i64, constant: i64) -> i64:
        """A source of a product: a number where it is known."""
        if constant == 0:
            return opd.RZ_OPERAND
        return word if constant == _UNKNOWN else self.f.imm(constant)

    def _times(self, count: i64, value: i64, constant: i64) -> int:
        """So many times an operand."""
        if opd.is_register(value) and opd.count_of(value) > 1:
            return self._times_wide(count, value)
        if constant == 1:
            return count
        if constant == _MASK32:
            total = self._new()
            self.cursor.make4(IADD3, total, opd.RZ_OPERAND, count ^ opd.NEGATE, opd.RZ_OPERAND)
            return total
        return self._product(count, value, constant)

    def _product(self, count: i64, value: i64, constant: i64) -> int:
        total = self._new()
        self.cursor.make4(IMAD, total, count, self._factor(value, constant), opd.RZ_OPERAND)
        return total

    def _times_wide(self, count: i64, value: i64) -> int:
        """So many times an operand of 64 bits."""
        total = self._new_pair()
        self._add_wide(total, count, value, opd.RZ_OPERAND, 0)
        return total

    def _add(self, result: i64, rank: i64, value: i64, constant: i64, found: i64, guard: i64) -> None:
        """The result is what was found and so many times an operand."""
        if constant == 0:
            self.cursor.make2(MOV, result, found, 0, guard)
        elif constant in (1, _MASK32):
            sign = opd.NEGATE if constant != 1 else 0
            self.cursor.make4(IADD3, result, found, rank ^ sign, opd.RZ_OPERAND, 0, guard)
        else:
            self.cursor.make4(IMAD, result, rank, self._factor(value, constant), found, 0, guard)

    def _add_wide(self, result: i64, rank: i64, value: i64, found: i64, guard: i64) -> None:
        """The same in 64 bits."""
        cursor = self.cursor
        known = value == opd.RZ_OPERAND
        low = self._factor(opd.RZ_OPERAND if known else opd.word(value, 0), self._word(value, 0))
        high = self._factor(opd.RZ_OPERAND if known else opd.word(value, 1), self._word(value, 1))
        if high == opd.RZ_OPERAND:
            cursor.make4(IMAD_WIDE, result, rank, low, found, _UNSIGNED, guard)
            return
        total = self._new_pair()
        cursor.make4(IMAD_WIDE, total, rank, low, found, _UNSIGNED)
        cursor.make2(MOV, opd.word(result, 0), opd.word(total, 0), 0, guard)
        cursor.make4(IMAD, opd.word(result, 1), rank, high, opd.word(total, 1), 0, guard)
