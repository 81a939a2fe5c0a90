"""Phase 11: what is known of a launch before it happens."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64
from oric_tables.op import MOV
from oric_tables.operand_kinds import BLOCK_PLACES

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function, R
from oric.ir.legality import legality_of
from oric.ir.optable import LOAD, OPS, SPECIAL
from oric.ir.passes import PassContext

_WORD: Final = 4  # bytes of a dimension in the constant bank


def replace_uniforms_with_immediates(f: Function, ctx: PassContext) -> bool:
    """With ``.reqntid`` the size of a block is known, and the place of a thread in a dimension of one thread.

    Source: PTX-to-Ori lowering, Phase 11 (uniforms that are known become immediates); observed: ptxas 13.0.88 puts zeros in place
    of ``%tid.z`` where the block has one thread that way.
    """
    size = f.attributes.reqntid
    if size is None:
        return False
    places: i64 = 0
    sizes: i64 = 0
    cursor = Cursor(f)
    legality = legality_of(ctx.target.isa_name)
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            if OPS.flags[f.op[i]] & SPECIAL:
                places += _place(f, cursor, i, size)
            elif not OPS.flags[f.op[i]] & LOAD:  # of which the bank is no value, though it looks like its first word
                at: i64 = 0
                while at < f.count[i]:
                    known = _size_of(f.operand[f.first[i] + at], ctx.target.bank0_ntid, size)
                    if known and legality.takes_with(f, i, at, f.imm(known)):
                        f.set(i, at, f.imm(known))
                        sizes += 1
                    at += 1
            i = f.next[i]
        b += 1
    ctx.count("known sizes of blocks", sizes)
    ctx.count("known places in blocks", places)
    return sizes + places != 0


def _size_of(operand: i64, first: i64, size: tuple[int, int, int]) -> i64:
    """The dimension of the block that a word of the constant bank holds; 0: it is another word."""
    if operand & opd.TYPE != opd.IS_SYMBOL or not operand & opd.CONST_BANK or opd.aux_of(operand) or operand & opd.SIGNS:
        return 0
    offset = (operand & opd.INDEX) - first
    return size[offset // _WORD] if offset in (0, _WORD, 2 * _WORD) else 0


def _place(f: Function, cursor: Cursor, i: i64, size: tuple[int, int, int]) -> i64:
    """Make a move of a zero of the read of a place that is always 0; whether it was one."""
    number = f.get(i, OPS.sreg[f.op[i]]) & opd.INDEX
    dest = f.get(i, 0)
    if not opd.is_register(dest) or f.reg_type[dest & opd.INDEX] != R or opd.count_of(dest) != 1:
        return 0
    for dimension in range(len(BLOCK_PLACES)):
        if number == BLOCK_PLACES[dimension] and size[dimension] == 1:
            cursor.rewrite(i, MOV, 0, 2)
            f.set(i, 1, opd.RZ_OPERAND)
            return 1
    return 0
