"""Runs a function as one thread does, and notes what others see of it: to compare a function before and after a phase.

Values are those of ``spec/values`` (:c:func:`oric_value`). What is opaque gives a hash of operation, modifiers and sources,
so that equal computations stay equal. Registers, constants, special registers and memory begin as a hash of their place and of
the seed. Memory remembers what the thread stores; at a barrier, a fence, a call or an atomic operation other threads may have
changed it, and everything is unknown anew. Branches follow their predicates.

*Events* are what a phase must keep, in order: stores, volatile and strong loads, atomics, barriers, fences, calls, everything
with a side effect, and the end. Not among them: plain loads, which may go when nobody reads them, stores into local memory, which
no other thread sees, and the convergence of threads, as there is only one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from oric_tables import numbers, op, ops
from oric_tables._native import ffi, lib
from oric_tables.operand_kinds import STABLE_SPECIAL
from oric_tables.values import HAS_VALUE, UNSEEN

from . import operand as opd
from .attributes import UNPLACED
from .function import AUX_VOLATILE, NONE, UP, UR, B, Function, P
from .module import BANK_COMPILER
from .optable import ATOMIC, BARRIER, CONSTANT, CONTROL, CONVERGENCE, EXIT, FENCE, INDIRECT, LOAD, OPS, PINNED, SPECIAL, STORE
from .phis import value_from
from .special import largest_special
from .text import format_instruction

Event = tuple[Any, ...]
STORED: Final = "stored"  # begins the event of a plain store
STEPS: Final = 800
_FEW: Final = 15
_M32: Final = 0xFFFFFFFF
_M64: Final = 0xFFFFFFFFFFFFFFFF
_PLACES: Final = numbers.INSN_OPERANDS
_SMALL: Final = (0, 0, 0, 0, 1, 1, 2, 3, 4, 31, 32, 64, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x3F800000)
_SIZE: Final = re.compile(r"(?:U\.)?(?:([US])(8|16)|(32|64|128))\Z")
_OTHERS: Final = ATOMIC | BARRIER | FENCE | op.E_CALL  # after them memory is what other threads have made of it
_FILES: Final = frozenset({UR, P, UP, B})  # what is of another type is a general-purpose register
_PREDICATE_KINDS: Final = ("pred", "upred")


def mixed(*parts: int) -> int:
    """64 bits that depend on all parts."""
    h = 0x9E3779B97F4A7C15
    for part in parts:
        h = (h ^ part & _M64 ^ part >> 64) * 0xFF51AFD7ED558CCD & _M64
        h ^= h >> 32
    h = h * 0xC4CEB9FE1A85EC53 & _M64
    return h ^ h >> 29


def word_of(*parts: int) -> int:
    """A word that depends on all parts; every other one is a special number."""
    h = mixed(*parts)
    return _SMALL[h >> 40 & 15] if h >> 63 else h & _M32


# What an access may be besides, while it does nothing more than read or write memory.
_OF_ACCESSES: Final = op.E_SHARED | op.E_LOCAL | op.E_GLOBAL | op.E_COMMON | op.E_WIDE


_NAMED: Final = ("Ra", "off", "URa", "cb", "Rd", "URd", "Rb", "desc")


class _Access:
    """An access to memory: places of its operands."""

    def __init__(self, row: ops.Op) -> None:
        names = [o.name for o in row.operands]
        self.space = next((s for s in (op.E_SHARED, op.E_LOCAL, op.E_CONSTANT) if row.effects & s), 0)
        self.places = {name: names.index(name) for name in _NAMED if name in names}
        self.address = frozenset(self.places[name] for name in ("Ra", "off", "URa") if name in self.places)
        self.unknown = [  # source predicates: with one that is not PT the access is not plain
            at for at, o in enumerate(row.operands) if o.kind == "pred"
        ]


def _addressed() -> dict[int, _Access]:
    """Operations that access memory at a sum of registers and an offset."""
    rows = [row for row in ops.OPS if row is not None and row.effects & (LOAD | STORE | ATOMIC)]
    return {row.number: _Access(row) for row in rows if _has_address(row)}


def _has_address(row: ops.Op) -> bool:
    kinds = {o.name: o.kind for o in row.operands}
    return "Ra" in kinds and kinds.get("off") == "imm"


def _plain_accesses() -> dict[int, _Access]:
    found = {}
    for row in ops.OPS:
        if row is None or "size" not in row.mods or not all(map(_SIZE.match, row.mods["size"].values)):
            continue
        constant = any(o.name == "cb" for o in row.operands)
        if constant or (row.effects & ~_OF_ACCESSES in (LOAD, STORE) and _has_address(row)):
            found[row.number] = _Access(row)
    return found


PLAIN: Final = _plain_accesses()
ADDRESSED: Final = _addressed()
# Atomics whose results nobody reads, and what passes make of them -> the name of what both do: one without results.
_UNREAD: Final = {
    number: ops.op(unread or number)
    for number, unread in enumerate(OPS.unread)
    if unread or number in frozenset(OPS.unread)
    if number
}


class Instruction:
    """One instruction taken apart: what an execution needs again and again."""

    def __init__(self, f: Function, i: int) -> None:
        self.number = i
        self.op = f.op[i]
        self.mods = f.mods[i] & _M64
        self.aux = f.aux[i]
        self.guard = f.guard[i]
        self.row = ops.op(self.op)
        self.flags = OPS.flags[self.op]
        self.operands = [int(f.get(i, at)) for at in range(f.count[i])]
        self.results: list[tuple[int, int]] = []  # place, operand
        self.sources: list[tuple[int, int]] = []
        for at, operand in enumerate(self.operands):
            if operand not in (0, opd.NO_OPERAND):
                (self.results if OPS.writes_at(self.op, at) else self.sources).append((at, operand))
        self.marks = ffi.new("int64_t[]", [numbers.F_ABSENT] * max(_PLACES, len(self.operands)))  # a call has any number of them
        self.wide: dict[int, int] = {}
        self.misfit = False  # a register operand is not as wide as the modifiers say
        if self.op == op.MovPhi:
            return
        for at, operand in self.sources:
            self.marks[at] = _marks(f, operand)
        for at, operand in self.results:
            self.marks[at] = 0 if opd.is_register(operand) else numbers.F_ABSENT
        for at, operand in self.sources:
            default = self.row.operands[at].default if at < len(self.row.operands) else None  # behind them: those of a convention
            if default is not None and operand == (opd.NOT_PT_OPERAND if default[2] else opd.PT_OPERAND):
                self.marks[at] = numbers.F_ABSENT  # said or left out, it is the same
        self.wide = {
            at: self.row.regs(at, self.mods) if at < len(self.row.operands) else opd.count_of(operand)
            for at, operand in (*self.sources, *self.results)
        }
        self.misfit = any(
            opd.is_register(operand) and not f.is_predicate(operand) and self.wide[at] != opd.count_of(operand)
            for at, operand in (*self.sources, *self.results)
            if at < len(self.row.operands)
        )

    def operand(self, at: int) -> int:
        """The operand at a place, 0 where there is none."""
        return self.operands[at] if at < len(self.operands) else 0


def _marks(f: Function, operand: int) -> int:
    marks = numbers.F_NEG * bool(operand & opd.NEGATE) | numbers.F_ABS * bool(operand & opd.ABSOLUTE)
    marks |= numbers.F_INV * bool(operand & opd.COMPLEMENT)
    if operand & opd.TYPE in (opd.IS_IMM, opd.IS_POOL):
        marks |= numbers.F_IMM
    return marks


class Thread:
    """``events``: what happened, in order; ``ended``: whether the thread came to its end within the limit of steps.

    ``kind``: ``any`` values; ``small`` ones, with which loops come to their ends; ``floats``: small constants, and memory that
    holds floats near 1, of which no NaN becomes.

    ``physical``: registers of the same hardware register are one (after allocation). Predicates of a function are given by bits.
    """

    def __init__(self, f: Function, seed: int, *, physical: bool = False, kind: str = "any") -> None:
        self.f = f
        self.seed = seed
        self.physical = physical
        self.kind = kind
        self.named: tuple[int, ...] = ()  # words that memory holds nothing but, as those that comparisons name
        self.registers: dict[tuple[int, int, int], int] = {}
        self.memory: dict[tuple[int, int], int] = {}  # bytes by space and address
        self.epoch = 0
        self.events: list[Event] = []
        self.places: list[int] = []  # by event the instruction
        self.ended = False
        self.descriptors: set[int] = set()  # of memory, that accesses were made by
        self.blocks: dict[int, list[Instruction]] = {}
        self._in = ffi.new("int64_t[]", _PLACES)
        self._out = ffi.new("int64_t[]", _PLACES)

    def run(self, limit: int = STEPS) -> list[Event]:
        """Execute from block 0 to the end, at most ``limit`` instructions."""
        block, source = 0, NONE
        while 0 <= block < self.f.blocks():
            following = block + 1
            code = self._code(block)
            limit -= 1 + len(code)
            if limit < 0:
                return self.events
            self._merge(code, source)
            for instruction in code:
                if instruction.op == op.MovPhi:
                    continue
                if instruction.guard and not self.predicate(instruction.guard):
                    continue
                target = self.execute(instruction)
                self.places += [instruction.number] * (len(self.events) - len(self.places))
                if self.ended:
                    return self.events
                if target != NONE:
                    following = target
                    break
            block, source = following, block
        self._end("falls off")
        return self.events

    def _merge(self, code: list[Instruction], source: int) -> None:
        """The phis that a block begins with, at once, for a thread that comes from a block."""
        found = []
        for instruction in code:
            if instruction.op != op.MovPhi:
                break
            value = value_from(self.f, instruction.number, source)
            found.append((instruction.operands[0], self.source(value, opd.count_of(value))))
        for operand, value in found:
            self.write(operand, value)

    def _code(self, block: int) -> list[Instruction]:
        if block not in self.blocks:
            found, i = [], self.f.head[block]
            while i != NONE:
                found.append(Instruction(self.f, i))
                i = self.f.next[i]
            self.blocks[block] = found
        return self.blocks[block]

    def _end(self, how: str) -> None:
        self.ended = True
        self.events.append((how,))

    # -- operands ----------------------------------------------------------------------------------------

    def _place(self, operand: int, word: int) -> tuple[int, int, int]:
        """What a word of a register operand is called, in ``registers``."""
        index, first = opd.index_of(operand), opd.first_of(operand) + word
        if self.physical and self.f.physical[index] != NONE:
            kind = self.f.reg_type[index]
            file = kind if kind in _FILES else -2
            return file, self.f.physical[index] + first, -1
        return -1, index, first

    def _read(self, operand: int, word: int) -> int:
        place = self._place(operand, word)
        if place not in self.registers:
            h = word_of(self.seed, 1, *place)
            self.registers[place] = h & 1 if self.f.is_predicate(operand) else h
        return self.registers[place]

    def constant(self, bank: int, offset: int) -> int:
        """A word of a constant bank; an entry of a jump table is its number."""
        made = self.f.attributes.constant2
        for table in self.f.attributes.jump_tables if bank == BANK_COMPILER else ():
            if table.offset != UNPLACED and 0 <= offset - table.offset < 4 * len(table.targets):
                return (offset - table.offset) // 4
        if bank == BANK_COMPILER and self.f.attributes.doubles and offset + 4 <= len(made):
            return int.from_bytes(made[offset : offset + 4], "little")
        word = word_of(self.seed, 2, bank, offset)
        return word if self.kind == "any" else word & _FEW

    def predicate(self, operand: int) -> int:
        """The value of a predicate, negation applied."""
        value = 1 if opd.index_of(operand) == opd.PT else self._read(operand, 0)
        return value ^ bool(operand & opd.NEGATE)

    def source(self, operand: int, words: int) -> int:
        """The bits of a source without its marks; a pair: 64."""
        form = opd.type_of(operand)
        if opd.is_register(operand):
            return sum(self._read(operand, at) << 32 * at for at in range(opd.count_of(operand)))
        if form == opd.REG:
            return int(opd.index_of(operand) == opd.PT)
        if form in (opd.IMM, opd.POOL):
            return self.f.imm_value(operand & ~opd.SIGNS) & (_M32 if words == 1 else _M64)
        if operand & opd.CONST_BANK:
            bank, offset = opd.aux_of(operand), opd.index_of(operand)
            return sum(self.constant(bank, offset + 4 * at) << 32 * at for at in range(words))
        return mixed(3, operand & ~opd.SIGNS) & (_M32 if words == 1 else _M64)

    def write(self, operand: int, value: int) -> None:
        """Set a result."""
        if opd.is_register(operand):
            predicate = self.f.is_predicate(operand)
            for at in range(opd.count_of(operand)):
                self.registers[self._place(operand, at)] = value >> 32 * at & (1 if predicate else _M32)

    # -- execution ---------------------------------------------------------------------------------------

    def execute(self, instruction: Instruction) -> int:
        """One instruction whose guard holds; returns the block to go on with, ``NONE`` when it is no branch that is taken."""
        flags = instruction.flags
        if instruction.misfit:
            self.events.append((f"{instruction.row.name} with registers that do not fit its modifiers",))
        if flags & CONTROL:
            return self._control(instruction)
        plain = PLAIN.get(instruction.op)
        if plain is not None and self._is_plain(instruction, plain):
            self._access(instruction, plain)
        elif not (instruction.op in HAS_VALUE and self._evaluate(instruction)):
            self._opaque(instruction)
        return NONE

    def _control(self, instruction: Instruction) -> int:
        flags = instruction.flags
        taken = all(
            self.predicate(operand)
            for at, operand in instruction.sources
            if instruction.row.operands[at].kind in _PREDICATE_KINDS
        )
        if not taken:
            return NONE
        if flags & INDIRECT:
            return self._table_target(instruction)
        if flags & EXIT or not flags & op.E_BRANCH:
            leaves = instruction.op == op.RETURN and self.f.is_entry  # phase 5 makes an exit of it
            self._end("EXIT" if leaves else instruction.row.name)
            return NONE
        labels = [opd.index_of(operand) for _, operand in instruction.sources if opd.type_of(operand) == opd.LABEL]
        if flags & op.E_CALL or len(labels) != 1:
            self._end(f"leaves by {instruction.row.name}")
            return NONE
        return int(labels[0])

    def _table_target(self, instruction: Instruction) -> int:
        """Where a jump by table goes: to the entry of its number, a SWITCH beyond the last one to the last."""
        targets = self.f.attributes.jump_tables[instruction.aux].targets
        _, operand = instruction.sources[0]
        entry = self.source(operand, 1) & _M32
        if instruction.op == op.SWITCH:
            return targets[min(entry, len(targets) - 1)]
        return targets[entry if entry < len(targets) else mixed(*self._inputs(instruction)) % len(targets)]

    def _evaluate(self, instruction: Instruction) -> bool:
        """Results by the operation's value; False when this variant has none."""
        for at, operand in instruction.sources:
            bits = self.source(operand, instruction.wide[at])
            self._in[at] = bits - (bits >> 63 << 64)
        if not lib.oric_value(instruction.op, _signed64(instruction.mods), instruction.marks, 1, self._in, self._out):
            return False
        for at, operand in instruction.results:
            self.write(operand, self._out[at] & _M64)
        return True

    def _inputs(self, instruction: Instruction) -> Iterable[int]:
        """Numbers for all that an opaque operation depends on."""
        yield instruction.op
        yield instruction.mods
        access = ADDRESSED.get(instruction.op)
        parts = access.address if access is not None else frozenset()
        if access is not None:
            yield self._address(instruction, access)
        for at, operand in instruction.sources:
            if at in parts:
                continue
            bits = self.source(operand, instruction.wide[at])
            if operand & opd.SIGNS:
                bits = self._with_signs(instruction, at, operand, bits)
            yield at
            yield bits

    def _seen(self, instruction: Instruction, inputs: tuple[int, ...]) -> Event:
        """What an opaque operation is to the outside; an atomic and its form without results are the same."""
        shown = _UNREAD.get(instruction.op)
        if shown is None:
            return (instruction.row.name, *inputs[1:])
        mods = instruction.row.unpack(_signed64(instruction.mods))
        kept = tuple(f"{name}={mods[name]}" for name in sorted(shown.mods) if name in mods)
        first = 3 if instruction.op in ADDRESSED else 2
        values = zip(inputs[first::2], inputs[first + 1 :: 2], strict=True)
        named = sorted((instruction.row.operands[at].name, bits) for at, bits in values)
        return (shown.name, *kept, *inputs[2:first], *(part for pair in named for part in pair))

    def _with_signs(self, instruction: Instruction, at: int, operand: int, bits: int) -> int:
        """A source of an opaque operation with its marks, those of a float where it is no predicate."""
        if instruction.row.operands[at].kind in _PREDICATE_KINDS:
            return bits ^ 1
        if operand & opd.ABSOLUTE:
            bits &= ~(1 << 31)
        if operand & opd.NEGATE:
            bits ^= 1 << 31
        return ~bits & _M32 if operand & opd.COMPLEMENT else bits

    def _opaque(self, instruction: Instruction) -> None:
        flags = instruction.flags
        inputs = tuple(self._inputs(instruction))
        if flags & PINNED and not flags & CONVERGENCE and instruction.op not in UNSEEN:
            self.events.append(self._seen(instruction, inputs))
        if flags & (_OTHERS | STORE):
            self._forget()
        depends = (self.epoch,) if flags & (op.E_LOAD | ATOMIC) and not flags & CONSTANT else ()
        if flags & SPECIAL and OPS.sreg[instruction.op] >= 0:
            depends = (len(self.events),) if self._is_clock(instruction) else ()
        for at, operand in reversed(instruction.results):  # what a call leaves stands in front of what it may have changed
            value = 0
            for word in range(opd.count_of(operand) if opd.is_register(operand) else 0):
                made = word_of(self.seed, 4, at, word, *depends, *inputs)
                if flags & SPECIAL and self.kind != "any":
                    made &= _FEW
                value |= (made % (self._most(instruction) + 1) if flags & SPECIAL else made) << 32 * word
            self.write(operand, value)

    def _most(self, instruction: Instruction) -> int:
        """The largest number that the system register holds which is read."""
        at = OPS.sreg[instruction.op]
        return largest_special(self.f.attributes, opd.index_of(instruction.operands[at])) if at >= 0 else _M32

    def _is_clock(self, instruction: Instruction) -> bool:
        return opd.index_of(instruction.operands[OPS.sreg[instruction.op]]) not in STABLE_SPECIAL

    # -- memory ------------------------------------------------------------------------------------------

    def _forget(self) -> None:
        self.epoch += 1
        self.memory.clear()

    def _is_plain(self, instruction: Instruction, plain: _Access) -> bool:
        return all(instruction.marks[at] & numbers.F_ABSENT for at in plain.unknown)

    def _address(self, instruction: Instruction, plain: _Access) -> int:
        given = dict(instruction.sources)
        total = 0
        for name in ("Ra", "URa", "off"):
            at = plain.places.get(name, NONE)
            if at not in given:
                continue
            bits = self.source(given[at], instruction.wide[at])
            if name == "off":
                bits = (bits & _M32) - ((bits & _M32) >> 31 << 32) if opd.type_of(given[at]) in (opd.IMM, opd.POOL) else bits
            elif name == "Ra" and "scale" in instruction.row.mods:
                bits *= int(str(instruction.row.unpack(instruction.mods)["scale"]).removeprefix("X"))
            total += bits
        wide = instruction.wide.get(plain.places.get("Ra", NONE), 1) == 2 or ("URa" in plain.places and not plain.space)
        return total & (_M64 if wide else _M32)

    def _access(self, instruction: Instruction, plain: _Access) -> None:
        size = _SIZE.match(str(instruction.row.unpack(instruction.mods)["size"]))
        assert size is not None
        count = int(size[2] or size[3]) // 8
        address = self._address(instruction, plain)
        if "desc" in plain.places and opd.is_register(described := instruction.operand(plain.places["desc"])):
            self.descriptors.add(self.source(described, 2))
        if "cb" in plain.places:
            bank = instruction.operands[plain.places["cb"]]
            bytes_ = [self._constant_byte(opd.aux_of(bank), opd.index_of(bank) + address + at) for at in range(count)]
        elif instruction.flags & STORE:
            at = plain.places["Rb"]
            value = self.source(instruction.operands[at], instruction.wide[at]) & (1 << 8 * count) - 1
            if plain.space != op.E_LOCAL:
                self.events.append((STORED, instruction.row.name, address, count, value))
            for k in range(count):
                self.memory[plain.space, address + k] = value >> 8 * k & 0xFF
            return
        else:
            if instruction.aux & AUX_VOLATILE or OPS.is_strong(self.f, instruction.number):
                self.events.append((instruction.row.name, address, count))
                self._forget()
            bytes_ = [self._byte(plain.space, address + at) for at in range(count)]
        value = sum(byte << 8 * at for at, byte in enumerate(bytes_))
        if size[1] == "S" and value >> 8 * count - 1:
            value |= _M32 << 8 * count & _M32
        self.write(instruction.results[0][1], value)

    def _byte(self, space: int, address: int) -> int:
        """A byte of memory: of a word that is special now and then."""
        known = self.memory.get((space, address))
        if known is None:
            known = self._tamed(word_of(self.seed, 5, self.epoch, space, address & ~3)) >> 8 * (address & 3) & 0xFF
        return known

    def _tamed(self, word: int) -> int:
        """A word that memory begins with, of the thread's kind."""
        if self.kind == "floats":
            return 0x3F800000 | word & 0x7FFFFF
        if self.named:
            return self.named[word % len(self.named)]
        return word & _FEW if self.kind == "small" else word

    def _constant_byte(self, bank: int, offset: int) -> int:
        return self.constant(bank, offset & ~3 & _M32) >> 8 * (offset & 3) & 0xFF


def _signed64(bits: int) -> int:
    return bits - (bits >> 63 << 64)


def difference(before: Thread, after: Thread, *, scheduled: bool = False) -> str:
    """Where the events of two runs part; "" when they do not, as far as both ran.

    ``scheduled``: stores between two other events may have changed places, as long as memory is the same afterwards.
    """
    first, second = (_settled(t) if scheduled else t.events for t in (before, after))
    for at, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return f"event {at}: {shown(one)} before, {shown(other)} after{'' if scheduled else _by(after, at)}"
    if before.descriptors and not after.descriptors <= before.descriptors:
        return f"descriptors of memory: {sorted(before.descriptors)} before, {sorted(after.descriptors)} after"
    count = min(len(first), len(second))
    if before.ended and len(second) > count:
        return f"event {count}: the end before, {shown(second[count])} after{'' if scheduled else _by(after, count)}"
    if after.ended and len(first) > count:
        return f"event {count}: {shown(first[count])} before, the end after"
    return ""


def _by(thread: Thread, at: int) -> str:
    """The instruction that made an event."""
    if at >= len(thread.places):
        return ""
    i = thread.places[at]
    return f", by {format_instruction(thread.f, i).strip()} in bix{thread.f.block[i]}"


def _settled(thread: Thread) -> list[Event]:
    """The events with what stores in a row leave in memory in place of the stores; without those at a cut-off end."""
    out: list[Event] = []
    written: dict[tuple[str, int], int] = {}
    for event in thread.events:
        if event[0] == STORED:
            _, name, address, count, value = event
            written |= {(name, address + at): value >> 8 * at & 0xFF for at in range(count)}
            continue
        out += [(STORED, name, address, byte) for (name, address), byte in sorted(written.items())]
        out.append(event)
        written = {}
    return out


def shown(event: Event) -> str:
    """An event for messages."""
    return " ".join(part if isinstance(part, str) else f"{part:#x}" for part in event)
