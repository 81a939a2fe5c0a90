"""Phase 48: loads take what is known to be in memory, and stores that nobody sees go.

A weak load whose bytes were loaded or stored before, at the same address and with nothing in between that may write there, takes
them from the register that has them: other threads' writes are seen by weak loads through synchronization alone, and whatever
may be that forgets all that is known. A weak store goes when a later one of its block writes all of its bytes again and nothing
in between may read them or order memory. Addresses are told apart by their spaces and by the distance from one register; all
others may be the same. What is known goes on into blocks that control enters from one other block.
Source: PTX ISA, "Memory Consistency Model"; observed (ptxas 13.0.88, which shares loads of one width, takes stored values and
drops stores in all spaces, but does no more of it where some other store of the space stands in between).
"""

from __future__ import annotations

from typing import Final, final

from librt.vecs import vec
from mypy_extensions import i64
from oric_rules.matchers import BASE, DEFAULT, OFFSET
from oric_tables import knobs, ops
from oric_tables.op import MOV, PRMT

from oric.ir import operand as opd
from oric.ir.conditions import signed
from oric.ir.cursor import Cursor
from oric.ir.facts import is_absent
from oric.ir.function import AUX_VOLATILE, NONE, Function, control_flow
from oric.ir.optable import (
    ATOMIC,
    BARRIER,
    CALL,
    CONSTANT,
    CONVERGENCE,
    FENCE,
    GLOBAL,
    LOAD,
    LOCAL,
    OPS,
    SHARED,
    SIDE_EFFECT,
    STORE,
    WARP,
    WIDE,
    written_registers,
)
from oric.ir.passes import PassContext
from oric.support.arrays import zeros

_ORDERS: Final = ATOMIC | BARRIER | CALL | CONVERGENCE | FENCE | SIDE_EFFECT
_SPACES: Final = SHARED | LOCAL | GLOBAL  # an access of none of them is generic
_WORD: Final = 4  # bytes
_BYTES: Final = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "32": 4, "64": 8, "128": 16}
# What PRMT makes a word of, with RZ for its second source: bytes of the first, zeros or signs. In steps: from the next byte on.
_SELECTED: Final = {"U8": 0x4440, "S8": 0x8880, "U16": 0x4410, "S16": 0x9910}
_STEPS: Final = {"U8": 0x0001, "S8": 0x1111, "U16": 0x0011, "S16": 0x1111}
_UNREADABLE: Final = NONE  # in place of a size


def forward_values(f: Function, ctx: PassContext) -> bool:
    """Returns whether any access is gone."""
    if f.for_debugger:
        return False
    walk = _Walk(f)
    walk.run()
    ctx.count("loads of what is in a register", walk.loads)
    ctx.count("stores that are written over", walk.stores)
    if not walk.loads and not walk.stores:
        return False
    f.merged = True  # the copies are read through, and what is computed of them looks equal
    return True


@final
class _Form:
    """What an operation is as an access: places of its operands, where the size stands in its modifiers, bytes by its codes."""

    __slots__ = ("base", "bytes", "data", "desc", "mask", "names", "offset", "others", "shift", "space")

    def __init__(self, op: i64) -> None:
        row = ops.op(op)
        names = [operand.name for operand in row.operands]
        size = row.mods["size"]
        self.base: int = BASE[op] - 1
        self.offset: int = OFFSET[op]
        sized = [n for n, operand in enumerate(row.operands) if not isinstance(operand.regs, int)]
        self.data = next(n for n in sized if n != self.base)
        self.desc = names.index("desc") if "desc" in names else NONE
        taken = (self.base, self.offset, self.data, self.desc)
        self.others = [n for n in range(len(names)) if n not in taken]
        self.shift: int = size.shift
        self.mask: int = size.mask
        self.names = {code: name for name, code in size.values.items()}
        self.bytes = {code: _BYTES.get(name, _UNREADABLE) for name, code in size.values.items()}
        self.space: int = OPS.flags[op] & _SPACES


_FORMS: Final[dict[int, _Form | None]] = {}  # by operation, made when it is met for the first time


def _form_of(op: int) -> _Form | None:
    """The form of an operation, None where its accesses are not told apart."""
    if op not in _FORMS:
        _FORMS[op] = _made_form(op)
    return _FORMS[op]


def _made_form(op: i64) -> _Form | None:
    """The form of an operation that does nothing but access memory at a register and a distance; None for all others."""
    flags = OPS.flags[op]
    if BASE[op] <= 0 or flags & (_ORDERS | WARP | CONSTANT) or (flags & LOAD != 0 and flags & STORE != 0):
        return None
    if (not flags & WIDE and not OPS.order_mask[op]) or "size" not in ops.op(op).mods:
        return None
    return _Form(op)


@final
class _Place:
    """Bytes of memory. ``value``: the register that has them, NO_OPERAND when none is known; ``store``: the instruction that
    wrote them and whose work nobody may have seen yet, ``NONE`` for none. ``code``: the size of a load, which says as well how
    its value is extended, ``NONE`` of a store; ``rest``: other modifiers.
    """

    __slots__ = ("base", "code", "desc", "form", "offset", "op", "rest", "size", "space", "store", "value")

    def __init__(self, form: _Form, op: int, mods: int, base: int, desc: int, offset: int, value: int) -> None:
        self.form = form
        self.space = form.space
        self.op = op
        self.code = mods >> form.shift & form.mask
        self.rest = mods & ~(form.mask << form.shift)
        self.size = form.bytes.get(self.code, _UNREADABLE)
        self.base = base
        self.desc = desc
        self.offset = offset
        self.value = value
        self.store: int = NONE

    def again(self) -> _Place:
        """The same place in another block, where what is stored may be seen."""
        made = _Place(self.form, self.op, self.rest, self.base, self.desc, self.offset, self.value)
        made.code = self.code
        made.size = self.size
        return made

    def is_beside(self, other: _Place) -> bool:
        """Whether a place is at a known distance from another one."""
        return self.base == other.base and self.space == other.space and self.desc == other.desc

    def meets(self, other: _Place) -> bool:
        """Whether two places may have a byte in common."""
        if self.space != other.space and self.space and other.space:
            return False
        if self.base != other.base or self.space != other.space:
            return True
        return self.offset < other.offset + other.size and other.offset < self.offset + self.size

    def holds(self, other: _Place) -> bool:
        """Whether all bytes of a place that is beside this one are part of it."""
        return self.offset <= other.offset and other.offset + other.size <= self.offset + self.size


@final
class _Walk:
    """One walk over the blocks, each behind the one that it is entered from."""

    def __init__(self, f: Function) -> None:
        self.f = f
        self.cursor = Cursor(f)
        self.places: list[_Place] = []  # what is known at this point, the latest last
        self.ends: dict[int, list[_Place]] = {}  # what was known at the ends of blocks that others are entered from alone
        self.named = zeros(f.words)  # words that a place has named: few of them are written again
        self.loads: int = 0  # that are gone
        self.stores: int = 0

    def run(self) -> None:
        """Walk over all reachable blocks."""
        f = self.f
        graph = control_flow(f)
        at: i64 = 0
        while at < graph.reachable:
            b = graph.order[at]
            self._enter(b, graph.pred_start, graph.pred)
            i = f.head[b]
            while i != NONE:
                following = f.next[i]
                self._visit(i)
                i = following
            if self.places:
                self.ends[int(b)] = self.places
            at += 1

    def _enter(self, b: i64, start: vec[i64], pred: vec[i64]) -> None:
        """Begin a block with what is known where control comes from, if that is one block; its stores may be seen elsewhere."""
        self.places = []
        if start[b + 1] - start[b] != 1:
            return
        for known in self.ends.get(int(pred[start[b]]), ()):
            if known.value != opd.NO_OPERAND:
                self.places.append(known.again())

    def _visit(self, i: i64) -> None:
        f = self.f
        op = f.op[i]
        flags = OPS.flags[op]
        if flags & _ORDERS or f.aux[i] & AUX_VOLATILE:
            self.places.clear()
        elif flags & (LOAD | STORE) and not flags & CONSTANT:
            place = self._place(i)
            if self._is_strong(i) or (flags & STORE != 0 and place is None):
                self.places.clear()
            elif flags & STORE:
                assert place is not None
                self._store(i, place)
            elif place is None:
                self._show(None)
            else:
                stays = self._load(i, place)
                self._forget_written(i)  # copies in its place write the same
                if stays and not f.guard[i] and opd.is_register(place.value) and not _overlap(place.base, place.value):
                    self._remember(place)
                return
        elif flags & WARP:
            self._show(None)
        if self.places:
            self._forget_written(i)

    def _is_strong(self, i: i64) -> bool:
        """Whether an access is one of those that threads agree by: a strong load or store."""
        f = self.f
        op = f.op[i]
        return OPS.is_strong(f, i) or OPS.order_strong[op] >> (f.mods[i] >> OPS.order_shift[op] & OPS.order_mask[op]) & 1 != 0

    # -- places ------------------------------------------------------------------------------------------

    def _place(self, i: i64) -> _Place | None:
        """The bytes that an instruction accesses; None where they are not at a known distance from a register."""
        f = self.f
        op = f.op[i]
        form = _form_of(int(op))
        if form is None:
            return None
        base, offset = f.get(i, form.base), f.get(i, form.offset)
        if f.aux[i] or f.mods[i] & DEFAULT[op] or base & opd.SIGNS or base & opd.TYPE != opd.IS_REG:
            return None
        if is_absent(offset) or offset & opd.TYPE not in (opd.IS_IMM, opd.IS_POOL):
            return None
        for at in form.others:
            operand = f.get(i, at)
            if not is_absent(operand) and operand != opd.PT_OPERAND:
                return None
        data = f.get(i, form.data)
        if data & opd.TYPE != opd.IS_REG or data & opd.SIGNS:
            return None
        desc = int(f.get(i, form.desc)) if form.desc != NONE else 0
        place = _Place(form, int(op), int(f.mods[i]), int(base), desc, int(signed(f.imm_value(offset))), int(data))
        return place if place.size != _UNREADABLE else None

    def _remember(self, place: _Place) -> None:
        """Note a place behind all others; the oldest one goes where there are too many."""
        if len(self.places) >= self.f.knobs.numbers[knobs.FORWARD_PLACES]:
            del self.places[0]
        self.places.append(place)
        for operand in (place.base, place.desc, place.value):
            self._name(operand)

    def _name(self, operand: i64) -> None:
        if opd.is_register(operand):
            word = self.f.words_of(operand)
            end = word + opd.count_of(operand)
            while word < end:
                self.named[word] = 1
                word += 1

    def _forget_written(self, i: i64) -> None:
        """What an instruction writes is no longer what places are said by, or what they have."""
        for operand in written_registers(self.f, i):
            word = self.f.words_of(operand)
            end = word + opd.count_of(operand)
            while word < end and not self.named[word]:
                word += 1
            if word < end:
                self._forget(operand)

    def _forget(self, written: i64) -> None:
        kept = []
        for place in self.places:
            if _overlap(place.base, written) or _overlap(place.desc, written):
                continue
            if _overlap(place.value, written):
                place.value = opd.NO_OPERAND
            if place.value != opd.NO_OPERAND or place.store != NONE:
                kept.append(place)
        self.places = kept

    # -- accesses ----------------------------------------------------------------------------------------

    def _store(self, i: i64, place: _Place) -> None:
        """Drop the stores that this one writes over; what may be where it writes is no longer known."""
        kept = []
        guarded = self.f.guard[i] != 0
        for other in self.places:
            if not other.meets(place):
                kept.append(other)
                continue
            if other.store != NONE and not guarded and other.is_beside(place) and place.holds(other):
                if other.op == place.op and other.rest == place.rest:
                    self.cursor.remove(other.store)
                    self.stores += 1
                    continue
            other.value = opd.NO_OPERAND
            if other.store != NONE:
                kept.append(other)
        self.places = kept
        if not guarded:
            place.store = int(i)
            place.code = NONE
            self._remember(place)

    def _load(self, i: i64, place: _Place) -> bool:
        """Let a load take what is known; whether it stays, and has seen what is stored."""
        at = len(self.places) - 1
        while at >= 0:
            other = self.places[at]
            if other.value != opd.NO_OPERAND and other.is_beside(place) and other.holds(place) and self._take(i, place, other):
                self.loads += 1
                return False
            at -= 1
        self._show(place)
        return True

    def _show(self, place: _Place | None) -> None:
        """Stores at a place are seen, all of them where it is not known."""
        for other in self.places:
            if other.store != NONE and (place is None or other.meets(place)):
                other.store = NONE
        if any(other.value == opd.NO_OPERAND and other.store == NONE for other in self.places):
            self.places = [other for other in self.places if other.value != opd.NO_OPERAND or other.store != NONE]

    def _take(self, i: i64, place: _Place, other: _Place) -> bool:
        """Make copies of a load whose bytes are those of another place; False when that is no use."""
        f = self.f
        if place.rest != other.rest or (place.op != other.op and place.rest):
            return False
        target: i64 = place.value
        if not opd.is_register(target):
            return False
        first, skipped = divmod(place.offset - other.offset, _WORD)
        self.cursor.in_front(i)
        if place.size >= _WORD:
            if skipped or other.size < _WORD or not self._copy(i, target, other.value, first):
                return False
        elif other.code == place.code and other.size == place.size:
            if not self._copy(i, target, other.value, 0):
                return False
        elif skipped + place.size > _WORD:
            return False
        else:
            name = place.form.names[place.code]
            selected: i64 = _SELECTED[name] + skipped * _STEPS[name]
            self.cursor.make4(PRMT, target, _word(other.value, first), f.imm(selected), opd.RZ_OPERAND, guard=f.guard[i])
        self.cursor.remove(i)
        return True

    def _copy(self, i: i64, target: i64, source: i64, first: i64) -> bool:
        """Copy words of a register from one on to another register; False where that would overwrite what it reads."""
        count = opd.count_of(target)
        n: i64 = 0
        if not (source ^ target) & opd.INDEX:
            while n < count and opd.word(target, n) == opd.word(source, first + n):
                n += 1
            return n == count  # it has them already
        while n < count:
            self.cursor.make2(MOV, opd.word(target, n), _word(source, first + n), guard=self.f.guard[i])
            n += 1
        return True


def _word(operand: i64, at: i64) -> i64:
    """A word of a register; RZ is as wide as is asked for."""
    return opd.word(operand, at) if opd.is_register(operand) else opd.RZ_OPERAND


def _overlap(operand: i64, written: i64) -> bool:
    """Whether two operands have a word in common."""
    if not opd.is_register(operand) or (operand ^ written) & opd.INDEX:
        return False
    first, other = opd.first_of(operand), opd.first_of(written)
    return first < other + opd.count_of(written) and other < first + opd.count_of(operand)
