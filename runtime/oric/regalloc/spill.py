"""General registers that do not fit wait in local memory, or are made again.

A spilled register has a slot of the stack frame: a store follows each write of it, a load goes before each instruction that
reads it, with a short-lived register in its place. A register that one MOV makes, of a constant or of a word of a constant bank,
needs no slot: the MOV is repeated in front of each reader. Source: Register Model, "Flag Bits at +48"; frames: observed.
"""

from __future__ import annotations

from functools import cache
from typing import Final, final

from mypy_extensions import i64
from oric_tables import ops
from oric_tables._native import ffi, lib
from oric_tables.op import LDL, MOV, STL

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function, P, R
from oric.ir.machine import MachineFunction
from oric.ir.optable import OPS

SPILLED: Final = 0x4000  # flag of a register descriptor: it belongs to a spill and is not spilled again
_STACK_HINT: Final = 1  # R1 is the stack pointer of the ABI
_FRAME_ALIGN: Final = 16
_WORD: Final = 4  # bytes
_WIDEST: Final = 4  # words of one access


def choose(f: Function, view: MachineFunction, file: int, limit: int, allowed: list[bool]) -> list[int]:
    """The registers of a file to be spilled so that no more than ``limit`` words are live at any point.

    Those that are live where too many are, and seldom named, go first. ``view``: the function as it stands, in its own order;
    ``allowed``: by register, whether it may be spilled.
    """
    fn = view.fn
    fixed = bytearray(fn.unit_count + 1)
    for n in range(f.registers()):
        if not allowed[n]:
            for word in range(f.reg_word[n], f.reg_word[n] + f.reg_size[n]):
                fixed[word] = 1
    if lib.oric_liveness(fn):
        raise MemoryError("no memory for liveness")
    chosen = ffi.new("uint32_t[]", fn.unit_count + 1)
    count = lib.oric_spill_choose(fn, bytes(fixed), file, limit, chosen)
    if count < 0:
        raise MemoryError("no memory for the choice of spills")
    return sorted({fn.unit_register[chosen[k]] for k in range(count)})


def cheap(f: Function) -> dict[int, int]:
    """Register -> the instruction that makes it, for registers that one unguarded MOV of a constant makes."""
    found: dict[int, int] = {}
    many: set[int] = set()
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            _note_definitions(f, i, found, many)
            i = f.next[i]
        b += 1
    return {n: i for n, i in found.items() if n not in many and _is_repeatable(f, i)}


def _note_definitions(f: Function, i: i64, found: dict[int, int], many: set[int]) -> None:
    at: i64 = 0
    while at < f.count[i]:
        operand = f.get(i, at)
        if opd.is_register(operand) and OPS.writes_at(f.op[i], at):
            number = operand & opd.INDEX
            if number in found:
                many.add(number)
            found[number] = i
        at += 1


def _is_repeatable(f: Function, i: i64) -> bool:
    """Whether an instruction is a MOV of a constant into a whole register."""
    if f.op[i] != MOV or f.guard[i]:
        return False
    dest, source = f.get(i, 0), f.get(i, 1)
    if f.reg_size[dest & opd.INDEX] != 1:
        return False
    form = source & opd.TYPE
    return form in (opd.IS_IMM, opd.IS_POOL) or (form == opd.IS_SYMBOL and source & opd.CONST_BANK != 0)


def may_be_spilled(f: Function) -> list[bool]:
    """By register: those that have a place in memory, no fixed place, and do not belong to a spill themselves."""
    return [
        f.reg_type[n] != P and not f.reg_flags[n] & SPILLED and f.hint[n] == NONE and 0 < f.reg_size[n] <= _WIDEST
        for n in range(f.registers())
    ]


def spill(f: Function, victims: list[int], repeated: dict[int, int], stack: i64) -> tuple[int, int]:
    """Move registers out of the way; no view of the function may be held. Returns the bytes that are stored and loaded.

    ``repeated``: those that are made again, with the instruction that makes them. ``stack``: offset of the stack pointer in
    bank 0.
    """
    spiller = _Spiller(f, victims, repeated, stack)
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            following = f.next[i]
            spiller.rewrite(i)
            i = following
        b += 1
    for i in repeated.values():
        spiller.cursor.remove(i)
    return spiller.stored, spiller.loaded


@cache
def size_mods(number: int, words: int) -> int:
    """Modifiers of an access to the slot of so many words."""
    mods: int = ops.op(number).pack(size=str(32 * words))
    return mods


@final
class _Spiller:
    """Gives instructions short-lived registers for the spilled ones that they name."""

    def __init__(self, f: Function, victims: list[int], repeated: dict[int, int], stack: int) -> None:
        self.f = f
        self.cursor = Cursor(f)
        self.repeated = repeated
        self.stored = 0
        self.loaded = 0
        self.slots: dict[int, int] = {}  # register -> bytes from the top of the stack down to its slot
        self.base: int = 0
        kept = [n for n in victims if n not in repeated]
        if kept:
            self._make_room(kept, stack)

    def _make_room(self, victims: list[int], stack: int) -> None:
        """Slots below the variables and earlier slots; a register with the top of the stack."""
        f = self.f
        facts = f.attributes
        top = max(facts.frame_size, facts.local_size)
        for n in victims:
            size = _WORD * f.reg_size[n]
            top = -(-(top + size) // size) * size
            self.slots[n] = top
        facts.frame_size = -(-top // _FRAME_ALIGN) * _FRAME_ALIGN
        if not facts.spill_base:
            base = f.new_reg(R)
            f.reg_flags[base] |= SPILLED
            if not f.stack:
                f.hint[base] = _STACK_HINT
            facts.spill_base = opd.reg(base)
            self.cursor.at_start(0)
            self.cursor.make2(MOV, facts.spill_base, opd.const_bank(0, stack))
        self.base = facts.spill_base

    def rewrite(self, i: i64) -> None:
        """One instruction."""
        f = self.f
        read: dict[int, int] = {}  # register -> words as bits
        written: dict[int, int] = {}
        at: i64 = 0
        while at < f.count[i]:
            operand = f.get(i, at)
            number = operand & opd.INDEX
            if opd.is_register(operand) and f.reg_type[number] != P and (number in self.slots or number in self.repeated):
                words = ((1 << opd.count_of(operand)) - 1) << opd.first_of(operand)
                side = written if OPS.writes_at(f.op[i], at) else read
                side[number] = side.get(number, 0) | words
            at += 1
        if (not read and not written) or i in self.repeated.values():
            return
        guard: i64 = f.guard[i]
        if guard and self._writes_guard(i):
            guard = 0  # what it was is not known behind the instruction: the old value is stored again
            for number, words in written.items():
                read[number] = read.get(number, 0) | words
        renamed: dict[int, int] = {}
        for number in sorted({*read, *written}):
            short = f.new_reg(f.reg_type[number], f.reg_size[number])
            f.reg_flags[short] |= SPILLED
            renamed[number] = short
            if number in read:
                self._load(i, number, short, read[number])
            if number in written and f.guard[i]:
                self._clear(i, short, written[number] & ~read.get(number, 0))
            if number in written:
                self._keep(i, number, short, written[number], guard)
        at = 0
        while at < f.count[i]:
            operand = f.get(i, at)
            if opd.is_register(operand) and operand & opd.INDEX in renamed and f.reg_type[operand & opd.INDEX] != P:
                f.set(i, at, opd.with_index(operand, renamed[operand & opd.INDEX]))
            at += 1

    def _load(self, i: i64, number: int, short: int, words: int) -> None:
        """Bring words of a register into a short-lived one in front of an instruction."""
        self.cursor.in_front(i)
        if number in self.repeated:
            made = self.cursor.clone(self.repeated[number])
            self.f.set(made, 0, opd.reg(short))
            return
        for first, count in _accesses(words, self.f.reg_size[number]):
            self.cursor.make(LDL, size_mods(LDL, count))  # unguarded, so that the register lives from here on only
            self.cursor.put(opd.reg(short, first, count))
            self.cursor.put(self.base)
            self.cursor.put(self._offset(number, first))
            self.loaded += _WORD * count

    def _clear(self, i: i64, short: int, words: int) -> None:
        """Begin the life of words that an instruction writes under a guard."""
        self.cursor.in_front(i)
        for n in range(self.f.reg_size[short]):
            if words >> n & 1:
                self.cursor.make2(MOV, opd.reg(short, n), opd.RZ_OPERAND)

    def _writes_guard(self, i: i64) -> bool:
        f = self.f
        at: i64 = 0
        while at < f.count[i]:
            if OPS.writes_at(f.op[i], at) and opd.is_register(f.get(i, at)) and not (f.get(i, at) ^ f.guard[i]) & opd.INDEX:
                return True
            at += 1
        return False

    def _keep(self, i: i64, number: int, short: int, words: int, guard: i64) -> None:
        """Store words of a short-lived register behind the instruction that writes them."""
        self.cursor.behind(i)
        for first, count in _accesses(words, self.f.reg_size[number]):
            self.cursor.make(STL, size_mods(STL, count), guard)
            self.cursor.put(self.base)
            self.cursor.put(self._offset(number, first))
            self.cursor.put(opd.reg(short, first, count))
            self.stored += _WORD * count

    def _offset(self, number: int, first: int) -> i64:
        return self.f.imm(_WORD * first - self.slots[number])


def _accesses(words: int, size: int) -> list[tuple[int, int]]:
    """(first word, number of words) of the accesses for the words that ``words`` has as bits: a whole register in one."""
    if words == (1 << size) - 1 and size in (1, 2, _WIDEST):
        return [(0, size)]
    return [(n, 1) for n in range(size) if words >> n & 1]
