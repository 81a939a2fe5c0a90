"""Packed Ori operands: one Python int per operand, ``word0 | word1 << 32``.

Source: Ori IR, "Packed Operand Encoding" and "Operand Word 1"; the codes that no document gives (2, 3, 4, 7)
and the sub-fields of the modifier bits are this project's. The numbers are those of ``spec/operand_kinds.yaml``.

===========  ==========================================================================================
bits         meaning
===========  ==========================================================================================
0-19         index: register id, symbol id, byte offset in a constant bank, small immediate, block index ...
20-21        first component (32-bit register) of a wide register that is accessed
22-23        log2 of the number of registers accessed; 3 = the whole register
24           pair extension: the access is wider than one register
28-30        operand type
31           negate (arithmetic negation; logical not for predicates)
32-55        word 1, bits 0-23: auxiliary data (constant bank number; high bits of ...)
56           word 1, bit 24: constant bank
57           word 1, bit 25: reuse
58           word 1, bit 26: absolute value
59           word 1, bit 27: bitwise complement
===========  ==========================================================================================
"""

from __future__ import annotations

from typing import Final

from oric_tables import ori_operands as word
from oric_tables import registers

# Operand types (bits 28-30).
REG: Final[int] = word.REG
IMM: Final[int] = word.IMM  # unsigned 20-bit immediate in the index
POOL: Final[int] = word.POOL  # index into CodeObject.immediates (64-bit patterns)
LABEL: Final[int] = word.LABEL  # block index
SYMBOL: Final[int] = word.SYMBOL  # symbol id, or constant-bank byte offset when CONST_BANK is set (bank in aux)
SPECIAL: Final[int] = word.SPECIAL  # barrier register, system register, control word: meaning given by the operand slot
NONE: Final[int] = word.NONE  # operand left out (the form's default is encoded)

TYPE_SHIFT: Final[int] = word.TYPE_SHIFT
INDEX_MASK: Final[int] = word.INDEX_MASK
COMPONENT_SHIFT: Final[int] = word.COMPONENT_SHIFT
WIDTH_SHIFT: Final[int] = word.WIDTH_SHIFT
WIDE: Final[int] = word.WIDE
NEGATE: Final[int] = word.NEGATE
AUX_SHIFT: Final[int] = word.AUX_SHIFT
AUX_MASK: Final[int] = word.AUX_MASK
CONST_BANK: Final[int] = word.CONST_BANK
REUSE: Final[int] = word.REUSE
ABSOLUTE: Final[int] = word.ABSOLUTE
COMPLEMENT: Final[int] = word.COMPLEMENT
EXTENDED_MASK: Final[int] = word.EXTENDED_MASK

# Sentinel register ids (Register Model, "Zero and True Registers"); never given to a virtual register.
RZ: Final[int] = registers.RZ
PT: Final[int] = registers.PT
RZ_OPERAND: Final = REG << TYPE_SHIFT | RZ
PT_OPERAND: Final = REG << TYPE_SHIFT | PT
NOT_PT_OPERAND: Final = PT_OPERAND | NEGATE
NO_OPERAND: Final = NONE << TYPE_SHIFT


def reg(index: int, component: int = 0, log2_width: int = 0) -> int:
    """A register operand: ``1 << log2_width`` registers of register ``index`` from ``component`` on."""
    wide = WIDE if log2_width else 0
    return REG << TYPE_SHIFT | wide | log2_width << WIDTH_SHIFT | component << COMPONENT_SHIFT | index


def small_imm(value: int) -> int:
    """An immediate below 2**20; use :meth:`CodeObject.imm` for any value."""
    if not 0 <= value <= INDEX_MASK:
        raise ValueError(f"immediate {value} does not fit 20 bits")
    return IMM << TYPE_SHIFT | value


def label(block_index: int) -> int:
    """A branch target."""
    return LABEL << TYPE_SHIFT | block_index


def const_bank(bank: int, offset: int) -> int:
    """``c[bank][offset]``, ``offset`` in bytes."""
    return SYMBOL << TYPE_SHIFT | CONST_BANK | bank << AUX_SHIFT | offset


def symbol(index: int, addend: int = 0) -> int:
    """Symbol ``index`` of the module; ``addend`` in bytes (0 .. 2**24-1)."""
    return SYMBOL << TYPE_SHIFT | addend << AUX_SHIFT | index


def special(value: int) -> int:
    """A value whose meaning the operand slot gives (barrier, scoreboard, system register number)."""
    return SPECIAL << TYPE_SHIFT | value


def type_of(operand: int) -> int:
    """The operand type, 1 .. 7."""
    return operand >> TYPE_SHIFT & 7


def index_of(operand: int) -> int:
    """Bits 0-19."""
    return operand & INDEX_MASK


def component_of(operand: int) -> int:
    """First 32-bit component accessed, 0 .. 3."""
    return operand >> COMPONENT_SHIFT & 3


def aux_of(operand: int) -> int:
    """Bits 0-23 of word 1."""
    return operand >> AUX_SHIFT & AUX_MASK


def is_reg(operand: int) -> bool:
    """True for a register operand of any file."""
    return operand >> TYPE_SHIFT & 7 == REG
