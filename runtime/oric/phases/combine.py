"""Combinations of an instruction with the definitions of its sources: sums, multiply-adds, signs, 64-bit addresses, offsets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from oric_tables import ops
from oric_tables.ops import DADD, DFMA, DMUL, DSETP, FADD, FFMA, FMNMX, FMUL, FSETP, IADD3, IADD3_X, IMAD, IMAD_WIDE, LOP3

from oric.ir import operand as opd
from oric.ir.code import Instruction
from oric.ir.optable import INFO, MEMORY

from .logic import combine_lop3
from .values import MASK32, PART, SIGNS, Values

_REG_TYPE: Final = opd.REG << opd.TYPE_SHIFT
_TYPE: Final = 7 << opd.TYPE_SHIFT
_OFFSET_LIMIT: Final = 1 << 23  # offsets of memory accesses are signed, 24 bits


def _is_register(operand: int) -> bool:
    return operand & _TYPE == _REG_TYPE and operand & opd.INDEX_MASK not in (opd.RZ, opd.PT)


def _writes_one(node: Instruction) -> bool:
    """Whether an instruction writes nothing but its first operand."""
    return not any(_is_register(node.operands[p]) for p in INFO[node.op].writes if 0 < p < len(node.operands))


# -- 32-bit sums -------------------------------------------------------------------------------------------


def combine_add(values: Values, node: Instruction) -> bool:
    """``(a + b) + c`` becomes one sum, ``a * b + c`` one multiply-add."""
    if not _writes_one(node):
        return False
    operands = node.operands
    terms = [o for o in operands[1:4] if o & (_TYPE | opd.INDEX_MASK) != opd.RZ_OPERAND]
    for term in terms:
        if not _is_register(term):
            continue
        inner = values.source_def(term)
        if inner is None or not _writes_one(inner) or inner.operands[0] != term & ~SIGNS:
            continue
        rest = terms.copy()
        rest.remove(term)
        if inner.op == IADD3:
            made = _sum(values, rest, inner.operands[1:4], term)
            if made is not None and values.accepts(IADD3, [operands[0], *made]):
                node.operands = [operands[0], *made]
                values.changed += 1
                return True
        elif inner.op == IMAD and not term & SIGNS and len(rest) <= 1 and inner.operands[3] == opd.RZ_OPERAND:
            operands_made = [operands[0], *inner.operands[1:3], rest[0] if rest else opd.RZ_OPERAND]
            if values.accepts(IMAD, operands_made):
                node.op, node.mods, node.operands = IMAD, inner.mods, operands_made
                values.changed += 1
                return True
    return False


def _sum(values: Values, rest: list[int], inner: list[int], term: int) -> list[int] | None:
    """Three sources with the sum of ``rest`` and ``inner`` (the terms of ``term``), None when they are too many."""
    if term & (opd.ABSOLUTE | opd.COMPLEMENT):
        return None
    total = 0
    others: list[int] = []
    for operand, flip in [*((o, 0) for o in rest), *((o, term & opd.NEGATE) for o in inner)]:
        number = values.constant(operand)
        if number is not None:
            total += -number if flip else number
        elif operand & (opd.ABSOLUTE | opd.COMPLEMENT):
            return None
        else:
            others.append(operand ^ flip)
    total &= MASK32
    banks = [o for o in others if not _is_register(o)]
    registers = [o for o in others if _is_register(o)]
    middle = [values.code.imm(total)] if total else banks
    if len(banks) + bool(total) > 1 or len(registers) > (2 if middle else 3):
        return None
    if not middle:
        registers += [opd.RZ_OPERAND] * (3 - len(registers))
        return registers
    registers += [opd.RZ_OPERAND] * (2 - len(registers))
    return [registers[0], middle[0], registers[1]]


# -- signs -------------------------------------------------------------------------------------------------


def _flush(word: int) -> int:
    """The modifier bit with which an operation takes subnormal numbers for zero; 0 when it has none."""
    ftz = ops.OPS[ops.NUMBER[word]].mods.get("ftz")
    return ftz.mask << ftz.shift if ftz is not None else 0


_SIGN_CHANGES: Final = {FADD: _flush(FADD), DADD: _flush(DADD)}  # x + -0 is x: what such a sum leaves is the signs of its term
_SIGNED: Final = {
    **{word: (FADD, _flush(word)) for word in (FADD, FMUL, FFMA, FSETP, FMNMX)},
    **{word: (DADD, _flush(word)) for word in (DADD, DMUL, DFMA, DSETP)},
}


def fold_sign(values: Values, node: Instruction) -> bool:
    """Negations and absolute values of sources become modifiers where the operation has them."""
    change, flush = _SIGNED[node.op]
    operands = node.operands
    for place in INFO[node.op].reads:
        term = operands[place] if place < len(operands) else 0
        if not term or not _is_register(term):
            continue
        inner = values.source_def(term)
        if inner is None or inner.op != change or inner.guard or inner.operands[0] != term & ~SIGNS:
            continue
        if term & opd.WIDE and values.source_def(term + (1 << opd.COMPONENT_SHIFT)) is not inner:
            continue  # the upper half has been changed since
        source = _signed_term(inner, node.mods & flush)
        if not source:
            continue
        if term & opd.ABSOLUTE:
            source = source & ~opd.NEGATE | opd.ABSOLUTE
        trial = operands.copy()
        trial[place] = source ^ (term & opd.NEGATE)
        if values.accepts(node.op, trial):
            node.operands = trial
            values.changed += 1
            return True
    return False


def _signed_term(inner: Instruction, flushes: int) -> int:
    """``x`` with its signs when an addition is ``x + -0`` and does nothing else, also to subnormal numbers; else 0."""
    if inner.mods & ~(_SIGN_CHANGES[inner.op] if flushes else 0):
        return 0
    zero = opd.RZ_OPERAND | opd.NEGATE
    first, second = inner.operands[1:3]
    if zero not in (first, second):
        return 0
    return first if second == zero else second


# -- 64-bit sums -------------------------------------------------------------------------------------------


def combine_wide_add(values: Values, node: Instruction) -> bool:
    """A 64-bit sum of a product and a pair becomes one wide multiply-add.

    ``node`` is the upper half of the sum, directly behind the lower half.
    """
    low = node.prev
    operands = node.operands
    if low is None or low.op != IADD3 or low.guard or len(operands) < 7 or not _is_upper_half(node, low):
        return False
    for at, other in ((1, 2), (2, 1)):
        for high_at, high_other in ((at, other), (other, at)):
            pair = values.pair_of(low.operands[at], operands[high_at])
            base = values.pair_of(low.operands[other], operands[high_other])
            if not pair or not base or not _is_register(pair):
                continue
            product = values.source_def(low.operands[at])
            if product is None or product.op != IMAD_WIDE or not _writes_one(product):
                continue
            if values.source_def(operands[high_at]) is not product:  # the upper half has been changed since
                continue
            if product.operands[3] != opd.RZ_OPERAND or product.operands[0] != pair or product.guard:
                continue
            return _multiply_add(values, node, low, product, base)
    return False


def _is_upper_half(node: Instruction, low: Instruction) -> bool:
    operands = node.operands
    if low.operands[3] != opd.RZ_OPERAND or operands[3] != opd.RZ_OPERAND or len(low.operands) < 5:
        return False
    if any(o & SIGNS for o in (*low.operands[:3], *operands[:3])) or not _writes_one(node):
        return False
    carry = low.operands[4]
    if not _is_register(carry) or operands[6] != carry or any(o != opd.NOT_PT_OPERAND for o in operands[7:8]):
        return False
    if any(_is_register(o) for o in low.operands[5:6]):
        return False
    dest = low.operands[0]
    return _is_register(dest) and operands[0] == dest + (1 << opd.COMPONENT_SHIFT) and not dest >> opd.COMPONENT_SHIFT & 1


def _multiply_add(values: Values, node: Instruction, low: Instruction, product: Instruction, base: int) -> bool:
    dest = low.operands[0] | opd.WIDE | 1 << opd.WIDTH_SHIFT
    made = [dest, *product.operands[1:3], base]
    if not values.accepts(IMAD_WIDE, made):
        number = values.constant(made[2])
        if number is None or not number:
            return False
        trial = [dest, made[1], opd.RZ_OPERAND, base]
        if not values.accepts(IMAD_WIDE, trial):
            return False
        made[2] = values.constant_register(number)
    low.operands[0] = opd.RZ_OPERAND
    node.op, node.mods, node.operands = IMAD_WIDE, product.mods, made
    values.changed += 1
    return True


# -- addresses ---------------------------------------------------------------------------------------------


class _Access:
    """Where a memory operation has its base register and its offset; ``scale`` masks the modifier that multiplies the base."""

    __slots__ = ("base", "offset", "op", "scale", "uniform")

    def __init__(self, op: ops.Op) -> None:
        self.base = op.index("Ra")
        self.offset = op.index("off")
        self.op = op
        names = [o.name for o in op.operands]
        self.uniform = names.index("URa") if "URa" in names else -1
        scale = op.mods.get("scale")
        self.scale = scale.mask << scale.shift if scale is not None else 0


def _accesses() -> dict[int, _Access]:
    found = {}
    for op in ops.OPS:
        if op is not None and op.effects & MEMORY and not op.effects & ops.E_CONSTANT:
            names = {o.name for o in op.operands}
            if {"Ra", "off"} <= names and op.operands[op.index("off")].kind == "imm":
                found[op.word] = _Access(op)
    return found


_ACCESSES: Final = _accesses()


def fold_offset(values: Values, node: Instruction) -> bool:
    """Take a constant that was added to the base register into the offset."""
    access = _ACCESSES[node.op]
    operands = node.operands
    base, offset = operands[access.base], operands[access.offset]
    if node.mods & access.scale or offset & _TYPE not in (opd.IMM << opd.TYPE_SHIFT, opd.POOL << opd.TYPE_SHIFT):
        return False
    if 0 <= access.uniform < len(operands) and operands[access.uniform] != opd.NO_OPERAND:
        return False
    if not _is_register(base):
        return False
    wide = access.op.regs(access.base, node.mods) == 2
    found = _wide_base(values, base) if wide else _narrow_base(values, base)
    if found is None:
        return False
    total = found[1] + _signed(values.code.imm_value(offset))
    if not -_OFFSET_LIMIT <= total < _OFFSET_LIMIT:
        return False
    operands[access.base] = found[0]
    operands[access.offset] = values.code.imm(total)  # offsets are sign-extended to 64 bits
    values.changed += 1
    return True


def _signed(value: int) -> int:
    value &= MASK32
    return value - (1 << 32) if value >> 31 else value


def _narrow_base(values: Values, base: int) -> tuple[int, int] | None:
    """(register, constant) whose sum a 32-bit base register holds."""
    slot = values.bases[base & opd.INDEX_MASK] + (base >> opd.COMPONENT_SHIFT & 3)
    known = values.constant(values.known(slot) or base)
    if known is not None:
        return opd.RZ_OPERAND, _signed(known)
    inner = values.source_def(base)
    if inner is None or inner.op != IADD3 or not _writes_one(inner):
        return None
    numbers = [values.constant(o) for o in inner.operands[1:4]]
    registers = [o for o, n in zip(inner.operands[1:4], numbers, strict=True) if n is None]
    if len(registers) != 1 or registers[0] & SIGNS or not _is_register(registers[0]):
        return None
    return registers[0], _signed(sum(n for n in numbers if n is not None))


def _wide_base(values: Values, base: int) -> tuple[int, int] | None:
    """(pair, constant) whose sum a 64-bit base register holds."""
    if base >> opd.WIDTH_SHIFT & 3 != 1:
        return None
    part = base & ~(opd.WIDE | 3 << opd.WIDTH_SHIFT)
    high = values.source_def(part + (1 << opd.COMPONENT_SHIFT))
    low = values.source_def(part)
    if high is None or low is None or high.op != IADD3_X or low.op != IADD3 or high.prev is not low:
        return None
    if len(high.operands) < 7 or not _is_upper_half(high, low) or low.operands[0] != part:
        return None
    for at, other in ((1, 2), (2, 1)):
        step, upper = values.constant(low.operands[at]), values.constant(high.operands[at])
        pair = values.pair_of(low.operands[other], high.operands[other])
        if step is None or upper not in (0, MASK32) or not pair or not _is_register(pair):
            continue
        if (upper == MASK32) != bool(step >> 31):
            continue  # beyond 31 bits
        return pair, _signed(step)
    return None


COMBINE: Final[dict[int, Callable[[Values, Instruction], bool]]] = {
    IADD3: combine_add,
    IADD3_X: combine_wide_add,
    **dict.fromkeys(_SIGNED, fold_sign),
    LOP3: combine_lop3,
    **dict.fromkeys(_ACCESSES, fold_offset),
}
assert PART & opd.INDEX_MASK == 0
