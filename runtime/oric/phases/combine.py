"""Combinations of 64-bit sums, which are two instructions each: multiply-adds, offsets."""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64
from oric_tables import op as op_numbers
from oric_tables import ops
from oric_tables.op import IADD3, IADD3_X, IMAD_WIDE

from oric.ir import operand as opd
from oric.ir.conditions import in_reach
from oric.ir.cursor import Cursor
from oric.ir.function import NONE
from oric.ir.operand import SIGNS
from oric.ir.optable import MEMORY
from oric.ir.values import MASK32, NOT_CONSTANT, Values

# -- 64-bit sums -------------------------------------------------------------------------------------------


def combine_wide_add(values: Values, i: i64) -> bool:
    """A 64-bit sum of a product and a pair becomes one wide multiply-add.

    ``i`` is the upper half of the sum, directly behind the lower half.
    """
    f = values.f
    low = f.prev[i]
    if low == NONE or f.op[low] != IADD3 or f.guard[low] or f.count[i] < 7 or not _is_upper_half(values, i, low):
        return False
    for at in (1, 2):
        for high_at in (at, 3 - at):
            pair = values.pair_of(f.get(low, at), f.get(i, high_at))
            base = values.pair_of(f.get(low, 3 - at), f.get(i, 3 - high_at))
            if not pair or not base or not opd.is_register(pair):
                continue
            product = values.source_def(f.get(low, at))
            if product == NONE or f.op[product] != IMAD_WIDE or not values.is_only_result(product):
                continue
            if values.source_def(f.get(i, high_at)) != product:  # the upper half has been changed since
                continue
            if f.get(product, 3) != opd.RZ_OPERAND or f.get(product, 0) != pair or f.guard[product]:
                continue
            return _multiply_add(values, i, low, product, base)
    return False


def _is_upper_half(values: Values, i: i64, low: i64) -> bool:
    f = values.f
    if f.get(low, 3) != opd.RZ_OPERAND or f.get(i, 3) != opd.RZ_OPERAND or f.count[low] < 5:
        return False
    at: i64 = 0
    while at < 3:
        if (f.get(low, at) | f.get(i, at)) & SIGNS:
            return False
        at += 1
    if not values.is_only_result(i):
        return False
    carry = f.get(low, 4)
    if not opd.is_register(carry) or f.get(i, 6) != carry or (f.count[i] > 7 and f.get(i, 7) != opd.NOT_PT_OPERAND):
        return False
    if f.count[low] > 5 and opd.is_register(f.get(low, 5)):
        return False
    dest = f.get(low, 0)
    return opd.is_register(dest) and f.get(i, 0) == opd.word(dest, 1) and not opd.first_of(dest) & 1


def _multiply_add(values: Values, i: i64, low: i64, product: i64, base: i64) -> bool:
    f = values.f
    dest = opd.with_span(f.get(low, 0), 1)
    first, second = f.get(product, 1), f.get(product, 2)
    if not values.legality.takes(f, IMAD_WIDE, first, second, base):
        number = values.constant(second)
        if number == NOT_CONSTANT or not number:
            return False
        if not values.legality.takes(f, IMAD_WIDE, first, opd.RZ_OPERAND, base):
            return False
        second = values.constant_register(number)
    f.set(low, 0, opd.RZ_OPERAND)
    Cursor(f).rewrite(i, IMAD_WIDE, f.mods[product], 4)
    f.set(i, 0, dest)
    f.set(i, 1, first)
    f.set(i, 2, second)
    f.set(i, 3, base)
    values.changed += 1
    return True


# -- addresses ---------------------------------------------------------------------------------------------


@final
class Access:
    """Where a memory operation has its base register and its offset; ``scale`` masks the modifier that multiplies the base."""

    def __init__(self, op: ops.Op) -> None:
        self.base: int = op.index("Ra")
        self.offset: int = op.index("off")
        self.op = op
        names = [o.name for o in op.operands]
        self.uniform: int = names.index("URa") if "URa" in names else -1
        scale = op.mods.get("scale")
        self.scale: int = scale.mask << scale.shift if scale is not None else 0


def _accesses() -> dict[int, Access]:
    found = {}
    for op in ops.OPS:
        if op is not None and op.effects & MEMORY and not op.effects & op_numbers.E_CONSTANT:
            names = {o.name for o in op.operands}
            if {"Ra", "off"} <= names and op.operands[op.index("off")].kind == "imm":
                found[op.number] = Access(op)
    return found


ACCESSES: Final = _accesses()


def fold_offset(values: Values, i: i64) -> bool:
    """Take a constant that was added to the base register into the offset."""
    f = values.f
    access = ACCESSES[f.op[i]]
    base, offset = f.get(i, access.base), f.get(i, access.offset)
    form = offset & opd.TYPE
    if f.mods[i] & access.scale or (form != opd.IS_IMM and form != opd.IS_POOL):
        return False
    if 0 <= access.uniform < f.count[i] and f.get(i, access.uniform) != opd.NO_OPERAND:
        return False
    if not opd.is_register(base):
        return False
    if access.op.regs(access.base, f.mods[i]) != 2:
        return False
    found = _wide_base(values, base)
    if found is None:
        return False
    total: i64 = found[1] + _signed(f.imm_value(offset))
    if not in_reach(total):
        return False
    f.set(i, access.base, found[0])
    f.set(i, access.offset, f.imm(total))  # offsets are sign-extended to 64 bits
    values.changed += 1
    return True


def _signed(value: i64) -> i64:
    value &= MASK32
    return value - (1 << 32) if value >> 31 else value


def _wide_base(values: Values, base: i64) -> tuple[int, int] | None:
    """(pair, constant) whose sum a 64-bit base register holds."""
    f = values.f
    if opd.count_of(base) != 2:
        return None
    part = opd.word(base, 0)
    high = values.source_def(opd.word(base, 1))
    low = values.source_def(part)
    if high == NONE or low == NONE or f.op[high] != IADD3_X or f.op[low] != IADD3 or f.prev[high] != low:
        return None
    if f.count[high] < 7 or not _is_upper_half(values, high, low) or f.get(low, 0) != part:
        return None
    for at in (1, 2):
        step, upper = values.constant(f.get(low, at)), values.constant(f.get(high, at))
        pair = values.pair_of(f.get(low, 3 - at), f.get(high, 3 - at))
        if step == NOT_CONSTANT or upper not in (0, MASK32) or not pair or not opd.is_register(pair):
            continue
        if (upper == MASK32) != bool(step >> 31):
            continue  # beyond 31 bits
        return pair, _signed(step)
    return None


def combine(values: Values, i: i64) -> bool:
    """Combine an instruction with the definitions of its sources; returns whether it changed."""
    op = values.f.op[i]
    if (op == IADD3_X and combine_wide_add(values, i)) or (op in ACCESSES and fold_offset(values, i)):
        values.combined += 1
        return True
    return False
