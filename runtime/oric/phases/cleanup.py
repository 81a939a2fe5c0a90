"""Removal of code without effect, and the structural checks at the two ends of the bridge phases."""

from __future__ import annotations

from typing import Final, final

from librt.vecs import append, vec
from mypy_extensions import i64
from oric_tables import op as op_numbers
from oric_tables import ops
from oric_tables.op import MOV, WARPSYNC
from oric_tables.phases import USES

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import AUX_ALONE, AUX_APART, AUX_VOLATILE, NONE, Function
from oric.ir.optable import ATOMIC, KIND_PRED, MEMORY, OPS, PINNED, SLOTS, WARP, written_registers
from oric.ir.passes import PassContext
from oric.ir.verify import verify
from oric.ir.words import WordList
from oric.support.arrays import nones, zeros

_KEPT: Final = MEMORY | PINNED  # whose further results are no choice
_EXCLUSIVE: Final[int] = ops.op(WARPSYNC).pack(exclusive=True)


def check_initial_program(f: Function, ctx: PassContext) -> bool:
    """Phase 0: refuse malformed code; control flow may still stand inside blocks."""
    verify(f, "lowering")
    return False


def sanitize(f: Function, ctx: PassContext) -> bool:
    """Phase 12: the same with control flow last in its block."""
    verify(f, "the bridge phases")
    return False


def remove_dead_code(f: Function, ctx: PassContext) -> bool:
    """Remove instructions whose results nobody reads, also round loops.

    Registers are taken as wholes in time: a word is live when any instruction that stays reads it; but not what the same block
    writes again before anybody reads it.
    """
    marks = _Marks(f)
    if not works_together(f):
        _mark_overwritten(f, marks.needed)
    marks.run()
    dead, dropped = _remove(f, marks)
    ctx.count("dead instructions", dead)
    if dead or dropped:
        f.analyses.forget(USES)
    return dead + dropped != 0


def works_together(f: Function, what: i64 = WARP) -> bool:
    """Whether threads of a warp exchange something: who does not want it any more may be waited for by others elsewhere."""
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            if OPS.flags[f.op[i]] & what:
                return True
            i = f.next[i]
        b += 1
    return False


def _mark_overwritten(f: Function, needed: vec[i64]) -> None:
    """Mark with -1 what only writes what its block writes again before anybody reads it."""
    scratch = WordList()
    again = zeros(f.words)  # the stretch in which a word is written behind the place at hand, and not read before
    stretch: i64 = 0  # a block, or the part of it between two calls, counted from 1
    b: i64 = 0
    while b < f.blocks():
        stretch += 1
        i = f.tail[b]
        while i != NONE:
            scratch.clear()
            if OPS.writes[f.op[i]]:
                scratch.add_writes(f, i)
            at: i64 = 0
            if scratch.count and not f.aux[i] and not OPS.flags[f.op[i]] & PINNED:
                while at < scratch.count and again[scratch.words[at]] == stretch:
                    at += 1
                if at == scratch.count:
                    needed[i] = -1
                    i = f.prev[i]
                    continue
            if OPS.flags[f.op[i]] & op_numbers.E_CALL:
                stretch += 1
            at = 0
            while at < scratch.count and not f.guard[i]:
                again[scratch.words[at]] = stretch
                at += 1
            scratch.clear()
            scratch.add_reads(f, i)
            at = 0
            while at < scratch.count:
                again[scratch.words[at]] = 0
                at += 1
            i = f.prev[i]
        b += 1


@final
class _Marks:
    """What stays: ``needed[i]`` (1; -1: it is known to go) and ``live[w]``. The definitions of each word are lists: ``def_next``,
    ``def_of``."""

    def __init__(self, f: Function) -> None:
        self.f = f
        self.needed = zeros(f.instructions())
        self.live = zeros(f.words)
        self.def_head = nones(f.words)
        self.def_next = vec[i64]()
        self.def_of = vec[i64]()
        self.stack = vec[i64]()
        self.depth: int = 0
        self.partners: dict[int, list[int]] = {}  # by operation, what threads of a mask may come to at several places

    def run(self) -> None:
        """Mark what has an effect, then what it needs."""
        f = self.f
        b: i64 = 0
        while b < f.blocks():
            i = f.head[b]
            while i != NONE:
                if self.needed[i] < 0:
                    pass
                elif OPS.flags[f.op[i]] & PINNED or f.aux[i] & AUX_VOLATILE or not OPS.writes[f.op[i]]:
                    self._need(i)
                else:
                    self._note_definitions(i)
                if f.aux[i] & AUX_APART and OPS.flags[f.op[i]] & WARP:
                    self.partners.setdefault(f.op[i], []).append(i)
                i = f.next[i]
            b += 1
        while self.depth > 0:
            self.depth -= 1
            i = self.stack[self.depth]
            self._mark_sources(i)
            if f.aux[i] & AUX_APART:
                self._mark_partners(i)

    def _mark_partners(self, i: i64) -> None:
        """Threads at other places may be what those at this one wait for, though nobody needs what they get."""
        f = self.f
        partners = self.partners.pop(f.op[i], [])
        if any(f.block[other] != f.block[i] for other in partners):
            for other in partners:
                self._need(other)
                made = [operand & opd.INDEX for operand in written_registers(f, other)]
                following = f.next[other]  # what takes its result out of a uniform register is part of it
                while following != NONE and f.op[following] == MOV and f.get(following, 1) & opd.INDEX in made:
                    self._need(following)
                    following = f.next[following]

    def _note_definitions(self, i: i64) -> None:
        f = self.f
        mask = OPS.writes[f.op[i]]
        at: i64 = 0
        while mask >> at and at < f.count[i]:
            operand = f.operand[f.first[i] + at]
            if mask >> at & 1 and opd.is_register(operand):
                word = f.words_of(operand)
                end = word + opd.count_of(operand)
                while word < end:
                    self.def_next = append(self.def_next, self.def_head[word])
                    self.def_of = append(self.def_of, i)
                    self.def_head[word] = len(self.def_of) - 1
                    word += 1
            at += 1

    def _need(self, i: i64) -> None:
        if self.needed[i]:
            return
        self.needed[i] = 1
        if self.depth == len(self.stack):
            self.stack = append(self.stack, i)
        else:
            self.stack[self.depth] = i
        self.depth += 1

    def _mark_sources(self, i: i64) -> None:
        f = self.f
        mask = OPS.writes[f.op[i]]
        at: i64 = 0
        while at < f.count[i]:
            if not mask >> at & 1:
                self._mark(f.operand[f.first[i] + at])
            at += 1
        self._mark(f.guard[i])

    def _mark(self, operand: i64) -> None:
        f = self.f
        if not opd.is_register(operand):
            return
        word = f.words_of(operand)
        end = word + opd.count_of(operand)
        while word < end:
            if not self.live[word]:
                self.live[word] = 1
                entry = self.def_head[word]
                while entry != NONE:
                    self._need(self.def_of[entry])
                    entry = self.def_next[entry]
            word += 1


def _remove(f: Function, marks: _Marks) -> tuple[i64, i64]:
    """Take out what is not needed; what stays for its effect alone writes RZ and PT, and nobody is left a predicate that
    nobody reads. Returns how many instructions each was."""
    cursor = Cursor(f)
    flags = OPS.flags
    dead: i64 = 0
    dropped: i64 = 0
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            following = f.next[i]
            if marks.needed[i] <= 0:
                if f.aux[i] & AUX_APART and f.prev[i] != NONE:
                    _let_wait_alone(f, f.prev[i])
                cursor.remove(i)
                dead += 1
            elif flags[f.op[i]] & ATOMIC and _is_for_effect(f, i, marks) and _drop_results(f, i):
                _shorten(cursor, i)
                dropped += 1
            elif OPS.writes[f.op[i]] > 1 and not flags[f.op[i]] & _KEPT and _drop_predicates(f, i, marks):
                dropped += 1
            i = following
        b += 1
    return dead, dropped


def _let_wait_alone(f: Function, before: i64) -> None:
    """A WARPSYNC stays though what its mask was for goes: it is not for what stands behind it, and tells no threads apart."""
    if f.op[before] == WARPSYNC:
        f.set_mods(before, f.mods[before] & ~_EXCLUSIVE)
        f.aux[before] |= AUX_ALONE


def _is_for_effect(f: Function, i: i64, marks: _Marks) -> bool:
    """Whether nobody reads what an atomic gives; that of an acquire is waited for all the same."""
    return not f.aux[i] & AUX_VOLATILE and not _writes_live(f, i, marks)


def _writes_live(f: Function, i: i64, marks: _Marks) -> bool:
    mask = OPS.writes[f.op[i]]
    at: i64 = 0
    while mask >> at and at < f.count[i]:
        operand = f.operand[f.first[i] + at]
        if mask >> at & 1 and opd.is_register(operand):
            word = f.words_of(operand)
            end = word + opd.count_of(operand)
            while word < end:
                if marks.live[word]:
                    return True
                word += 1
        at += 1
    return False


def _drop_results(f: Function, i: i64) -> bool:
    """Let an instruction that stays for its effect write RZ and PT; whether it did not before."""
    changed = False
    mask = OPS.writes[f.op[i]]
    at: i64 = 0
    while mask >> at and at < f.count[i]:
        if mask >> at & 1 and f.get(i, at) != opd.NO_OPERAND:
            nothing: i64 = opd.PT_OPERAND if OPS.kind[f.op[i] * SLOTS + at] == KIND_PRED else opd.RZ_OPERAND
            if f.get(i, at) != nothing:
                f.set(i, at, nothing)
                changed = True
        at += 1
    return changed


def _drop_predicates(f: Function, i: i64, marks: _Marks) -> bool:
    """Leave out the predicates behind the first result of an instruction that nobody reads, or make them PT where some forms
    have to have one; whether there were any."""
    changed = False
    mask = OPS.writes[f.op[i]]
    at: i64 = 1
    while mask >> at and at < f.count[i]:
        operand = f.get(i, at)
        if mask >> at & 1 and opd.is_register(operand) and f.is_predicate(operand) and not marks.live[f.words_of(operand)]:
            f.set(i, at, opd.PT_OPERAND if OPS.flags[f.op[i]] & WARP else opd.NO_OPERAND)
            changed = True
        at += 1
    return changed


def _shorten(cursor: Cursor, i: i64) -> None:
    """Make of an atomic whose results nobody reads the operation that gives none, where there is one that does the same."""
    f = cursor.f
    number = OPS.unread[f.op[i]]
    if not number:
        return
    before, behind = ops.op(f.op[i]), ops.op(number)
    names = before.unpack(f.mods[i])
    if any(isinstance(v, str) and v not in behind.mods[n].values for n, v in names.items() if behind.mods[n].values):
        return
    kept = []
    for operand in behind.operands:
        at = before.index(operand.name)
        kept.append(f.get(i, at) if at < f.count[i] else opd.NO_OPERAND)
    cursor.rewrite(i, number, behind.pack(**names), len(kept))
    for at, bits in enumerate(kept):
        f.set(i, at, bits)
