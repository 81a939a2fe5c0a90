"""Phase 22: loops that are left where they begin are left where they end.

What stands in front of the exit is copied in front of the loop, and moves behind the last block of a round: a round has one
branch instead of two, and a loop of two blocks becomes one of one block, whose rounds can be counted.
Source: Ori IR, "Partial SSA" (its place); observed: ptxas 13.0.88 has no jump back to a test at -O3.
"""

from __future__ import annotations

from typing import Final

from librt.vecs import append
from mypy_extensions import i64
from oric_tables import knobs
from oric_tables import op as op_numbers

from oric.ir.cfg import Loops
from oric.ir.function import AUX_CONTRACT, AUX_MBARRIER, BLOCK_NOUNROLL, NONE
from oric.ir.optable import BARRIER, CONTROL, CONVERGENCE, OPS, WARP

from .flow import COND, GONE, JUMP, Flow

# A copy of these is another place where threads meet.
_NEVER: Final = CONTROL | BARRIER | CONVERGENCE | WARP | op_numbers.E_CALL | op_numbers.E_SIDE_EFFECT


def rotate_loops(flow: Flow) -> int:
    """Rotate all loops that can be; returns how many."""
    graph = flow.graph()
    loops = graph.loops()
    if not loops.count or loops.irreducible:
        return 0
    preds: list[list[int]] = [[] for _ in range(flow.blocks())]
    for b in range(flow.blocks()):
        if flow.kind[b] != GONE:
            for target in flow.successors(b):
                preds[target].append(b)
    done = 0
    for header in range(len(preds)):
        if loops.header[header] == header and _rotate(flow, loops, preds, header):
            done += 1
    return done


def _rotate(flow: Flow, loops: Loops, preds: list[list[int]], header: int) -> bool:
    """Rotate one loop if it can be."""
    if flow.kind[header] != COND:
        return False
    ways = [loops.contains(header, flow.target[header]), loops.contains(header, flow.other[header])]
    if ways[0] == ways[1]:
        return False
    body = flow.target[header] if ways[0] else flow.other[header]
    latches = [p for p in preds[header] if loops.contains(header, p)]
    entries = [p for p in preds[header] if p not in latches]
    if len(latches) != 1 or not entries or latches[0] == header or len(preds[body]) != 1 or not _is_fit(flow, header):
        return False
    latch = latches[0]
    if flow.kind[latch] != JUMP or latch in flow.follower:
        return False
    front = flow.new_block(-1)
    _copy(flow, header, front)
    for entry in entries:
        flow.redirect(entry, header, front)
    flow.cursor.append_block(latch, header)
    flow.move_end(latch, header)
    flow.f.flags[body] |= flow.f.flags[header] & BLOCK_NOUNROLL
    loops.header = append(loops.header, loops.outer[header])  # the copy is in the loop around
    exit_ = flow.other[latch] if ways[0] else flow.target[latch]
    preds.append(entries)
    preds[exit_] = [p for p in preds[exit_] if p != header] + [front, latch]
    preds[body] = [front, latch]
    return True


def _is_fit(flow: Flow, header: i64) -> bool:
    """Whether the block can be copied, and is short."""
    if header in flow.follower:
        return False
    f = flow.f
    length: i64 = 0
    i = f.head[header]
    while i != NONE:
        length += 1 if OPS.expansion[f.op[i]] == 0 else f.knobs.numbers[knobs.ROTATE_MOST]
        if OPS.flags[f.op[i]] & _NEVER or f.aux[i] & ~(AUX_CONTRACT | AUX_MBARRIER):
            return False
        i = f.next[i]
    return length < f.knobs.numbers[knobs.ROTATE_MOST]


def _copy(flow: Flow, b: i64, made: i64) -> None:
    """Let block ``made`` do and end as block ``b``."""
    f = flow.f
    flow.cursor.at_end(made)
    i = f.head[b]
    while i != NONE:
        _clone(flow, i)
        i = f.next[i]
    node = _clone(flow, flow.node[b])
    flow.cursor.remove(node)
    flow.set_end(made, COND, node, flow.target[b], flow.other[b])


def _clone(flow: Flow, i: i64) -> int:
    f = flow.f
    flow.cursor.line = f.line[i]
    made = flow.cursor.clone(i)
    f.set_guard(made, f.guard[i])
    return made
