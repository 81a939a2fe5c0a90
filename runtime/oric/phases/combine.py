"""Combinations of 64-bit operations with the definitions of their sources: sums, shifts, products, offsets of accesses."""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64
from oric_tables import op as op_numbers
from oric_tables import ops
from oric_tables.op import MUL64, SHL64

from oric.ir import operand as opd
from oric.ir.conditions import in_reach
from oric.ir.optable import MEMORY
from oric.ir.values import MASK32, Values

from .wide import SUMS, combine_product, combine_shift, combine_sum, sum_base


@final
class Access:
    """Where a memory operation has its base register and its offset; ``scale`` masks the modifier that multiplies the base."""

    def __init__(self, op: ops.Op) -> None:
        self.base: int = op.index("Ra")
        self.offset: int = op.index("off")
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
    """Take a constant that was added to a base of 64 bits into the offset."""
    f = values.f
    access = ACCESSES[f.op[i]]
    base, offset = f.get(i, access.base), f.get(i, access.offset)
    form = offset & opd.TYPE
    if f.mods[i] & access.scale or (form != opd.IS_IMM and form != opd.IS_POOL):
        return False
    if 0 <= access.uniform < f.count[i] and f.get(i, access.uniform) != opd.NO_OPERAND:
        return False
    if not opd.is_register(base) or opd.count_of(base) != 2:
        return False
    found = sum_base(values, base)
    if found is None:
        return False
    total: int = found[1] + _signed(f.imm_value(offset))
    if not in_reach(total):
        return False
    f.set(i, access.base, found[0])
    f.set(i, access.offset, f.imm(total))  # offsets are sign-extended to 64 bits
    values.changed += 1
    return True


def _signed(value: i64) -> i64:
    value &= MASK32
    return value - (1 << 32) if value >> 31 else value


def combine(values: Values, i: i64) -> bool:
    """Combine an instruction with the definitions of its sources; returns whether it changed."""
    op = values.f.op[i]
    changed = False
    if op in SUMS:
        changed = combine_sum(values, i)
    elif op == SHL64:
        changed = combine_shift(values, i)
    elif op == MUL64:
        changed = combine_product(values, i)
    elif op in ACCESSES:
        changed = fold_offset(values, i)
    if changed:
        values.combined += 1
    return changed
