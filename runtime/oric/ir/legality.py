"""Which operands an operation takes: the one place that passes ask before they put one there.

Read off the forms of ``spec/encoding`` (:mod:`oric_tables.operand_kinds`): combinations of kinds of the sources Ra, Rb, Rc
that have a form on the target, the number format of their immediate, the signs that each source may have.
"""

from __future__ import annotations

from functools import cache
from typing import Final, final

from librt.vecs import vec
from mypy_extensions import i64
from oric_tables import operand_kinds
from oric_tables.op import MOV

from oric.support.arrays import zeros

from . import operand as opd
from .function import UR, Function

# Kinds of operands as in oric_insn.
KIND_NONE: Final = 0
KIND_GPR: Final = 1
KIND_UGPR: Final = 2
KIND_IMM: Final = 5
KIND_CBANK: Final = 6
KIND_OTHER: Final = 7  # no form takes it as a source of variable kind
_KEYS: Final = 512  # keys of three sources
_SOURCES: Final = 3
# Number formats of immediates: bits of plain fields, whole words, what signs mean.
BITS: Final = vec[i64]([{"u4": 4, "u5": 5, "u12": 12, "u13": 13, "u16": 16}.get(f, 0) for f in operand_kinds.FORMATS])
IS_WORD: Final = vec[i64]([int(f in ("s32", "x32", "f32")) for f in operand_kinds.FORMATS])
IS_FLOAT: Final = vec[i64]([int(f in ("f32", "f64h", "f16x2", "bf16x2")) for f in operand_kinds.FORMATS])
IS_HALVES: Final = vec[i64]([int(f in ("f16x2", "bf16x2")) for f in operand_kinds.FORMATS])
F64_HIGH: Final = operand_kinds.FORMATS.index("f64h")
WHOLE: Final = operand_kinds.FORMATS.index("x64")
EXTENDED: Final = operand_kinds.FORMATS.index("s64")  # a pair whose upper word is the sign of the 32 bits that stand there


@final
class Legality:
    """What the operations of one target take.

    ``halves[op]`` is not 0 where halves of the sources are selected, ``whole[op]`` where a source takes 64-bit constants;
    ``takes_words``: whether operations take words of constant banks.
    """

    def __init__(self, isa: str) -> None:
        self._entry = vec[i64](operand_kinds.TABLE[isa])
        self._positions = vec[i64](operand_kinds.POSITIONS)
        self._signs = vec[i64](operand_kinds.SIGNS)
        self._one_sign = vec[i64](operand_kinds.ONE_SIGN)
        self.halves = vec[i64](operand_kinds.HALVES)
        self._format = zeros(_SOURCES * _KEYS * len(operand_kinds.COMBINATIONS))
        whole = zeros(len(operand_kinds.COMBINATIONS))
        for number, entry in enumerate(operand_kinds.COMBINATIONS):
            for at in range(0, len(entry), 2 + _SOURCES):
                place = _SOURCES * (_KEYS * number + entry[at] + 256 * entry[at + 1])
                for source in range(_SOURCES):
                    self._format[place + source] = entry[at + 2 + source]
                    whole[number] |= int(entry[at + 2 + source] == WHOLE)
        self.whole = zeros(len(self._entry))
        for op, number in enumerate(self._entry):
            self.whole[op] = whole[number]
        self.takes_words = self.format_of(MOV, KIND_CBANK, 0) != 0

    def position(self, op: i64, source: i64) -> i64:
        """Operand position of source 0, 1, 2 (Ra, Rb, Rc); -1 when there is none."""
        return self._positions[_SOURCES * op + source] - 1

    def source_at(self, op: i64, at: i64) -> i64:
        """Number (0, 1, 2) of the source of variable kind at an operand position; -1: it is none."""
        source: i64 = 0
        while source < _SOURCES:
            if self._positions[_SOURCES * op + source] == at + 1:
                return source
            source += 1
        return -1

    def format_of(self, op: i64, key: i64, source: i64) -> i64:
        """The number format of a source in a form for a combination of kinds (``kind << 3 * source``); 0: there is none."""
        return self._format[_SOURCES * (_KEYS * self._entry[op] + key) + source]

    def sources(self, op: i64) -> i64:
        """Number of sources of variable kind."""
        if self._positions[_SOURCES * op] == 0:
            return 0
        if self._positions[_SOURCES * op + 1] == 0:
            return 1
        return 2 if self._positions[_SOURCES * op + 2] == 0 else 3

    def is_source(self, op: i64, at: i64) -> bool:
        """Whether an operand position is one of a source of variable kind."""
        base = _SOURCES * op
        return at + 1 == self._positions[base] or at + 1 == self._positions[base + 1] or at + 1 == self._positions[base + 2]

    def format_with(self, f: Function, i: i64, at: i64, operand: i64) -> i64:
        """The number format of another operand at a place of an instruction; 0: there is no form for it."""
        return self.format_with_two(f, i, at, operand, -1, 0)

    def format_with_two(self, f: Function, i: i64, at: i64, operand: i64, also: i64, other: i64) -> i64:
        """The same with two other operands; the format is that of the first."""
        op = f.op[i]
        base = _SOURCES * op
        key: i64 = 0
        asked: i64 = 0
        source: i64 = 0
        while source < _SOURCES:
            place = self._positions[base + source] - 1
            if place < 0:
                break
            here = operand if place == at else other if place == also else f.get(i, place)
            if place == at:
                asked = source
            key |= kind_of(f, here) << 3 * source
            source += 1
        return self._format[_SOURCES * (_KEYS * self._entry[op] + key) + asked]

    def takes(self, f: Function, op: i64, a: i64, b: i64, c: i64) -> bool:
        """Whether there is a form for the sources a, b, c (in the order of their positions; 0: left out), signs included."""
        key = kind_of(f, a) | kind_of(f, b) << 3 | kind_of(f, c) << 6
        if self._format[_SOURCES * (_KEYS * self._entry[op] + key)] == 0:
            return False
        base = _SOURCES * op
        if not (self._sign_fits(base, a) and self._sign_fits(base + 1, b) and self._sign_fits(base + 2, c)):
            return False
        signed = _is_signed(a) | _is_signed(b) << 1 | _is_signed(c) << 2
        return self._signs_fit(op, signed)

    def takes_with(self, f: Function, i: i64, at: i64, operand: i64) -> bool:
        """Whether an instruction may have another operand at a place, signs included."""
        base = _SOURCES * f.op[i]
        if self.format_with(f, i, at, operand) == 0:
            return False
        source: i64 = 0
        signed: i64 = 0
        while source < _SOURCES:
            place = self._positions[base + source] - 1
            if place < 0:
                break
            here = operand if place == at else f.get(i, place)
            if not self._sign_fits(base + source, here):
                return False
            signed |= _is_signed(here) << source
            source += 1
        return self._signs_fit(f.op[i], signed)

    def _signs_fit(self, op: i64, signed: i64) -> bool:
        """Whether no two of those sources have a sign of which one at most has (``one_sign`` of spec/encoding).

        ``signed``: mask of the sources that have one.
        """
        found = signed & self._one_sign[op]
        return found & (found - 1) == 0

    def _sign_fits(self, index: i64, operand: i64) -> bool:
        if not operand & opd.SIGNS:
            return True
        form = operand & opd.TYPE
        if form == opd.IS_IMM or form == opd.IS_POOL:
            return False  # the sign of a constant is part of it
        allowed = self._signs[index]
        if operand & opd.NEGATE and not allowed & 1:
            return False
        if operand & opd.ABSOLUTE and not allowed & 2:
            return False
        return not (operand & opd.COMPLEMENT and not allowed & 4)


def _is_signed(operand: i64) -> i64:
    """1 for an operand with a sign that is not part of a constant."""
    form = operand & opd.TYPE
    if not operand & opd.SIGNS or form == opd.IS_IMM or form == opd.IS_POOL:
        return 0
    return 1


def kind_of(f: Function, operand: i64) -> i64:
    """The kind of an operand as a source; ``KIND_NONE`` for 0, one that is left out."""
    form = operand & opd.TYPE
    if form == opd.IS_REG:
        index = operand & opd.INDEX
        if index != opd.RZ and index != opd.PT and f.reg_type[index] == UR:
            return KIND_UGPR
        return KIND_GPR
    if form == opd.IS_IMM or form == opd.IS_POOL:
        return KIND_IMM
    if form == opd.IS_SYMBOL:
        return KIND_CBANK if operand & opd.CONST_BANK else KIND_OTHER
    return KIND_NONE


@cache
def legality_of(isa: str) -> Legality:
    """The tables of an encoding model, made once."""
    return Legality(isa)
