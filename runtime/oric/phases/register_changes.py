"""Phase 18: whether a function may change its number of registers at run time, and what a thread begins with.

A warp that takes registers waits until the pool of its block has them, and what is in the pool follows from the number that
every warp begins with: where nothing fixes that number, the changes are left out, as with ptxas.
"""

from __future__ import annotations

from librt.vecs import append, vec
from mypy_extensions import i64
from oric_tables.op import USETMAXREG_DEALLOC, USETMAXREG_TRY_ALLOC
from oric_tables.registers import (
    SETMAXNREG_BELOW_LAUNCH,
    SETMAXNREG_DEC_LARGE,
    SETMAXNREG_IGNORED,
    SETMAXNREG_UNKNOWN,
)

from oric.ir.cursor import Cursor
from oric.ir.edges import make_edges
from oric.ir.function import NONE, Function
from oric.ir.lineinfo import line_of
from oric.ir.passes import PassContext
from oric.ir.register_changes import changes, count_of

from .flow import JUMP, Flow


def settle_register_changes(f: Function, ctx: PassContext) -> bool:
    """Keep the changes of a function or leave them out, and say why; a number that cannot be is an error.

    A thread begins with as many registers as the launch bounds give, and with no more than it asks for anywhere. Source:
    Registers, "Dynamic Register Allocation (setmaxnreg)"; observed: ptxas 13.0.88, REGCOUNT and messages C7406, C7508.
    """
    found = changes(f)
    if not found:
        return False
    default = ctx.maxrregcount or 0
    if not f.attributes.fixes_registers(default):
        return _leave_out(f, found, ctx, SETMAXNREG_UNKNOWN)
    taken = [count_of(f, i) for i in found if f.op[i] == USETMAXREG_TRY_ALLOC]
    limit = f.attributes.register_limit(ctx.target, default)
    largest = max(taken) if taken else limit
    least: i64 = ctx.target.min_regs
    if taken and min(taken) < least:
        return _leave_out(f, found, ctx, SETMAXNREG_IGNORED)
    for i in found:
        if f.op[i] == USETMAXREG_DEALLOC and count_of(f, i) > largest:
            _refuse(f, i, ctx, SETMAXNREG_DEC_LARGE % (count_of(f, i), largest))
        elif f.op[i] == USETMAXREG_DEALLOC and count_of(f, i) < least:
            _refuse(f, i, ctx, SETMAXNREG_BELOW_LAUNCH % (count_of(f, i), least))
    f.attributes.entry_registers = min(limit, largest)
    return False


def part_at_register_changes(f: Function, ctx: PassContext) -> bool:
    """Let a block begin with each change: what stands in front of it may use the registers that there are until then."""
    if not f.attributes.entry_registers:
        return False
    behind: dict[int, list[int]] = {}
    cursor = Cursor(f)
    for i in changes(f):
        before = f.prev[i]
        if before != NONE:
            block = f.block[before]
            behind.setdefault(block, []).append(cursor.split_behind(before))
    if not behind:
        return False
    order = vec[i64]()
    count = f.blocks()
    pending = [b for b in range(count) if not any(b in parts for parts in behind.values())]
    while pending:
        b = pending.pop(0)
        order = append(order, b)
        pending[:0] = behind.get(b, [])
    cursor.reorder(order)
    make_edges(f)
    return True


def _refuse(f: Function, i: i64, ctx: PassContext, text: str) -> None:
    if ctx.diag is not None:
        source = ctx.diag.source
        ctx.diag.error(text, source.lines().start(line_of(f.line[i])) if f.line[i] else -1)


def _leave_out(f: Function, found: list[int], ctx: PassContext, text: str) -> bool:
    """Take the changes out of a function: what waits for registers goes on at once."""
    if ctx.diag is not None:
        ctx.diag.info(text)
    flow = Flow(f)
    for i in found:
        b = f.block[i]
        if f.op[i] == USETMAXREG_TRY_ALLOC:  # a block of its own: the try, its answer in a predicate, and the way back
            while f.tail[b] != i:
                flow.cursor.remove(f.tail[b])
            flow.set_end(b, JUMP, NONE, flow.other[b], -1)
        flow.cursor.remove(i)
    flow.rebuild()
    return True
