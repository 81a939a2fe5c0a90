"""Combinations of 64-bit sums, shifts and products while they are whole: constants, wide products, offsets of accesses."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64
from oric_tables import ops
from oric_tables.op import ADD64, IMAD_WIDE, LEA64, MOV, SHF, SHL64, SUB64

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import NONE
from oric.ir.operand import SIGNS
from oric.ir.values import MASK32, NOT_CONSTANT, Values

SUMS: Final = frozenset({ADD64, SUB64})
_TOP: Final = 31  # bits of a word behind its sign
_SIGN_OF: Final = ops.op(SHF).pack(dir="R", type="S32", hi=True)  # modifiers of the shift that copies a sign into a word
_UNSIGNED: Final = ops.op(IMAD_WIDE).pack(sign="U32")


def combine_sum(values: Values, i: i64) -> bool:
    """A 64-bit sum or difference: constants are added up, and a product becomes a wide multiply-add."""
    f = values.f
    _constant_last(values, i)
    number = _constant(values, f.get(i, 2))
    if number is None:
        return f.op[i] == ADD64 and (_multiply_add(values, i) or _shifted_sum(values, i))
    if f.op[i] == SUB64:
        number = -number
    base = f.get(i, 1)
    start = _constant(values, base)
    if start is not None:
        return _become_constant(values, i, start + number)
    inner = _sum_with_constant(values, base)
    if inner != NONE:
        more = _constant(values, f.get(inner, 2))
        assert more is not None  # as it is such a sum
        base, number = f.get(inner, 1), number + more
    return _become_sum(values, i, base, number)


def _constant_last(values: Values, i: i64) -> None:
    """Let the sources of a sum or product change places when the first is a constant."""
    f = values.f
    first, second = f.get(i, 1), f.get(i, 2)
    if f.op[i] != SUB64 and _constant(values, first) is not None and _constant(values, second) is None:
        f.set(i, 1, second)
        f.set(i, 2, first)


def sum_base(values: Values, base: i64) -> tuple[int, int] | None:
    """(pair, constant) whose sum a 64-bit base register holds."""
    inner = _sum_with_constant(values, base)
    if inner == NONE:
        return None
    number = _constant(values, values.f.get(inner, 2))
    assert number is not None  # as it is such a sum
    return values.f.get(inner, 1), number


def _sum_with_constant(values: Values, operand: i64) -> i64:
    """The instruction that made a pair as the sum of a register pair and a constant; ``NONE`` when none did."""
    inner = definition_of_pair(values, operand)
    if inner == NONE or values.f.op[inner] != ADD64 or not _is_pair(values.f.get(inner, 1)):
        return NONE
    return inner if _is_immediate(values.f.get(inner, 2)) else NONE


def definition_of_pair(values: Values, operand: i64) -> i64:
    """The unguarded instruction that made both words of a pair, if its sources still hold what it read; else ``NONE``."""
    if not _is_pair(operand) or operand & SIGNS:
        return NONE
    inner = values.source_def(opd.word(operand, 0))
    if inner == NONE or values.source_def(opd.word(operand, 1)) != inner or values.f.get(inner, 0) != operand:
        return NONE
    return inner


def _is_pair(operand: i64) -> bool:
    return opd.is_register(operand) and opd.count_of(operand) == 2


def _is_immediate(operand: i64) -> bool:
    form = operand & opd.TYPE
    return form == opd.IS_IMM or form == opd.IS_POOL


def _constant(values: Values, operand: i64) -> int | None:
    """The number that a 64-bit operand is known to be."""
    if _is_immediate(operand):
        return values.f.imm_value(operand)
    if operand & (opd.TYPE | opd.INDEX) == opd.RZ_OPERAND:
        return 0
    if not _is_pair(operand):
        return None
    low, high = values.constant(opd.word(operand, 0)), values.constant(opd.word(operand, 1))
    if low == NOT_CONSTANT or high == NOT_CONSTANT:
        return None
    return _signed(low | high << 32)


def _signed(number: int) -> int:
    """A 64-bit pattern, or any number with its lower bits, as the signed number that immediates hold."""
    number &= 0xFFFFFFFFFFFFFFFF
    return number - (1 << 64) if number >> 63 else number


def _become_constant(values: Values, i: i64, number: int) -> bool:
    f = values.f
    low, high = number & MASK32, number >> 32 & MASK32
    _become_copies(values, i, f.imm(low) if low else opd.RZ_OPERAND, f.imm(high) if high else opd.RZ_OPERAND)
    return True


def _become_sum(values: Values, i: i64, base: i64, number: int) -> bool:
    """Let an instruction be ``base + number``."""
    f = values.f
    number = _signed(number)
    if not number and _is_pair(base):
        _become_copies(values, i, opd.word(base, 0), opd.word(base, 1))
        return True
    addend = f.imm(number) if number else opd.RZ_OPERAND
    if f.op[i] == ADD64 and f.get(i, 1) == base and f.get(i, 2) == addend:
        return False
    Cursor(f).rewrite(i, ADD64, 0, 3)
    f.set(i, 1, base)
    f.set(i, 2, addend)
    values.changed += 1
    return True


def _become_copies(values: Values, i: i64, low: i64, high: i64) -> None:
    """Let an instruction and a new one in front of it copy the words of a pair."""
    f = values.f
    dest = f.get(i, 0)
    cursor = Cursor(f)
    cursor.in_front(i)
    first = cursor.make2(MOV, opd.word(dest, 0), low)
    values.define(first)
    values.learn(f.words_of(opd.word(dest, 0)), low)
    cursor.rewrite(i, MOV, 0, 2)
    f.set(i, 0, opd.word(dest, 1))
    f.set(i, 1, high)
    values.changed += 1


def _multiply_add(values: Values, i: i64) -> bool:
    """The sum of a product and a pair becomes one wide multiply-add."""
    f = values.f
    at: i64 = 1
    while at < 3:
        product = definition_of_pair(values, f.get(i, at))
        if product != NONE and f.op[product] == IMAD_WIDE and f.count[product] == 4 and f.get(product, 3) == opd.RZ_OPERAND:
            if _take_product(values, i, product, f.get(i, 3 - at)):
                return True
        at += 1
    return False


def _take_product(values: Values, i: i64, product: i64, base: i64) -> bool:
    f = values.f
    first, second = f.get(product, 1), f.get(product, 2)
    if not values.legality.takes(f, IMAD_WIDE, first, second, base):
        number = values.constant(second)
        if number == NOT_CONSTANT or not number or not values.legality.takes(f, IMAD_WIDE, first, opd.RZ_OPERAND, base):
            return False
        second = values.constant_register(number)
    Cursor(f).rewrite(i, IMAD_WIDE, f.mods[product], 4)
    f.set(i, 1, first)
    f.set(i, 2, second)
    f.set(i, 3, base)
    values.changed += 1
    return True


def _shifted_sum(values: Values, i: i64) -> bool:
    """The sum of a shifted pair and another one becomes one shift and add."""
    f = values.f
    at: i64 = 1
    while at < 3:
        shift = definition_of_pair(values, f.get(i, at))
        if shift != NONE and f.op[shift] == SHL64 and _is_immediate(f.get(shift, 2)):
            amount = f.imm_value(f.get(shift, 2))
            if 0 < amount <= _TOP:
                base = f.get(i, 3 - at)
                Cursor(f).rewrite(i, LEA64, 0, 4)
                f.set(i, 1, f.get(shift, 1))
                f.set(i, 2, base)
                f.set(i, 3, opd.imm(amount))
                values.changed += 1
                return True
        at += 1
    return False


def combine_shift(values: Values, i: i64) -> bool:
    """A word that is extended to 64 bits and shifted is a product of 32-bit numbers."""
    f = values.f
    if not _is_immediate(f.get(i, 2)) or not _is_pair(f.get(i, 1)):
        return False
    amount = f.imm_value(f.get(i, 2))
    word = _extended(values, f.get(i, 1))
    if not 0 < amount < _TOP or not word or not values.legality.takes(f, IMAD_WIDE, word, opd.imm(1), opd.RZ_OPERAND):
        return False
    _become_product(values, i, word, f.imm(1 << amount), _is_unsigned(values, f.get(i, 1)))
    return True


def combine_product(values: Values, i: i64) -> bool:
    """A 64-bit product: of constants a constant, by a power of two a shift, of extended words a wide product."""
    f = values.f
    _constant_last(values, i)
    number = _constant(values, f.get(i, 2))
    if number is not None:
        return _product_with_constant(values, i, number)
    first, second = _extended(values, f.get(i, 1)), _extended(values, f.get(i, 2))
    unsigned = _is_unsigned(values, f.get(i, 1))
    if not first or not second or unsigned != _is_unsigned(values, f.get(i, 2)):
        return False
    if not values.legality.takes(f, IMAD_WIDE, first, second, opd.RZ_OPERAND):
        return False
    _become_product(values, i, first, second, unsigned)
    return True


def _product_with_constant(values: Values, i: i64, number: int) -> bool:
    f = values.f
    base = f.get(i, 1)
    start = _constant(values, base)
    if start is not None or not number:
        return _become_constant(values, i, (start or 0) * number)
    if number > 0 and not number & (number - 1):
        Cursor(f).rewrite(i, SHL64, 0, 3)
        f.set(i, 2, opd.imm(number.bit_length() - 1) if number > 1 else opd.RZ_OPERAND)
        values.changed += 1
        if number > 1:
            combine_shift(values, i)
        elif _is_pair(base):
            _become_copies(values, i, opd.word(base, 0), opd.word(base, 1))
        return True
    if not _is_pair(base):
        return False
    word = _extended(values, base)
    if not 0 < number < 1 << _TOP or not word or not values.legality.takes(f, IMAD_WIDE, word, opd.imm(1), opd.RZ_OPERAND):
        return False
    _become_product(values, i, word, f.imm(number), _is_unsigned(values, base))
    return True


def _become_product(values: Values, i: i64, first: i64, second: i64, unsigned: bool) -> None:
    """Let an instruction be the 64-bit product of two words."""
    f = values.f
    Cursor(f).rewrite(i, IMAD_WIDE, _UNSIGNED if unsigned else 0, 4)
    f.set(i, 1, first)
    f.set(i, 2, second)
    f.set(i, 3, opd.RZ_OPERAND)
    values.changed += 1


def _is_unsigned(values: Values, pair: i64) -> bool:
    """Whether the upper word of a pair is 0."""
    return _is_pair(pair) and values.known(values.f.words_of(opd.word(pair, 1))) == opd.RZ_OPERAND


def _extended(values: Values, pair: i64) -> i64:
    """The register word whose value, extended with zeros or with its sign, a pair holds; 0 when it holds no such value."""
    f = values.f
    if not _is_pair(pair):
        return 0
    low = opd.word(pair, 0)
    known = values.known(f.words_of(low))
    word = known if known else low
    if not opd.is_register(word) or word & SIGNS:
        return 0
    high = opd.word(pair, 1)
    if values.known(f.words_of(high)) == opd.RZ_OPERAND:
        return word
    sign = values.source_def(high)
    if sign == NONE or f.op[sign] != SHF or f.mods[sign] != _SIGN_OF or f.get(sign, 1) != opd.RZ_OPERAND:
        return 0
    if values.constant(f.get(sign, 2)) != _TOP or f.get(sign, 0) != high:
        return 0
    return word if f.get(sign, 3) == word or f.get(sign, 3) == low else 0
