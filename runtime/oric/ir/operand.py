"""Packed Ori operands: one native int per operand, ``word0 | word1 << 32``.

The fields and what reads and changes them are generated (:mod:`oric_tables.ori_operands`); this module makes operands. A
register operand names ``count`` words of a register from word ``first`` on. Source: Ori IR, "Packed Operand Encoding" and
"Operand Word 1"; the fields of registers and the codes that no document gives (2, 3, 4, 7) are this project's.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64
from oric_tables.ori_operands import (
    ABSOLUTE,
    AUX,
    COMPLEMENT,
    CONST_BANK,
    EXTENDED,
    FIRST,
    IMM,
    INDEX,
    IS_IMM,
    IS_LABEL,
    IS_NONE,
    IS_POOL,
    IS_REG,
    IS_SPECIAL,
    IS_SYMBOL,
    LABEL,
    NEGATE,
    NONE,
    POOL,
    REG,
    REUSE,
    SPAN,
    SPECIAL,
    SYMBOL,
    TYPE,
    aux_of,
    first_of,
    index_of,
    span_of,
    type_of,
    with_aux,
    with_first,
    with_index,
    with_span,
)
from oric_tables.registers import PT, RZ

__all__ = [
    "ABSOLUTE", "AUX", "COMPLEMENT", "CONST_BANK", "EXTENDED", "FIRST", "IMM", "INDEX", "IS_IMM", "IS_LABEL", "IS_NONE",
    "IS_POOL", "IS_REG", "IS_SPECIAL", "IS_SYMBOL", "LABEL", "NEGATE", "NONE", "NOT_PT_OPERAND", "NO_OPERAND", "POOL", "PT",
    "PT_OPERAND", "REG", "REUSE", "RZ", "RZ_OPERAND", "SIGNS", "SPAN", "SPECIAL", "SYMBOL", "TYPE", "WORDS", "aux_of",
    "const_bank", "count_of", "first_of", "imm", "index_of", "is_register", "label", "pool", "reg", "span_of", "special",
    "symbol", "type_of", "with_aux", "with_first", "with_index", "with_span", "word",
]  # fmt: skip

SIGNS: Final = NEGATE | ABSOLUTE | COMPLEMENT
WORDS: Final = FIRST | SPAN  # which words of its register an operand accesses
# RZ and PT have sentinel ids, which no virtual register gets (Register Model, "Zero and True Registers").
RZ_OPERAND: Final = IS_REG | RZ
PT_OPERAND: Final = IS_REG | PT
NOT_PT_OPERAND: Final = IS_REG | PT | NEGATE
NO_OPERAND: Final = IS_NONE


def reg(index: i64, first: i64 = 0, count: i64 = 1) -> i64:
    """``count`` words of register ``index`` from word ``first`` on."""
    return with_span(with_first(IS_REG | index, first), count - 1)


def word(operand: i64, at: i64) -> i64:
    """Word ``at`` of what a register operand accesses, as an operand without signs."""
    return with_first(operand & (INDEX | TYPE), first_of(operand) + at)


def count_of(operand: i64) -> i64:
    """Number of words that a register operand accesses."""
    return span_of(operand) + 1


def bits_of(operand: i64) -> int:
    """The words that a register operand accesses, as bits; a register may have more of them than a native integer has bits."""
    first: int = first_of(operand)
    return all_bits(count_of(operand)) << first


def all_bits(words: i64) -> int:
    """So many words of a register as bits."""
    count: int = words
    return (1 << count) - 1


def imm(value: i64) -> i64:
    """An immediate below 2**20; use :meth:`Function.imm` for any value."""
    if not 0 <= value <= INDEX:
        raise ValueError(f"immediate {value} does not fit 20 bits")
    return IS_IMM | value


def pool(index: i64) -> i64:
    """An immediate of the function's pool."""
    return IS_POOL | index


def label(block: i64) -> i64:
    """A branch target."""
    return IS_LABEL | block


def const_bank(bank: i64, offset: i64) -> i64:
    """``c[bank][offset]``, ``offset`` in bytes."""
    return with_aux(IS_SYMBOL | CONST_BANK | offset, bank)


def symbol(index: i64, addend: i64 = 0) -> i64:
    """Symbol ``index`` of the module; ``addend`` in bytes (0 .. 2**24-1)."""
    return with_aux(IS_SYMBOL | index, addend)


def special(value: i64) -> i64:
    """A value whose meaning the operand slot gives (barrier, scoreboard, system register number)."""
    return IS_SPECIAL | value


def is_register(operand: i64) -> bool:
    """True for an operand that names a virtual register, and not RZ or PT."""
    if operand & TYPE != IS_REG:
        return False
    index = operand & INDEX
    return index != RZ and index != PT
