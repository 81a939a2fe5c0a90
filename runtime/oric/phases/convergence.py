"""Phase 72: convergence barriers around divergent branches, WARPSYNC where there can be none.

``BSSY Bn, x`` in front of a branch, ``BSYNC Bn`` where its threads meet, directly in front of x. A loop in which threads
wait for one another (a spin lock) gets no barrier at its exit: the thread that holds the lock would wait for those that
want it. Source: observed on ptxas 13.0.88; docs/architecture.md.
"""

from __future__ import annotations

from oric_tables import ops
from oric_tables.ops import VOTE

from oric.ir import operand as opd
from oric.ir.cfg import Cfg
from oric.ir.code import AUX_IF_DIVERGED, CodeObject, Instruction
from oric.ir.optable import BARRIER, BSSY, BSYNC, FLAGS, WARP, WARPSYNC, WARPSYNC_ALL, YIELD
from oric.ir.passes import PassContext

from .control import thread_jumps
from .divergence import Definitions, divergent_branches, waiting_loops
from .flow import COND, JUMP, TABLE, Flow, take_apart
from .regions import Region, find_regions, meeting_points, without_bare_exits


def insert_convergence_barriers(code: CodeObject, ctx: PassContext) -> bool:
    """Insert the barriers of ``code`` and settle its WARPSYNCs."""
    if not any(len(block.succs) > 1 for block in code.blocks):
        _settle_warpsync(code, set(), ctx)
        return False
    flow = take_apart(code)
    thread_jumps(flow)
    flow.drop_unreachable()
    succs, leaving = without_bare_exits(flow)
    cfg = Cfg(succs)
    meeting = meeting_points(flow, cfg, leaving)
    points = meeting.points
    branches = {index for index, end in flow.live() if end.kind in (COND, TABLE) and len(succs[index]) > 1}
    definitions = Definitions(flow)
    if ctx.opt_level > 0 and not cfg.loops.irreducible:
        branches &= divergent_branches(flow, cfg, definitions, points)
    waiting = waiting_loops(flow, cfg, definitions)
    regions, unmet = find_regions(cfg, meeting, branches, _barred(cfg, points, branches, waiting))
    apart = _blocks_apart(cfg, regions, unmet)
    _let_others_run(code, waiting)
    _settle_warpsync(code, apart, ctx)
    _insert(flow, cfg, regions)
    code.attributes.num_convergence_barriers = max((region.number + 1 for region in regions), default=0)
    ctx.count("convergence barriers", len(regions))
    flow.rebuild()
    return True


def _barred(cfg: Cfg, points: list[int], branches: set[int], waiting: set[int]) -> set[int]:
    """Where the threads that leave a waiting loop would meet those that still wait."""
    out: set[int] = set()
    for branch in branches:
        header = cfg.loops.header[branch]
        while header >= 0:
            if header in waiting and any(not cfg.loops.contains(header, target) for target in cfg.succs[branch]):
                out.add(points[branch])
            header = cfg.loops.outer[header]
    return out


def _blocks_apart(cfg: Cfg, regions: list[Region], unmet: set[int]) -> set[int]:
    """Blocks that the threads of a warp may run apart from one another although they could be together."""
    out: set[int] = set()
    for branch in unmet:
        gates = {region.meet for region in regions if branch in region.blocks or branch == region.start}
        stack = [t for t in cfg.succs[branch] if t not in gates]
        while stack:
            block = stack.pop()
            if block not in out:
                out.add(block)
                stack.extend(t for t in cfg.succs[block] if t not in gates)
    return out


def _let_others_run(code: CodeObject, waiting: set[int]) -> None:
    """A YIELD in every turn of a loop that waits for other threads."""
    for header in sorted(waiting):
        block = code.blocks[header]
        node = Instruction(YIELD, [], line=block.head.line if block.head else 0)
        if block.head is not None:
            code.insert_before(block.head, node)
        else:
            code.append(block, node)


def _settle_warpsync(code: CodeObject, apart: set[int], ctx: PassContext) -> None:
    """Remove the WARPSYNCs that bring nobody together; add them in front of CTA barriers where threads may be apart."""
    for block in code.blocks:
        if block.index in apart:
            for node in block:
                if _needs_everybody(node):
                    code.insert_before(node, _whole_warp(code, ctx, node.line))
                    ctx.count("WARPSYNC")
            continue
        for node in block:
            if node.op == WARPSYNC and node.aux & AUX_IF_DIVERGED:
                code.remove(node)


def _needs_everybody(node: Instruction) -> bool:
    """Whether the threads of the warp must be together for an instruction, and nothing in front of it sees to that.

    Lowering puts a WARPSYNC in front of warp-wide operations that name some of the threads; those without one mean all.
    A vote on a constant asks who is here, and waits for nobody.
    """
    flags = FLAGS[node.op]
    if node.guard or not flags & (BARRIER | WARP):
        return False
    if flags & BARRIER:
        return True
    if node.prev is not None and node.prev.op in (WARPSYNC, WARPSYNC_ALL):
        return False
    return not (node.op == VOTE and opd.PT_OPERAND in node.operands[1:2])


def _whole_warp(code: CodeObject, ctx: PassContext, line: int) -> Instruction:
    """The instruction that waits for all threads of the warp."""
    if ctx.target.isa_name in ops.op(WARPSYNC_ALL).isas:
        return Instruction(WARPSYNC_ALL, [], line=line)
    return Instruction(WARPSYNC, [code.imm(0xFFFFFFFF)], line=line)


def _insert(flow: Flow, cfg: Cfg, regions: list[Region]) -> None:
    """Put the barriers in: places in front of loops, then meeting points from the inside out, then BSSY outside in."""
    in_front: dict[int, int] = {}
    for region in regions:
        if region.loop and region.start not in in_front:
            in_front[region.start] = _put_in_front(flow, cfg, regions, region.start)
    behind: list[int] = [0] * len(regions)
    by_depth = sorted(range(len(regions)), key=lambda i: regions[i].number)
    for i in reversed(by_depth):
        behind[i] = _put_sync(flow, regions, regions[i], in_front.get(regions[i].meet, -1))
    code = flow.code
    for i in by_depth:
        region = regions[i]
        block = code.blocks[in_front[region.start] if region.loop else region.start]
        line = block.tail.line if block.tail else 0
        code.append(block, Instruction(BSSY, [opd.special(region.number), opd.label(behind[i])], line=line))


def _put_in_front(flow: Flow, cfg: Cfg, regions: list[Region], header: int) -> int:
    """The block on all ways into a loop, a new one where there is none."""
    outside = [p for p in cfg.preds[header] if cfg.number[p] >= 0 and not cfg.loops.contains(header, p)]
    if len(outside) == 1 and flow.end(outside[0]).kind == JUMP:
        only = outside[0]
        if not any(region.meet == header and (only in region.blocks or only == region.start) for region in regions):
            return only
    place = flow.new_block(header).index
    for pred in outside:
        flow.end(pred).redirect(header, place)
    return place


def _put_sync(flow: Flow, regions: list[Region], region: Region, in_front: int) -> int:
    """The BSYNC of a region in a block of its own; returns the block that must stand behind it."""
    members = [*region.blocks, region.start] if not region.loop else list(region.blocks)
    meet = region.meet
    if in_front >= 0 and any(in_front in flow.end(b).succs() for b in members):
        meet = in_front
    sync = flow.new_block(meet)
    line = next((b.line for b in [flow.code.blocks[meet].head] if b), 0)
    flow.code.append(sync, Instruction(BSYNC, [opd.special(region.number)], line=line))
    for block in members:
        flow.end(block).redirect(meet, sync.index)
    for other in regions:
        if other is not region and region.meet not in other.blocks and (region.blocks < other.blocks):
            other.blocks.add(sync.index)
    behind = meet
    if meet in flow.follower.values():
        behind = flow.new_block(meet).index
        flow.end(sync.index).target = behind
    flow.follower[sync.index] = behind
    return behind
