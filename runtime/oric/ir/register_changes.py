"""How many general registers a thread has where it changes them at run time (``setmaxnreg``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mypy_extensions import i64
from oric_tables.op import USETMAXREG_DEALLOC, USETMAXREG_TRY_ALLOC

from . import operand as opd
from .function import NONE, Function, control_flow

if TYPE_CHECKING:
    from oric_tables.targets import Target

_MOST: Final = 1 << 20


def changes(f: Function) -> list[int]:
    """The instructions that change the number of registers, in the order of the code."""
    found: list[int] = []
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            if f.op[i] == USETMAXREG_TRY_ALLOC or f.op[i] == USETMAXREG_DEALLOC:
                found.append(i)
            i = f.next[i]
        b += 1
    return found


def count_of(f: Function, i: i64) -> int:
    """The number of registers behind such an instruction."""
    at: i64 = 0
    while at < f.count[i]:
        operand = f.get(i, at)
        if operand & opd.TYPE in (opd.IS_IMM, opd.IS_POOL):
            return int(f.imm_value(operand))
        at += 1
    raise AssertionError("a number of registers that is no constant")


def most_at_once(f: Function) -> int:
    """The largest number of registers that a thread has anywhere."""
    return max([f.attributes.entry_registers, *(count_of(f, i) for i in changes(f))])


def room_of(f: Function, limit: int, target: Target) -> list[int] | None:
    """The general registers that code may use in each block, None where nothing changes them.

    A block has as many as there are at the worst of its places, by any way from the entry.
    """
    if not f.attributes.entry_registers:
        return None
    cfg = control_flow(f)
    blocks = f.blocks()
    last: list[int] = [0] * blocks  # the number behind the last change in a block, 0 for none
    least: list[int] = [_MOST] * blocks  # the least one behind a change in it
    for i in changes(f):
        block = f.block[i]
        last[block] = count_of(f, i)
        least[block] = min(least[block], last[block])
    entry = [_MOST] * blocks
    entry[0] = f.attributes.entry_registers
    work = [0]
    while work:
        b = work.pop()
        leaves = last[b] or entry[b]
        e: i64 = cfg.succ_start[b]
        while e < cfg.succ_start[b + 1]:
            after = int(cfg.succ[e])
            if leaves < entry[after]:
                entry[after] = leaves
                work.append(after)
            e += 1
    return [min(limit, min(entry[b], least[b]) - target.reserved_regs) for b in range(blocks)]
