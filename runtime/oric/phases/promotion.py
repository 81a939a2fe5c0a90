"""Phase 23: local variables whose addresses nobody sees are words in registers, which get names with all others. What makes
their addresses is dead then.

A word at a place that is known is that register. One at a place that is computed is chosen by the bits of the place, and
written where the place is that of a register; that takes instructions for each word of the frame, so it is for few words and
accesses. All variables of a kernel become registers, or none.
Source: this project; observed: ptxas 13.0.88 has arrays of few words in registers, with comparisons and selections.
"""

from __future__ import annotations

from typing import Final, NamedTuple, final

from mypy_extensions import i64
from oric_tables import knobs, ops
from oric_tables.op import ADD64, IADD3, IMAD, IMAD_WIDE, LDL, LEA, LOP3, MOV, SEL, STL

from oric.ir import operand as opd
from oric.ir.calls import STACK_ALIGN
from oric.ir.cursor import Cursor
from oric.ir.facts import MASK32
from oric.ir.function import AUX_VOLATILE, NONE, Function, P, R
from oric.ir.operand import SIGNS
from oric.ir.optable import OPS, instructions_with, marked

from .comparing import compare

_ACCESSES: Final = marked((LDL, STL))
_WIDTHS: Final = {"32": 1, "64": 2, "128": 4}  # of accesses in words, by the modifier
_WORD: Final = 4  # bytes
_AND: Final[int] = ops.op(LOP3).pack(lut=0xC0)
_SIZES: Final = {LDL: ops.op(LDL), STL: ops.op(STL)}
_ADDENDS: Final[dict[int, tuple[int, ...]]] = {  # what makes an address of one: the operands that may be it
    MOV: (1,),
    IADD3: (1, 2, 3),
    ADD64: (1, 2),
    IMAD_WIDE: (3,),
    IMAD: (3,),
    LEA: (2,),
}


def promote_locals(f: Function) -> int:
    """Returns how many words of local memory became registers."""
    facts = f.attributes
    size = f.local_bytes
    numbers = f.knobs.numbers
    if not numbers[knobs.PROMOTE_LOCALS] or not size or size > _WORD * numbers[knobs.PROMOTED_WORDS]:
        return 0
    if not f.stack or not f.is_entry:
        return 0
    if f.kept or f.calls or f.sp or f.top or f.subroutine or facts.local_align > STACK_ALIGN:
        return 0
    found = _Frame(f, -(-size // _WORD))
    if not found.is_seen_whole() or not found.is_worth_it():
        return 0
    found.promote()
    facts.local_size = facts.frame_size = f.local_bytes = 0
    facts.local_offsets.clear()
    f.stack = 0
    f.needs.remove("stack")
    return found.words


class _Access(NamedTuple):
    """Instruction ``i`` loads or stores ``width`` words at byte ``place``, or ``offset`` bytes beyond a computed one (-1)."""

    i: int
    place: int
    offset: int
    width: int


@final
class _Frame:
    """The local variables of a kernel, ``words`` of them.

    ``makers``: by word of a register, the instructions that make the address there of another, and which of their operands that
    is; ``places``: by word, how far it is from the start of the frame, where that is one number.
    """

    def __init__(self, f: Function, words: int) -> None:
        self.f = f
        self.words = words
        self.root: int = f.words_of(f.stack)
        self.makers: dict[int, list[tuple[int, int]]] = {self.root: []}
        self.roots: list[int] = []
        self.accesses: list[_Access] = []
        self.offsets: dict[int, int] = {}  # word of an address -> the register with its distance from the start of the frame
        self.cursor = Cursor(f)
        self.registers: list[int] = []

    # -- looking -----------------------------------------------------------------------------------------

    def is_seen_whole(self) -> bool:
        """Whether every use of an address is known."""
        f = self.f
        readers, writers = self._uses()
        waiting = [self.root]
        while waiting:
            word = waiting.pop()
            for i, at in readers.get(word, ()):
                if i in self.roots:
                    continue
                if f.op[i] in _SIZES and at == (1 if f.op[i] == LDL else 0):
                    continue
                made = self._made(i, at) if f.words_of(f.get(i, at)) == word else -1  # else it is the upper word of a number
                if made < 0 or made == self.root:
                    return False
                if made not in self.makers:
                    self.makers[made] = []
                    waiting.append(made)
                self.makers[made].append((i, at))
        for word, found in self.makers.items():
            if word != self.root and set(writers.get(word, ())) != {i for i, _ in found}:
                return False
        return self._find_accesses()

    def _uses(self) -> tuple[dict[int, list[tuple[int, int]]], dict[int, list[int]]]:
        """By word of a register: (instruction, operand) of what reads it, and what writes it; notes what makes the frame."""
        f = self.f
        readers: dict[int, list[tuple[int, int]]] = {}
        writers: dict[int, list[int]] = {}
        b: i64 = 0
        while b < f.blocks():
            i = f.head[b]
            while i != NONE:
                at: i64 = 0
                while at < f.count[i]:
                    operand = f.get(i, at)
                    if opd.is_register(operand):
                        word = f.words_of(operand)
                        end = word + opd.count_of(operand)
                        writes = OPS.writes_at(f.op[i], at)
                        while word < end:
                            if writes:
                                writers.setdefault(word, []).append(int(i))
                                if word == self.root:
                                    self.roots.append(int(i))
                            else:
                                readers.setdefault(word, []).append((int(i), int(at)))
                            word += 1
                    at += 1
                i = f.next[i]
            b += 1
        return readers, writers

    def _made(self, i: i64, at: i64) -> int:
        """The word of a register into which an instruction puts an address made of an operand; -1: it does something else."""
        f = self.f
        op = f.op[i]
        if op not in _ADDENDS or at not in _ADDENDS[op] or f.get(i, at) & SIGNS or (op == MOV and f.mods[i]):
            return -1
        slots = OPS.slots[op]
        other: i64 = 0
        while other < f.count[i]:
            operand = f.get(i, other)
            if other != at and opd.is_register(operand) and f.words_of(operand) in self.makers and not OPS.writes_at(op, other):
                return -1
            if other < slots and OPS.optional[op] >> other & 1 and operand != opd.NO_OPERAND and operand != opd.PT_OPERAND:
                return -1  # a carry
            if other != at and operand & opd.TYPE == opd.IS_POOL and f.links.get(operand & opd.INDEX) is not None:
                return -1
            other += 1
        dest = f.get(i, 0)
        return int(f.words_of(dest)) if opd.is_register(dest) else -1

    def _find_accesses(self) -> bool:
        f = self.f
        for i in instructions_with(f, _ACCESSES):
            base, offset, value = (
                (f.get(i, 1), f.get(i, 2), f.get(i, 0)) if f.op[i] == LDL else (f.get(i, 0), f.get(i, 1), f.get(i, 2))
            )
            width = _WIDTHS.get(str(_SIZES[f.op[i]].unpack(f.mods[i])["size"]), 0)
            form = offset & opd.TYPE
            if not width or f.aux[i] & AUX_VOLATILE or not opd.is_register(base) or f.words_of(base) not in self.makers:
                return False
            if f.count[i] > 3 and f.get(i, 3) != opd.NO_OPERAND:
                return False
            if form != opd.IS_IMM and form != opd.IS_POOL and offset != opd.RZ_OPERAND:
                return False
            beyond = 0 if offset == opd.RZ_OPERAND else int(f.imm_value(offset))
            place = self._place(f.words_of(base), 0)
            if place >= 0:
                place += beyond
                if place < 0 or place % _WORD or place + _WORD * width > _WORD * self.words:
                    return False
            elif width > 1:
                return False
            if f.op[i] == STL and opd.is_register(value) and value & SIGNS:
                return False
            self.accesses.append(_Access(int(i), place, beyond, width))
        return True

    def _place(self, word: int, depth: int) -> int:
        """How far an address is from the start of the frame, -1: that is no one number."""
        f = self.f
        if word == self.root:
            return 0
        if len(self.makers[word]) != 1 or depth > self.f.knobs.numbers[knobs.PROMOTED_STEPS]:
            return -1
        i, at = self.makers[word][0]
        place = self._place(f.words_of(f.get(i, at)), depth + 1)
        if f.guard[i] or place < 0 or f.op[i] not in (MOV, IADD3, ADD64):
            return -1
        other: i64 = 1
        while other < min(f.count[i], OPS.slots[f.op[i]]):
            operand = f.get(i, other)
            form = operand & opd.TYPE
            if other != at and (form == opd.IS_IMM or form == opd.IS_POOL) and not operand & SIGNS:
                place += int(f.imm_value(operand))
            elif other != at and operand not in (opd.RZ_OPERAND, opd.PT_OPERAND, opd.NO_OPERAND):
                return -1
            other += 1
        place = place & MASK32
        return place if place < _WORD * self.words else -1

    def is_worth_it(self) -> bool:
        """Whether the accesses at places that are computed are few enough for so many words.

        Loads that wait for no store are soon there from memory.
        """
        loads = sum(access.place < 0 and self.f.op[access.i] == LDL for access in self.accesses)
        stores = sum(access.place < 0 and self.f.op[access.i] == STL for access in self.accesses)
        numbers = self.f.knobs.numbers
        if (loads + stores) * self.words > numbers[knobs.PROMOTED_CHOICES]:
            return False
        if loads + stores == 0 or self.words <= numbers[knobs.PROMOTED_FEW]:
            return True
        return self.words <= numbers[knobs.PROMOTED_COMPUTED] and loads <= 2 * stores

    # -- changing ----------------------------------------------------------------------------------------

    def promote(self) -> None:
        """Let registers be what was memory."""
        f, cursor = self.f, self.cursor
        self.registers = [opd.reg(f.new_reg(R)) for _ in range(self.words)]
        if any(access.place < 0 for access in self.accesses):
            self._keep_offsets()
        for access in self.accesses:
            cursor.in_front(access.i)
            cursor.line = f.line[access.i]
            if access.place >= 0:
                self._at_place(access)
            elif f.op[access.i] == LDL:
                self._load(access)
            else:
                self._store(access)
            cursor.remove(access.i)
        cursor.at_start(0)
        for register in self.registers:
            cursor.make2(MOV, register, opd.RZ_OPERAND)

    def _keep_offsets(self) -> None:
        """Beside every address its distance from the start of the frame, in a register."""
        f, cursor = self.f, self.cursor
        for word in self.makers:
            self.offsets[word] = opd.RZ_OPERAND if word == self.root else opd.reg(f.new_reg(R))
        for word, found in self.makers.items():
            for i, at in found:
                cursor.in_front(i)
                cursor.line = f.line[i]
                offset = self.offsets[f.words_of(f.get(i, at))]
                self._derive(i, at, self.offsets[word], offset)

    def _derive(self, i: i64, at: int, dest: int, offset: int) -> None:
        f, cursor = self.f, self.cursor
        op = f.op[i]
        guard = f.guard[i]
        if op == MOV:
            cursor.make2(MOV, dest, offset, 0, guard)
        elif op == ADD64:
            cursor.make4(IADD3, dest, offset, self._low(f.get(i, 3 - at)), opd.RZ_OPERAND, 0, guard)
        elif op == IMAD_WIDE:
            cursor.make4(IMAD, dest, f.get(i, 1), f.get(i, 2), offset, 0, guard)
        else:
            cursor.make(op, f.mods[i], guard)
            other: i64 = 0
            while other < f.count[i]:
                cursor.put(dest if other == 0 else offset if other == at else f.get(i, other))
                other += 1

    def _low(self, operand: i64) -> int:
        """The lower word of an operand of 64 bits."""
        f = self.f
        form = operand & opd.TYPE
        if opd.is_register(operand):
            return opd.word(operand, 0)
        if form == opd.IS_IMM or form == opd.IS_POOL:
            low = f.imm_value(operand) & MASK32
            return f.imm(low) if low else opd.RZ_OPERAND
        return operand  # a place of a constant bank, whose first word that is, or nothing

    def _at_place(self, access: _Access) -> None:
        f, cursor = self.f, self.cursor
        i = access.i
        first = access.place // _WORD
        for k in range(access.width):
            own = self.registers[first + k]
            if f.op[i] == LDL:
                cursor.make2(MOV, opd.word(f.get(i, 0), k), own, 0, f.guard[i])
            else:
                cursor.make2(MOV, own, self._word(f.get(i, 2), k), 0, f.guard[i])

    def _word(self, operand: i64, k: i64) -> int:
        return opd.word(operand, k) if opd.is_register(operand) else operand

    def _offset(self, access: _Access) -> int:
        """A register with the place of an access, in front of it."""
        f, cursor = self.f, self.cursor
        base = f.get(access.i, 1 if f.op[access.i] == LDL else 0)
        found = self.offsets[f.words_of(base)]
        if not access.offset:
            return found
        made = opd.reg(f.new_reg(R))
        cursor.make4(IADD3, made, found, f.imm(access.offset & MASK32), opd.RZ_OPERAND)
        return made

    def _load(self, access: _Access) -> None:
        """Halve the words by each bit of the place until one is left."""
        f, cursor = self.f, self.cursor
        place = self._offset(access)
        values = list(self.registers)
        bit = _WORD
        while len(values) > 1:
            odd = opd.reg(f.new_reg(P))
            cursor.make(LOP3, _AND)
            for operand in (opd.RZ_OPERAND, place, f.imm(bit), opd.RZ_OPERAND, odd):
                cursor.put(operand)
            halved: list[int] = []
            for k in range(0, len(values) - 1, 2):
                chosen = opd.reg(f.new_reg(R))
                cursor.make4(SEL, chosen, values[k + 1], values[k], odd)
                halved.append(chosen)
            if len(values) % 2:
                halved.append(values[-1])
            values = halved
            bit *= 2
        cursor.make2(MOV, f.get(access.i, 0), values[0], 0, f.guard[access.i])

    def _store(self, access: _Access) -> None:
        """Write the value into the register whose place it is."""
        f, cursor = self.f, self.cursor
        place, value = self._offset(access), f.get(access.i, 2)
        for k, own in enumerate(self.registers):
            number = f.imm(_WORD * k) if k else opd.RZ_OPERAND
            here = compare(cursor, "EQ", "U32", place, number, f.guard[access.i])
            cursor.make2(MOV, own, value, 0, here)
