"""Bounds of words: the largest and the smallest number that a word can be, as those who made it tell.

Masks, shifts by constants, loads of less than a word, numbers of threads, sums and products of small numbers. They tell what sums
carry (:mod:`.carries`) and how comparisons come out. Source: observed (ptxas 13.0.88 knows masks, shifts, loads and numbers of
threads, and no sums).
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64
from oric_tables import ops
from oric_tables.op import IADD3, IMAD, IMAD_HI, ISETP, LOP3, POPC, S2R, SEL, SHF

from oric.ir import operand as opd
from oric.ir.facts import MASK32, NOT_CONSTANT, is_absent
from oric.ir.function import NONE
from oric.ir.operand import SIGNS
from oric.ir.optable import OPS
from oric.ir.special import largest_special
from oric.ir.values import Values

from .comparing import is_plain

OF_MINUS_NOTHING: Final = MASK32 + 1  # what -RZ is in a sum
_WORD_BITS: Final = 32
_DEPTH: Final = 4  # makers behind one another that are looked at
_MOST_SIGNED: Final = 0x7FFFFFFF
_MOST_UPPER: Final = MASK32 - 1  # of an upper word of (2^32 - 1)^2
_UNSIGNED: Final[int] = ops.op(IMAD_HI).pack(sign="U32")
_COMPARE: Final = ops.op(ISETP)
_RIGHT: Final[int] = ops.op(SHF).pack(dir="R", type="U32", hi=True)
_WRAPPING: Final[int] = ops.op(SHF).pack(dir="R", type="U32", hi=True, wrap="W")
_LUT: Final = ops.op(LOP3).mods["lut"]
_AND: Final = 0xC0, 0x80  # tables of the first two sources, and of three
_OR: Final = 0xFC, 0xFE
_PLAIN: Final = 4  # operands of a sum or product from there on carry, or are combined


def largest(values: Values, operand: i64, depth: i64 = 0) -> i64:
    """The largest number that a source can be. A minus is no number of 32 bits: that of 0 is 2^32."""
    if is_absent(operand) or operand == opd.RZ_OPERAND:
        return 0
    if operand & SIGNS:
        return MASK32 if operand & SIGNS == opd.COMPLEMENT else OF_MINUS_NOTHING
    number = values.constant(operand)
    if number != NOT_CONSTANT:
        return number
    if not opd.is_register(operand) or opd.count_of(operand) != 1 or depth >= _DEPTH:
        return MASK32
    bits = values.width_of(operand, 0)
    if bits < _WORD_BITS:
        return MASK32 >> _WORD_BITS - bits
    i = _maker(values, operand)
    return MASK32 if i == NONE else _largest_result(values, i, depth + 1)


def _maker(values: Values, operand: i64) -> i64:
    """The instruction that made a word, whatever has become of its sources since; ``NONE``: nobody knows."""
    i = values.last_def(values.f.words_of(operand))
    return NONE if i == NONE or values.f.guard[i] or values.f.get(i, 0) != operand else i


def _largest_result(values: Values, i: i64, depth: i64) -> i64:
    """The largest number that an instruction makes."""
    f = values.f
    op = f.op[i]
    if op == LOP3:
        return _largest_of_table(values, i, depth)
    if op == SHF and (f.mods[i] == _RIGHT or f.mods[i] == _WRAPPING):
        by = _fixed(values, i, 2)
        least = f.mods[i] == _WRAPPING or by < _WORD_BITS
        if f.get(i, 1) != opd.RZ_OPERAND or by == NOT_CONSTANT or not least:
            return MASK32
        return _inner(values, i, 3, depth) >> (by & _WORD_BITS - 1)
    if op == SEL:
        return max(_inner(values, i, 1, depth), _inner(values, i, 2, depth))
    if op == IMAD_HI and f.mods[i] == _UNSIGNED and f.get(i, _PLAIN - 1) == opd.RZ_OPERAND:
        return _MOST_UPPER
    if op == S2R:
        return largest_special(f.attributes, f.get(i, OPS.sreg[op]) & opd.INDEX)
    if op == POPC:
        return _WORD_BITS
    if (op == IADD3 or op == IMAD) and values.rest_is_default(i, _PLAIN):
        one, two, three = (_inner(values, i, at, depth) for at in (1, 2, 3))
        total = one + two + three if op == IADD3 else _product(one, two) + three
        return total if total <= MASK32 else MASK32
    return MASK32


def _largest_of_table(values: Values, i: i64, depth: i64) -> i64:
    """What logic makes has no bit that its table sets for nothing its sources can be; a conjunction is no larger than they."""
    f = values.f
    lut = f.mods[i] >> _LUT.shift & 0xFF
    most: i64 = MASK32
    ones = [MASK32, MASK32, MASK32]  # bits that each source can have ...
    zeros = [MASK32, MASK32, MASK32]  # ... and can lack
    for at in range(3):
        number = _fixed(values, i, at + 1)
        if number != NOT_CONSTANT:
            ones[at], zeros[at] = int(number), int(MASK32 & ~number)
        else:
            bound = _inner(values, i, at + 1, depth)
            ones[at] = int((1 << _length(bound)) - 1 & MASK32)
        if lut == _AND[1] or (lut == _AND[0] and at < 2):
            most = min(most, _inner(values, i, at + 1, depth))
    can: i64 = 0
    for case in range(8):
        if lut >> case & 1:
            can |= (ones if case & 4 else zeros)[0] & (ones if case & 2 else zeros)[1] & (ones if case & 1 else zeros)[2]
    return min(most, can)


def _length(number: i64) -> i64:
    bits: i64 = 0
    while number >> bits:
        bits += 1
    return bits


def _product(a: i64, b: i64) -> i64:
    return a * b if a <= _MOST_SIGNED and b <= _MOST_SIGNED else OF_MINUS_NOTHING


def _inner(values: Values, i: i64, at: i64, depth: i64) -> i64:
    """The same of what a maker has read, which may have been written again since."""
    return largest(values, values.f.get(i, at), depth) if _is_as_read(values, i, at) else MASK32


def _fixed(values: Values, i: i64, at: i64) -> i64:
    """The constant that a maker has read, or ``NOT_CONSTANT``."""
    return values.constant(values.f.get(i, at)) if _is_as_read(values, i, at) else NOT_CONSTANT


def _is_as_read(values: Values, i: i64, at: i64) -> bool:
    return values.is_as_read(values.f.words_of(values.f.get(i, 0)), values.f.get(i, at))


def smallest(values: Values, operand: i64) -> i64:
    """The smallest number that a source can be."""
    if operand == opd.RZ_OPERAND | opd.NEGATE:
        return OF_MINUS_NOTHING
    if operand == opd.RZ_OPERAND | opd.COMPLEMENT:
        return MASK32
    if is_absent(operand) or operand & SIGNS:
        return 0
    number = values.constant(operand)
    if number != NOT_CONSTANT:
        return number
    i = _maker(values, operand) if opd.is_register(operand) and opd.count_of(operand) == 1 else NONE
    if i == NONE or values.f.op[i] != LOP3 or values.f.mods[i] >> _LUT.shift & 0xFF not in _OR:
        return 0
    least: i64 = 0
    for at in (1, 2, 3):
        found = _fixed(values, i, at)
        if found != NOT_CONSTANT and (at < 3 or values.f.mods[i] >> _LUT.shift & 0xFF == _OR[1]):
            least = max(least, found)
    return least


def outcome(values: Values, i: i64) -> i64:
    """How a comparison of words surely comes out: PT or !PT; 0: nobody knows, or it depends on more than the words."""
    f = values.f
    if not is_plain(f, i):
        return 0
    how = _COMPARE.unpack(f.mods[i])
    a, b = f.get(i, 1), f.get(i, 2)
    if (a | b) & SIGNS or (values.constant(a) == NOT_CONSTANT) == (values.constant(b) == NOT_CONSTANT):
        return 0
    most, least = [largest(values, a), largest(values, b)], [smallest(values, a), smallest(values, b)]
    if how["sign"] == "S32":
        for side in range(2):
            if least[side] > _MOST_SIGNED:  # a constant below 0
                most[side] -= OF_MINUS_NOTHING
                least[side] -= OF_MINUS_NOTHING
            elif most[side] > _MOST_SIGNED:
                return 0
    return _known(str(how["cmp"]), least, most)


def _known(relation: str, least: list[int], most: list[int]) -> i64:
    """What is known of two numbers of which each lies between a least and a most."""
    below, above = most[0] < least[1], least[0] > most[1]
    not_above, not_below = most[0] <= least[1], least[0] >= most[1]
    surely = {"LT": below, "LE": not_above, "GT": above, "GE": not_below, "NE": below or above}.get(relation, False)
    never = {"LT": not_below, "LE": above, "GT": not_above, "GE": below, "EQ": below or above}.get(relation, False)
    return opd.PT_OPERAND if surely else opd.NOT_PT_OPERAND if never else 0
