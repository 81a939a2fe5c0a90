"""Decoded machine instructions as Python objects, for tools; the C code of ``sass_codec.c`` does the work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from oric_tables import ops
from oric_tables._native import ffi, lib

from oric.support.targets import TargetError, find_model

from .access import Use
from .code import INSTRUCTION_BYTES, Code

NO_BARRIER: Final = 7
ALWAYS: Final = 7  # guard predicate PT
_KINDS: Final = (
    "none", "gpr", "ugpr", "pred", "upred", "imm", "cbank", "cbanku", "label", "breg", "sb", "sreg",
)  # fmt: skip
MESSAGES: Final = {
    lib.ORIC_E_OPERATION: "there is no such operation on this target",
    lib.ORIC_E_OPERANDS: "no form of the operation takes operands of these kinds",
    lib.ORIC_E_RANGE: "a register number or value does not fit its field",
    lib.ORIC_E_SIGN: "negation, absolute value, complement or reuse is not possible here",
    lib.ORIC_E_MOD: "a modifier value does not exist in this form",
    lib.ORIC_E_FORM: "a modifier does not exist in the form that the operands ask for",
    lib.ORIC_E_WORD: "no instruction has this word",
}


_EFFECTS: Final = {name[2:].lower(): bit for name, bit in vars(ops).items() if name.startswith("E_")}


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
        awaited = "".join(str(n) if self.wait >> n & 1 else "-" for n in range(6))
        read = "-" if self.read_barrier == NO_BARRIER else self.read_barrier
        write = "-" if self.write_barrier == NO_BARRIER else self.write_barrier
        return f"[B{awaited}:R{read}:W{write}:{'Y' if self.yields else '-'}:S{self.stall:02}]"

    @classmethod
    def unpack(cls, bits: int) -> Control:
        """From the 17 bits that start at bit 105 of the word."""
        return cls(bits & 15, not bits >> 4 & 1, bits >> 5 & 7, bits >> 8 & 7, bits >> 11 & 63)

    def pack(self) -> int:
        """The 17 bits."""
        return self.stall | (not self.yields) << 4 | self.write_barrier << 5 | self.read_barrier << 8 | self.wait << 11


class Operand(NamedTuple):
    """One operand: ``kind`` as in oric_insn.h, ``reg`` a register or bank number, ``value`` an immediate or byte offset."""

    name: str
    kind: str
    reg: int
    value: int
    negated: bool
    absolute: bool
    inverted: bool
    reused: bool


class Instruction:
    """A machine instruction. ``word`` is the 128-bit word, ``offset`` its place in the code in bytes.

    ``text`` is what nvdisasm prints, ``operands`` are in the order of the operation, ``modifiers`` their values by name.
    ``reads`` and ``writes`` are the registers of all files, with widths, those that no operand names and the guard included.
    """

    __slots__ = (
        "control", "guard", "guard_negated", "modifiers", "offset", "op", "operands", "reads", "text", "word", "writes",
    )  # fmt: skip

    def __init__(self, op: ops.Op, word: int, offset: int, insn: Any, text: str, uses: list[Use]) -> None:
        self.op = op
        self.word = word
        self.offset = offset
        self.text = text
        self.guard: int = insn.guard
        self.guard_negated = bool(insn.guard_neg)
        self.control = Control.unpack(insn.control)
        self.modifiers = op.unpack(insn.mods)
        self.reads = tuple(use for use in uses if not use.writes)
        self.writes = tuple(use for use in uses if use.writes)
        self.operands = tuple(_operand(slot.name, insn.ops[i]) for i, slot in enumerate(op.operands) if insn.ops[i].kind)

    @property
    def mnemonic(self) -> str:
        """Mnemonic with modifiers, as printed, without the guard."""
        return self.text.split(" ")[1 if self.text.startswith("@") else 0]

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
        name, _KINDS[x.kind], x.aux if x.kind == lib.ORIC_K_CBANKU else x.reg, x.value, bool(flags & lib.ORIC_F_NEG),
        bool(flags & lib.ORIC_F_ABS), bool(flags & lib.ORIC_F_INV), bool(flags & lib.ORIC_F_REUSE),
    )  # fmt: skip


def decode(data: bytes, arch: str) -> list[Instruction]:
    """Decode code bytes of target ``arch`` ("sm_90").

    Raises:
        DecodeError: unknown target, a rest that is no whole instruction, or a word that is no instruction.
    """
    code = _decode(data, arch)
    out = []
    for i, (text, uses) in enumerate(zip(code.texts(), code.uses(), strict=True)):
        insn = code.insns[i]
        op = ops.OPS[insn.op]
        assert op is not None
        out.append(Instruction(op, code.word(i), i * INSTRUCTION_BYTES, insn, text, uses))
    return out


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
        x.kind = _KINDS.index(operand.kind)
        x.value = operand.value
        if x.kind == lib.ORIC_K_CBANKU:
            x.aux = operand.reg
        else:
            x.reg = operand.reg
        x.flags = operand.negated | operand.absolute << 1 | operand.inverted << 2 | operand.reused << 3
    word = ffi.new("uint64_t[2]")
    error = lib.oric_encode(_isa(arch), insn, word)
    if error:
        raise DecodeError(f"{op.name}: {MESSAGES[error & 0xFF]}")
    return int(word[0] | word[1] << 64)


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
