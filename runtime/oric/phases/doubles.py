"""Phase 61: constants of doubles that no immediate holds are read from the function's own constant bank.

An immediate of a double is its upper word. Any other constant takes two registers, and moves where those are not worth keeping;
an operation can take one source from a bank. Source: observed (ptxas 13.0.88 does so on sm_75 to sm_89).
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64
from oric_tables.op import DADD, DFMA, DMUL, DSETP, MOV

from oric.ir import operand as opd
from oric.ir.facts import MASK32
from oric.ir.function import Function
from oric.ir.legality import Legality, legality_of
from oric.ir.module import BANK_COMPILER
from oric.ir.optable import OPS, instructions_with, marked
from oric.ir.passes import PassContext

from .cleanup import remove_dead_code
from .makers import Makers, makers_of

_FEATURE: Final = "banked_doubles"
_TAKERS: Final = marked((DADD, DMUL, DFMA, DSETP))
_COMMUTE: Final = frozenset({DADD, DMUL, DFMA})  # the first two sources
_FIRST: Final = 1


def bank_doubles(f: Function, ctx: PassContext) -> bool:
    """Returns whether any constant is in the bank now."""
    if f.for_debugger or not ctx.has_own_bank(f) or _FEATURE not in ctx.target.features:
        return False
    takers = instructions_with(f, _TAKERS)
    if not takers:
        return False
    makers = makers_of(f)
    legality = legality_of(ctx.target.isa_name)
    places: dict[int, int] = {}  # constant -> offset
    changed = 0
    for i in takers:
        at: i64 = 0
        while at < f.count[i]:
            if not OPS.writes_at(f.op[i], at) and _take(f, makers, legality, i, at, places, ctx.target.const_bank_bytes):
                changed += 1
                break  # one source of each can be in a bank
            at += 1
    ctx.count("constants of doubles from a bank", changed)
    if changed:
        remove_dead_code(f, ctx)
    return changed != 0


def _take(f: Function, makers: Makers, legality: Legality, i: i64, at: i64, places: dict[int, int], room: int) -> bool:
    operand = f.get(i, at)
    value = _constant(f, makers, i, operand)
    if value < 0 or not value & MASK32:
        return False
    offset = places.get(value, -1)
    if offset < 0 and f.attributes.double_end() > room:
        return False
    signs = operand & opd.SIGNS
    banked = opd.const_bank(BANK_COMPILER, offset if offset >= 0 else f.attributes.double_place()) | signs
    moves = at == _FIRST and f.op[i] in _COMMUTE and opd.is_register(f.get(i, _FIRST + 1))  # a number has its place there
    if moves and legality.takes_with(f, i, _FIRST + 1, banked):
        f.set(i, at, f.get(i, _FIRST + 1))
        at = _FIRST + 1
    elif not legality.takes_with(f, i, at, banked):
        return False
    if offset < 0:
        places[value] = f.attributes.add_double(value)
    f.set(i, at, banked)
    return True


def _constant(f: Function, makers: Makers, i: i64, operand: i64) -> int:
    """The number that a pair of registers holds, -1: it is not known."""
    if not opd.is_register(operand) or opd.count_of(operand) != 2:
        return -1
    value = 0
    for k in (0, 1):
        word = opd.word(operand & ~opd.SIGNS, k)
        if not makers.is_settled(word, i):
            return -1
        made = makers.of(word)
        if made < 0 or f.op[made] != MOV or f.mods[made] or f.guard[made]:
            return -1
        source = f.get(made, 1)
        form = source & opd.TYPE
        if source == opd.RZ_OPERAND:
            continue
        if form not in (opd.IS_IMM, opd.IS_POOL) or source & opd.SIGNS or f.links.get(source & opd.INDEX) is not None:
            return -1
        bits: int = f.imm_value(source) & MASK32  # a Python integer: the upper one may have its highest bit set
        value |= bits << 32 * k
    return value
