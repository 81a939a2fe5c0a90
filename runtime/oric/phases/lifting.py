"""Phase 59: constants get into uniform registers without a general one in between.

Where operations read uniform registers, what a program has in a general one is moved there, whatever it is. Of a register that
holds one constant throughout the uniform register takes that itself. Source: observed (ptxas 13.0.88).
"""

from __future__ import annotations

from mypy_extensions import i64
from oric_tables.op import MOV, R2UR, UMOV

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.facts import is_absent
from oric.ir.function import NONE, Function
from oric.ir.passes import PassContext

from .cleanup import remove_dead_code
from .makers import makers_of


def lift_constants(f: Function, ctx: PassContext) -> bool:
    """Let uniform registers have constants; returns whether any does."""
    moves = _moves(f)
    if not moves:
        return False
    makers = makers_of(f)
    cursor = Cursor(f)
    lifted: i64 = 0
    for i in moves:
        value = f.get(i, 1)
        if opd.is_register(value):
            maker = makers.of(value)
            value = f.get(maker, 1) if maker >= 0 and _is_move(f, maker) else opd.NO_OPERAND
        if _is_constant(value):
            cursor.rewrite(i, UMOV, 0, 2)
            f.set(i, 1, f.imm(0) if value == opd.RZ_OPERAND else value)
            lifted += 1
    ctx.count("constants in uniform registers", lifted)
    if lifted:
        remove_dead_code(f, ctx)
    return lifted != 0


def _moves(f: Function) -> list[int]:
    """The moves of one word into a uniform register that all threads make alike, and that say nothing else of it."""
    found: list[int] = []
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            if f.op[i] == R2UR and not f.guard[i] and opd.is_register(f.get(i, 0)):
                if f.count[i] < 3 or is_absent(f.get(i, 2)) or f.get(i, 2) == opd.PT_OPERAND:
                    found.append(int(i))
            i = f.next[i]
        b += 1
    return found


def _is_move(f: Function, i: i64) -> bool:
    """Whether an instruction moves something into a register, in all threads."""
    return f.op[i] == MOV and not f.guard[i] and not f.mods[i]


def _is_constant(value: i64) -> bool:
    """Whether an operand is a number."""
    form = value & opd.TYPE
    return value == opd.RZ_OPERAND or ((form == opd.IS_IMM or form == opd.IS_POOL) and not value & opd.SIGNS)
