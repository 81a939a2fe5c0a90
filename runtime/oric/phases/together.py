"""WARPSYNCs of threads that are together already go, but for the order of memory that they are for.

Source: observed on ptxas 13.0.88, which has NOPs in place of WARPSYNCs in code to which all threads of a warp come together,
whatever its mask; docs/deviations.md, "convergence barriers".
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64
from oric_tables.op import MOV, NOP, WARPSYNC, YIELD

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import AUX_ALONE, NONE, Function
from oric.ir.optable import CALL, CONTROL, CONVERGENCE, OPS, instructions_with, marked, written_registers
from oric.ir.passes import PassContext
from oric.ir.text import all_instructions

from .flow import Flow
from .makers import makers_of
from .meeting import Parting

_WAITS: Final = marked((WARPSYNC,))
PARTS: Final = CALL | CONTROL | CONVERGENCE  # flags of what threads that come together may leave apart


def drop_waits(f: Function, kept: list[int], ctx: PassContext) -> list[int]:
    """Drop the WARPSYNCs of a function whose threads never part; gives the masks of those that there were."""
    return _drop(f, _waits(f, kept), ctx)


def drop_waits_together(flow: Flow, elsewhere: set[int], kept: list[int], ctx: PassContext) -> list[int]:
    """Drop the WARPSYNCs of blocks to which all threads come together, those that have ended but alone; gives their masks.

    ``elsewhere``: blocks in which some threads of the warp are while others are not; ``kept``: the WARPSYNCs at which threads of
    several places meet.
    """
    f = flow.f
    waits = [i for i in _waits(f, kept) if f.block[i] not in elsewhere]
    if not waits:
        return []
    parting = Parting(flow)  # threads that end elsewhere may have been at another place of the mask before
    parting.settle()
    return _drop(f, [i for i in waits if not parting.apart(f.block[i])], ctx)


def _waits(f: Function, kept: list[int]) -> list[int]:
    """The WARPSYNCs that all threads of their blocks come to."""
    return [i for i in instructions_with(f, _WAITS) if not f.mods[i] and not f.guard[i] and i not in kept]


def _drop(f: Function, waits: list[int], ctx: PassContext) -> list[int]:
    cursor = Cursor(f)
    masks = [f.get(i, 0) for i in waits]
    for i in waits:
        _let_go_on(cursor, i)
    if waits:
        ctx.count("WARPSYNC of threads that are together", len(waits))
    return masks


def drop_masks(f: Function, masks: list[int]) -> None:
    """Drop the moves that made masks which nobody reads any more."""
    words = {f.words_of(mask) for mask in masks if opd.is_register(mask)}
    if not words:
        return
    makers = makers_of(f)
    cursor = Cursor(f)
    for i in all_instructions(f):
        dest = f.get(i, 0) if f.op[i] == MOV else opd.NO_OPERAND
        if opd.is_register(dest) and opd.count_of(dest) == 1 and f.words_of(dest) in words and not makers.read[f.words_of(dest)]:
            cursor.remove(i)


def _let_go_on(cursor: Cursor, i: i64) -> None:
    """Take a WARPSYNC out; one that is a barrier by itself still orders what stands around it."""
    if cursor.f.aux[i] & AUX_ALONE:
        cursor.rewrite(i, NOP, 0, 0)
    else:
        cursor.remove(i)


def drop_repeated_waits(f: Function, ctx: PassContext) -> None:
    """Drop a WARPSYNC whose mask's threads are together since another one in its block."""
    cursor = Cursor(f)
    b: i64 = 0
    while b < f.blocks():
        mask = opd.NO_OPERAND  # of the threads that are together
        i = f.head[b]
        while i != NONE:
            following = f.next[i]
            if f.op[i] == WARPSYNC and not f.mods[i] and not f.guard[i]:
                if f.get(i, 0) == mask:
                    _let_go_on(cursor, i)
                    ctx.count("repeated WARPSYNC")
                else:
                    mask = f.get(i, 0)
            elif OPS.flags[f.op[i]] & PARTS or f.op[i] == YIELD or _writes(f, i, mask):
                mask = opd.NO_OPERAND
            i = following
        b += 1


def _writes(f: Function, i: i64, operand: i64) -> bool:
    """Whether an instruction writes a register."""
    return opd.is_register(operand) and any(made & opd.INDEX == operand & opd.INDEX for made in written_registers(f, i))
