"""Regions for blocks at which several ways come together although threads need not pass them: a tail that some leave out.

The barrier is set where the ways part that lead there, and threads that take another way leave it. Worth its three instructions
where more than that runs before the threads would meet anyway.
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from oric.ir.function import NONE, Function

from .regions import Finder, Region

_WORTH: Final = 8  # instructions behind the join that its threads would run apart
_LARGEST: Final = 128  # blocks of a region that are looked at


@final
class Joins:
    """Finds regions of joins in ``f``, whose regions with post-dominators ``finder`` has found."""

    def __init__(self, f: Function, finder: Finder) -> None:
        self.f = f
        self.finder = finder
        self.nest = finder.nest
        self.cfg = finder.nest.cfg

    def run(self) -> list[Region]:
        """The regions."""
        found: list[Region] = []
        graph, leads = self.nest.graph, self.finder.meeting.leads
        idom = self.cfg.idom()
        at: i64 = 1
        while at < self.cfg.reachable:
            join = self.cfg.order[at]
            at += 1
            if graph.pred_start[join + 1] - graph.pred_start[join] < 2 or not leads[join] or not self.finder.may_meet(join):
                continue
            level = self.nest.loops.header[join]
            if level == join:
                level = self.nest.loops.outer[join]
            region = self.finder.begin(idom[join], level, join, False)
            if region is not None and not self._is_passed(region) and self._is_worth(region):
                region.blocks = self._blocks(region)
                if region.blocks is not None and self._parts(region, region.blocks):
                    found.append(region)
        return found

    def _node(self, region: Region) -> i64:
        return self.nest.end[region.start] if region.loop else region.start

    def _is_passed(self, region: Region) -> bool:
        """Whether all threads of a region pass its join."""
        return self.finder.meets(self._node(region), region.meet)

    def _is_worth(self, region: Region) -> bool:
        """Whether enough runs between the join and the place where all threads of the region meet: loops and branches do."""
        graph, points = self.nest.graph, self.finder.meeting.points
        last = points[self._node(region)]
        size: i64 = 0
        at: i64 = region.meet
        while at != last and 0 <= at < graph.blocks:
            if at >= self.nest.first or graph.succ_start[at + 1] - graph.succ_start[at] > 1:
                return True
            i = self.f.head[at]
            while i != NONE:
                size += 1
                i = self.f.next[i]
            if size >= _WORTH:
                return True
            at = points[at]
        return False

    def _blocks(self, region: Region) -> set[int] | None:
        """The blocks on the ways from the start of a region to its join; None when there are too many."""
        cfg, loops = self.cfg, self.nest.loops
        found: set[int] = set()
        stack: list[int] = []
        block: i64 = region.meet
        while True:
            e = cfg.pred_start[block]
            while e < cfg.pred_start[block + 1]:
                pred = cfg.pred[e]
                e += 1
                if cfg.number[pred] < 0 or pred in found or (pred == region.start and not region.loop):
                    continue
                if block == region.meet and loops.contains(block, pred):
                    continue
                if block == region.start and not loops.contains(block, pred):
                    continue
                found.add(pred)
                stack.append(pred)
            if len(found) > _LARGEST:
                return None
            if not stack:
                return found
            block = stack.pop()

    def _parts(self, region: Region, blocks: set[int]) -> bool:
        """Whether the threads of a region part on ways that lead to its join."""
        cfg = self.cfg
        for block in sorted(blocks) if region.loop else [region.start, *sorted(blocks)]:
            if block in self.finder.branches:
                ways: i64 = 0
                e = cfg.succ_start[block]
                while e < cfg.succ_start[block + 1]:
                    if cfg.succ[e] == region.meet or cfg.succ[e] in blocks:
                        ways += 1
                    e += 1
                if ways > 1:
                    return True
        return False
