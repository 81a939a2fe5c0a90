"""Where threads that went different ways come together again: single-entry regions around divergent branches.

A region begins at the end of a block (or in front of a loop) and ends where all its threads meet, in front of the block
``meet``. Threads that exit inside it leave its barrier, so ways that only lead to an early exit do not count. Observed on
ptxas 13.0.88: the barrier of branches that meet at the same block is set once, at a place that dominates them all; a
barrier for a branch that leaves a loop is set in front of the loop.
"""

from __future__ import annotations

from typing import Final

from oric.ir.cfg import Cfg

from .flow import COND_STOP, STOP, Flow

BARRIERS: Final = 16  # B0 .. B15


class Region:
    """Blocks between a set barrier and its meeting point.

    ``start``: the block at whose end the barrier is set or, when ``loop`` is true, the loop header in front of which it
    is. ``blocks`` holds what the region's threads run, without ``meet``; the start block itself only when ``loop``.
    ``branches`` are the divergent branches that it is made for, ``number`` its nesting depth.
    """

    __slots__ = ("blocks", "branches", "loop", "meet", "number", "start")

    def __init__(self, start: int, loop: bool, meet: int, blocks: set[int]) -> None:
        self.branches: list[int] = []
        self.start = start
        self.loop = loop
        self.meet = meet
        self.blocks = blocks
        self.number = 0


class Meeting:
    """``points``: for every block the nearest block that all threads pass that do not exit before; ``block_count`` or -1:
    none. ``leads``: whether a block leads to the main exit.
    """

    __slots__ = ("leads", "points")

    def __init__(self, points: list[int], leads: list[bool]) -> None:
        self.points = points
        self.leads = leads


def without_bare_exits(flow: Flow) -> tuple[list[list[int]], set[int]]:
    """Successor lists without the ways to blocks that do nothing but exit, where there is another way, and the blocks that
    lost one or exit conditionally. Threads must not wait for one another in front of a bare exit: others may count on
    their being gone.
    """
    blocks = flow.code.blocks
    bare = {index for index, end in flow.live() if end.kind == STOP and blocks[index].head is None}
    leaving = {index for index, end in flow.live() if end.kind == COND_STOP}
    succs = flow.succs()
    for index, targets in enumerate(succs):
        rest = [t for t in targets if t not in bare]
        if rest and len(rest) < len(targets):
            succs[index] = rest
            leaving.add(index)
    return succs, leaving


def meeting_points(flow: Flow, cfg: Cfg, leaving: set[int]) -> Meeting:
    """Where the threads meet again that part at the end of each block.

    The exit that comes last in the order of control is the main one; ways that cannot reach it do not count. The end of a
    block of ``leaving`` is an exit only where control never reaches an unconditional one.
    """
    stops = [index for index, end in flow.live() if end.kind == STOP and cfg.number[index] >= 0]
    leading = cfg.postdominators(stops)
    stops += sorted(index for index in leaving if cfg.number[index] >= 0 and leading[index] < 0)
    if not stops:
        return Meeting([-1] * cfg.block_count, [False] * cfg.block_count)
    main = max(stops, key=lambda index: cfg.number[index])
    points = cfg.postdominators([main])
    leads = [point >= 0 for point in points]
    if len(stops) > 1:
        general = cfg.postdominators(stops)
        points = [general[b] if point < 0 else point for b, point in enumerate(points)]
    return Meeting(points, leads)


def find_regions(cfg: Cfg, meeting: Meeting, branches: set[int], barred: set[int]) -> tuple[list[Region], set[int]]:
    """Regions for the divergent ``branches``; no region may meet at a block of ``barred``.

    Returns the regions, which nest, and the branches that got none.
    """
    n, points = cfg.block_count, meeting.points
    groups: dict[int, list[int]] = {}
    open_branches: set[int] = set()
    for branch in sorted(branches, key=lambda b: cfg.number[b]):
        meet = points[branch]
        if meet < 0 or meet == n or meet in barred:
            open_branches.add(branch)
        elif not meeting.leads[branch] or sum(meeting.leads[target] for target in cfg.succs[branch]) > 1:
            groups.setdefault(meet, []).append(branch)
    regions: list[Region] = []
    for meet, members in groups.items():
        common = members[0]
        for member in members[1:]:
            common = _common_dominator(cfg, common, member)
        region = _grow(cfg, points, common, meet)
        found = [region] if region is not None else _grow_each(cfg, points, members, meet)
        regions.extend(found)
        for member in members:
            owner = next((r for r in found if member == r.start or member in r.blocks), None)
            if owner is None:
                open_branches.add(member)
            else:
                owner.branches.append(member)
    return _nest(regions, open_branches)


def _common_dominator(cfg: Cfg, a: int, b: int) -> int:
    number, idom = cfg.number, cfg.idom
    while a != b:
        if number[a] > number[b]:
            a = idom[a]
        else:
            b = idom[b]
    return a


def _grow_each(cfg: Cfg, points: list[int], members: list[int], meet: int) -> list[Region]:
    found: list[Region] = []
    for member in members:
        if not any(member in region.blocks for region in found):
            region = _grow(cfg, points, member, meet)
            if region is not None:
                found.append(region)
    return found


def _grow(cfg: Cfg, points: list[int], place: int, meet: int) -> Region | None:
    """The region that begins at the end of ``place`` or above it, None when there is none."""
    while True:
        header = _outermost_loop_without(cfg, place, meet)
        start = header if header >= 0 else place
        if not _meets(points, start, meet):
            return None
        blocks = _blocks_until(cfg, [start] if header >= 0 else cfg.succs[start], meet)
        if _is_closed(cfg, start, header >= 0, blocks):
            return Region(start, header >= 0, meet, blocks)
        if start == cfg.idom[start]:
            return None
        place = cfg.idom[start]


def _outermost_loop_without(cfg: Cfg, place: int, meet: int) -> int:
    loops = cfg.loops
    found = -1
    header = loops.header[place]
    while header >= 0 and not loops.contains(header, meet):
        found = header
        header = loops.outer[header]
    return found


def _meets(points: list[int], block: int, meet: int) -> bool:
    """Whether ``meet`` lies on every way on from ``block``."""
    at = points[block]
    while 0 <= at < len(points) and at != meet:
        at = points[at]
    return at == meet


def _blocks_until(cfg: Cfg, starts: list[int], meet: int) -> set[int]:
    seen = {s for s in starts if s != meet}
    stack = list(seen)
    while stack:
        for target in cfg.succs[stack.pop()]:
            if target != meet and target not in seen:
                seen.add(target)
                stack.append(target)
    return seen


def _is_closed(cfg: Cfg, start: int, loop: bool, blocks: set[int]) -> bool:
    """Whether the region is entered through its start only and its start is not run again inside."""
    if not loop and start in blocks:
        return False
    for block in blocks:
        if loop and block == start:
            continue
        for pred in cfg.preds[block]:
            if pred not in blocks and pred != start and cfg.number[pred] >= 0:
                return False
    return True


def _nest(regions: list[Region], open_branches: set[int]) -> tuple[list[Region], set[int]]:
    """Give each region its nesting depth; regions that cross another or lie too deep are given up."""
    kept: list[Region] = []
    for region in sorted(regions, key=lambda r: -len(r.blocks)):
        around = [r for r in kept if r.blocks & region.blocks]
        if all(region.blocks <= r.blocks for r in around) and len(around) < BARRIERS:
            region.number = len(around)
            kept.append(region)
        else:
            open_branches.update(region.branches)
    return kept, open_branches
