"""Wide stores whose registers get another value at once, which has to wait until they have been read.

A store of several words reads them late. Where a loop makes one value after the other for such stores and there are registers
that cost nothing, the next value has some of its own. Source: observed (ptxas 13.0.88 turns through several quads).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from librt.vecs import vec
from mypy_extensions import i64
from oric_tables import knobs
from oric_tables._native import lib

from oric.ir import operand as opd
from oric.ir.function import R4, Function, R, control_flow
from oric.ir.optable import OPS, STORE, instructions_with

from .order import GENERAL

if TYPE_CHECKING:
    from oric.ir.machine import MachineFunction

_WIDE: Final = 4  # words
_STORES: Final = vec[i64]([int(flags & STORE != 0) for flags in OPS.flags])


def is_hurried(view: MachineFunction, assigned: Any) -> bool:
    """Whether a block of a loop has several wide stores whose registers are written soon behind them.

    ``view``: the function in the order that was tried; ``assigned``: by unit, the register that it has.
    """
    f, fn = view.f, view.fn
    if not _may_be(f):
        return False
    depth = control_flow(f).loops().depth
    look, fewest = int(f.knobs.numbers[knobs.HURRY_LOOK]), int(f.knobs.numbers[knobs.HURRY_STORES])
    for b in range(fn.block_count):
        if depth[b]:
            first, end = fn.block_first[b], fn.block_first[b + 1]
            stores = [k for k in range(first, end) if fn.nodes[k].flags & lib.ORIC_I_MEM_WRITE]
            found = sum(_is_written(fn, assigned, k, min(k + look + 1, end)) for k in stores)
            if found >= fewest:
                return True
    return False


def _may_be(f: Function) -> bool:
    """Whether there are so many wide stores in loops at all."""
    found = [i for i in instructions_with(f, _STORES) if _is_wide(f, i)]
    fewest = int(f.knobs.numbers[knobs.HURRY_STORES])
    if len(found) < fewest:
        return False
    depth = control_flow(f).loops().depth
    return sum(depth[f.block[i]] > 0 for i in found) >= fewest


def _is_wide(f: Function, i: i64) -> bool:
    at: i64 = 0
    while at < f.count[i]:
        operand = f.get(i, at)
        if not OPS.writes_at(f.op[i], at) and opd.is_register(operand) and opd.count_of(operand) >= _WIDE:
            return f.reg_type[operand & opd.INDEX] in (R, R4)
        at += 1
    return False


def _is_written(fn: Any, assigned: Any, store: int, end: int) -> bool:
    """Whether the registers of a store's wide value are written in front of the instruction ``end``."""
    node = fn.nodes[store]
    taken: set[int] = set()
    for a in range(node.access, node.access + node.access_count):
        access = fn.accesses[a]
        if not access.flags & lib.ORIC_A_DEF and access.count >= _WIDE and fn.unit_file[access.unit] == GENERAL:
            taken.update(assigned[access.unit + n] for n in range(access.count))
    if not taken:
        return False
    for k in range(store + 1, end):
        node = fn.nodes[k]
        for a in range(node.access, node.access + node.access_count):
            access = fn.accesses[a]
            if access.flags & lib.ORIC_A_DEF and fn.unit_file[access.unit] == GENERAL:
                if any(assigned[access.unit + n] in taken for n in range(access.count)):
                    return True
    return False
