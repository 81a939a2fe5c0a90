"""Where the threads of a warp may be apart: uniform registers and scoreboards, which belong to the warp, are shared there.

From a BSSY on, threads may go different ways until all have come to the BSYNC of its barrier; in what order they do is up to
the hardware, which lets others run wherever some wait or a branch parts them. What they share must outlast that.
Source: observed (how ptxas 13.0.88 keeps uniform registers and waits for scoreboards there).
"""

from __future__ import annotations

from librt.vecs import vec
from mypy_extensions import i64
from oric_tables.op import BMOV_B, BMOV_R, BSSY

from oric.support.arrays import zeros

from . import operand as opd
from .cfg import Cfg
from .function import NONE, Function, control_flow


def stretches_apart(f: Function) -> vec[i64]:
    """By block the number of the stretch of blocks in which it is and threads may be apart, counted from 1 in the order of
    the code; 0: they are together. Blocks that the threads of one warp may run at a time are in one stretch."""
    graph = control_flow(f)
    known: vec[i64] | None = graph.apart
    if known is not None:
        return known
    made = _found(f, graph)
    graph.apart = made
    return made


def _found(f: Function, graph: Cfg) -> vec[i64]:
    blocks = f.blocks()
    region = zeros(blocks)  # the last BSSY behind which a block was found to be, counted from 1
    reach = zeros(blocks)  # by the first block of what is behind a BSSY, how many blocks there are up to the last one
    found: i64 = 0
    whole = f.attributes.parts_for_good or not f.is_entry or bool(f.kept)
    b: i64 = 0
    while b < blocks and not whole:
        i = f.head[b]
        while i != NONE:
            if f.op[i] == BMOV_R or f.op[i] == BMOV_B:  # a barrier that waits in a register
                whole = True
            elif f.op[i] == BSSY and not region[b]:
                found += 1
                _follow(graph, b, f.get(i, 1) & opd.INDEX, region, found, reach)
            i = f.next[i]
        b += 1
    if whole:
        reach[0] = blocks
    return _stretches(reach)


def _follow(graph: Cfg, start: i64, end: i64, region: vec[i64], number: i64, reach: vec[i64]) -> None:
    """Find the blocks that can be reached from that of a BSSY without that where its threads meet."""
    stack = zeros(graph.blocks)
    depth: i64 = 1
    stack[0] = start
    region[start] = number
    lowest: i64 = start
    highest: i64 = start
    while depth > 0:
        depth -= 1
        b = stack[depth]
        lowest = min(lowest, b)
        highest = max(highest, b)
        at = graph.succ_start[b]
        while at < graph.succ_start[b + 1]:
            to = graph.succ[at]
            if to != end and region[to] != number:
                region[to] = number
                stack[depth] = to
                depth += 1
            at += 1
    reach[lowest] = max(reach[lowest], highest + 1)


def _stretches(reach: vec[i64]) -> vec[i64]:
    """Number stretches of blocks, those together that overlap."""
    out = zeros(len(reach))
    number: i64 = 0
    end: i64 = 0  # the block behind the stretch at hand
    b: i64 = 0
    while b < len(reach):
        if reach[b]:
            number += b >= end
            end = max(end, reach[b])
        if b < end:
            out[b] = number
        b += 1
    return out
