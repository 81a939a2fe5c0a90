"""Phase 77: copies from global to shared memory that follow one another share what must stand in front of them.

There are three accesses of shared memory that nobody makes in front of a copy: what was read there before is read then. They
stand once for all copies of a block between which no thread waits for another and nothing else accesses shared memory. Where a
kernel begins there is nothing to wait for, but for blocks of a cluster. Source: observed (ptxas 13.0.88).
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64
from oric_tables.op import COPY, COPY_NEXT, NOP

from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function, control_flow
from oric.ir.optable import BARRIER, CALL, CONSTANT, CONVERGENCE, FENCE, MEMORY, OPS
from oric.ir.passes import PassContext

_CLUSTERS: Final = "clusters"
# What parts copies; of accesses that may be of any memory nobody knows that they are not of shared memory.
_PARTS: Final = BARRIER | CALL | CONVERGENCE | FENCE | MEMORY


def follow_copies(f: Function, ctx: PassContext) -> bool:
    """Mark the copies that follow another one, and those for which nothing has to stand in front."""
    cursor = Cursor(f)
    following: i64 = 0
    starts_clean = f.is_entry and _CLUSTERS not in ctx.target.features and not control_flow(f).predecessors(0)
    b: i64 = 0
    while b < f.blocks():
        behind = b == 0 and starts_clean
        i = f.head[b]
        while i != NONE:
            if f.op[i] == COPY:
                if behind:
                    cursor.rewrite(i, COPY_NEXT, f.mods[i], f.count[i])
                    following += 1
                behind = True
            elif f.op[i] == NOP or (OPS.flags[f.op[i]] & _PARTS and not OPS.flags[f.op[i]] & CONSTANT):
                behind = False
            i = f.next[i]
        b += 1
    ctx.count("copies behind copies", following)
    return following != 0
