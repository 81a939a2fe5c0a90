"""Decoded machine instructions as Python objects, for tools; the C code of ``sass/codec.c`` does the work."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final, NamedTuple

from oric_tables import numbers, ops
from oric_tables import op as op_numbers
from oric_tables._native import ffi, lib
from oric_tables.registers import INSN_PT

from oric.support.targets import TargetError, find_model

from .access import Use
from .code import INSTRUCTION_BYTES, Code

NO_BARRIER: Final[int] = numbers.NO_SCOREBOARD
ALWAYS: Final[int] = INSN_PT  # guard predicate PT
MESSAGES: Final = {
    lib.ORIC_E_OPERATION: "there is no such operation on this target",
    lib.ORIC_E_OPERANDS: "no form of the operation takes operands of these kinds",
    lib.ORIC_E_RANGE: "a register number or value does not fit its field",
    lib.ORIC_E_SIGN: "negation, absolute value, complement or reuse is not possible here",
    lib.ORIC_E_MOD: "a modifier value does not exist in this form",
    lib.ORIC_E_FORM: "a modifier does not exist in the form that the operands ask for",
    lib.ORIC_E_WORD: "no instruction has this word",
}


_EFFECTS: Final = {name[2:].lower(): bit for name, bit in vars(op_numbers).items() if name.startswith("E_")}


class DecodeError(Exception):
    """Bytes that are no instruction, or an instruction that cannot be encoded; ``str()`` says where and why."""


class Control(NamedTuple):
    """Scheduling bits. ``stall`` in cycles; barriers are 0-5, 7 = none; ``wait`` has one bit a scoreboard."""

    stall: int
    yields: bool
    write_barrier: int
    read_barrier: int
    wait: int

    def __str__(self) -> str:
        awaited = "".join(str(n) if self.wait >> n & 1 else "-" for n in range(numbers.SCOREBOARDS))
        read = "-" if self.read_barrier == NO_BARRIER else self.read_barrier
        write = "-" if self.write_barrier == NO_BARRIER else self.write_barrier
        return f"[B{awaited}:R{read}:W{write}:{'Y' if self.yields else '-'}:S{self.stall:02}]"

    @classmethod
    def unpack(cls, bits: int) -> Control:
        """From the 17 bits that start at bit 105 of the word."""
        return cls(
            bits >> numbers.STALL_SHIFT & numbers.STALL_MASK,
            not bits >> numbers.YIELD_SHIFT & numbers.YIELD_MASK,
            bits >> numbers.WRITE_BARRIER_SHIFT & numbers.WRITE_BARRIER_MASK,
            bits >> numbers.READ_BARRIER_SHIFT & numbers.READ_BARRIER_MASK,
            bits >> numbers.WAIT_SHIFT & numbers.WAIT_MASK,
        )

    def pack(self) -> int:
        """The 17 bits."""
        packed: int = (
            self.stall << numbers.STALL_SHIFT
            | (not self.yields) << numbers.YIELD_SHIFT
            | self.write_barrier << numbers.WRITE_BARRIER_SHIFT
            | self.read_barrier << numbers.READ_BARRIER_SHIFT
            | self.wait << numbers.WAIT_SHIFT
        )
        return packed


class Operand(NamedTuple):
    """One operand: ``kind`` of ``numbers.OPERAND_KINDS``, ``reg`` a register or bank, ``value`` an immediate or byte offset."""

    name: str
    kind: str
    reg: int
    value: int
    negated: bool
    absolute: bool
    inverted: bool
    reused: bool


class Instruction:
    """A machine instruction: ``number`` of the code that was decoded with it. Its parts are made when they are asked for."""

    def __init__(self, code: Code, number: int) -> None:
        self._code = code
        self.number = number

    @property
    def offset(self) -> int:
        """Its place in the code in bytes."""
        return self.number * INSTRUCTION_BYTES

    @property
    def word(self) -> int:
        """The 128 bits."""
        return self._code.word(self.number)

    @property
    def text(self) -> str:
        """What nvdisasm prints: guard, mnemonic, operands. Branches name the offset of their target."""
        return self._code.plain_texts[self.number]

    @property
    def mnemonic(self) -> str:
        """Mnemonic with modifiers, as printed, without the guard."""
        return self.text.split(" ")[1 if self.text.startswith("@") else 0]

    @cached_property
    def op(self) -> ops.Op:
        """The operation: its name, operand slots and modifiers."""
        number: int = self._code.insns[self.number].op
        return ops.op(number)

    @cached_property
    def operands(self) -> tuple[Operand, ...]:
        """The operands that the form has, in order of the operation."""
        insn = self._code.insns[self.number]
        return tuple(_operand(slot.name, insn.ops[i]) for i, slot in enumerate(self.op.operands) if insn.ops[i].kind)

    @cached_property
    def modifiers(self) -> dict[str, str | int]:
        """The value of every modifier of the operation by name."""
        found: dict[str, str | int] = self.op.unpack(self._code.insns[self.number].mods)
        return found

    @cached_property
    def guard(self) -> int:
        """Number of the guard predicate, 7 = always."""
        return int(self._code.insns[self.number].guard)

    @cached_property
    def guard_negated(self) -> bool:
        """True for ``@!P0``."""
        return bool(self._code.insns[self.number].guard_neg)

    @cached_property
    def control(self) -> Control:
        """Stall count, yield, scoreboards."""
        return Control.unpack(self._code.insns[self.number].control)

    @property
    def reads(self) -> tuple[Use, ...]:
        """Registers of all files that it reads, with widths; those that no operand names and the guard included."""
        return tuple(use for use in self._code.all_uses[self.number] if not use.writes)

    @property
    def writes(self) -> tuple[Use, ...]:
        """Registers of all files that it writes."""
        return tuple(use for use in self._code.all_uses[self.number] if use.writes)

    @property
    def effects(self) -> frozenset[str]:
        """What it does besides writing registers: ``load``, ``store``, ``shared``, ``branch``, ``exit`` ..."""
        return frozenset(name for name, bit in _EFFECTS.items() if self.op.effects & bit)

    def operand(self, name: str) -> Operand:
        """The operand ``name``; KeyError when the instruction has none."""
        for operand in self.operands:
            if operand.name == name:
                return operand
        raise KeyError(name)

    def __repr__(self) -> str:
        return f"<{self.offset:#06x} {self.text}>"


def _operand(name: str, x: Any) -> Operand:
    flags = x.flags
    return Operand(
        name, numbers.OPERAND_KINDS[x.kind], x.aux if x.kind == lib.ORIC_K_CBANKU else x.reg, x.value,
        bool(flags & lib.ORIC_F_NEG), bool(flags & lib.ORIC_F_ABS), bool(flags & lib.ORIC_F_INV), bool(flags & lib.ORIC_F_REUSE),
    )  # fmt: skip


def decode(data: bytes, arch: str) -> list[Instruction]:
    """Decode code bytes of target ``arch`` ("sm_90").

    Raises:
        DecodeError: unknown target, a rest that is no whole instruction, or a word that is no instruction.
    """
    code = _decode(data, arch)
    return [Instruction(code, number) for number in range(code.count)]


def disassemble(data: bytes, arch: str, labels: Mapping[int, str] | None = None) -> list[str]:
    """The text of every instruction; ``labels`` (byte offset -> text) replace the numbers of branch targets.

    Raises:
        DecodeError: as :func:`decode`.
    """
    return _decode(data, arch).texts(labels)


def encode(instruction: Instruction, arch: str) -> int:
    """The 128-bit word of a decoded instruction (as it is in ``operands`` and ``modifiers``, not copied from ``word``).

    Raises:
        DecodeError: no form of the target takes it.
    """
    op = instruction.op
    insn = ffi.new("oric_insn *")
    insn.op = op.number
    insn.guard = instruction.guard
    insn.guard_neg = instruction.guard_negated
    insn.control = instruction.control.pack()
    insn.mods = op.pack(**instruction.modifiers)
    insn.nops = len(op.operands)
    for operand in instruction.operands:
        x = insn.ops[op.index(operand.name)]
        x.kind = numbers.OPERAND_KINDS.index(operand.kind)
        x.value = operand.value
        if x.kind == lib.ORIC_K_CBANKU:
            x.aux = operand.reg
        else:
            x.reg = operand.reg
        x.flags = operand.negated | operand.absolute << 1 | operand.inverted << 2 | operand.reused << 3
    word = ffi.new("uint64_t[2]")
    error = lib.oric_encode(_isa(arch), insn, word)
    if error:
        raise DecodeError(f"{op.name}: {explain(error, operand_of(error, op))}")
    return int(word[0] | word[1] << 64)


def explain(error: int, operand: str = "") -> str:
    """What an error of the encoder means; ``operand`` is what the operand that it may be about is called."""
    if error & 0xFF == lib.ORIC_E_ALIGN:
        return f"{operand or 'an operand'} begins a group of registers: its number must be a multiple of {error >> 16}"
    return MESSAGES.get(error & 0xFF, "the instruction cannot be encoded")


def operand_of(error: int, op: ops.Op) -> str:
    """Name of the operand of ``op`` that an error of the encoder is about; "" when it is about none."""
    named = error & 0xFF in (lib.ORIC_E_RANGE, lib.ORIC_E_SIGN, lib.ORIC_E_ALIGN)
    which = error >> 8 & 0xFF
    return op.operands[which].name if named and which < len(op.operands) else ""


def _isa(arch: str) -> int:
    try:
        return find_model(arch)
    except TargetError as error:
        raise DecodeError(str(error)) from error


def _decode(data: bytes, arch: str) -> Code:
    isa = _isa(arch)
    if len(data) % INSTRUCTION_BYTES:
        raise DecodeError(f"{len(data)} bytes are no whole number of instructions")
    code = Code(isa, data)
    if code.bad:
        first = code.bad[0]
        raise DecodeError(f"offset {first * INSTRUCTION_BYTES:#x}: {MESSAGES[lib.ORIC_E_WORD]}: {code.word(first):032x}")
    return code
