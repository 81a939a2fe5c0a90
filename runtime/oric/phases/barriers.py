"""Which convergence barriers are set where, which threads have to leave them, and their numbers.

A region is live in the blocks that its start dominates and its meeting point does not, inside the loop of both, those that do not
lead to the meeting point apart. So its live range is a subtree of the dominator tree, and giving each region the lowest number
that is free at its start, from the entry on, needs no more barriers than are live at one place.
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64
from oric_tables.registers import SCRATCH_BARRIERS

from oric.ir.dataflow import DataFlow

from .regions import Finder, Meeting, Nest, Region

_NESTED: Final = 64  # regions that are live at one place; those further in do without
_TURNS: Final = 8  # to widen regions: threads of those that are still open then leave their barriers on the way


@final
class Barriers:
    """The regions of a function, numbered, by block.

    ``live[b]``: the regions in which block b lies; ``behind[b]``: those that are live at its end, the outer ones first.
    ``in_front[h]``: the regions that begin in front of the loop of header h; ``at_end[b]``: those that begin at the end of b.
    ``quiet[b]``: whether threads that go to b only exit soon, so that they need not leave their barriers. ``calling``: the
    blocks in which functions are called; ``most``: how many barriers there are, ``entry``: whether this is no function that is
    called itself.
    """

    def __init__(self, nest: Nest, meeting: Meeting, finder: Finder, calling: set[int], most: int, entry: bool) -> None:
        self.nest = nest
        self.leads = meeting.leads
        cfg = nest.cfg
        self.live: list[list[Region]] = [[] for _ in range(cfg.blocks)]
        self.behind: list[list[Region]] = [[] for _ in range(cfg.blocks)]
        self.in_front: dict[int, list[Region]] = {}
        self.at_end: dict[int, list[Region]] = {}
        self.quiet: list[bool] = []
        self._place_regions(finder.regions)
        turns: i64 = 0
        while turns < _TURNS and self._widen(finder):
            turns += 1
            self._place_regions(finder.regions)
        self.quiet = _quiet_blocks(self, meeting)
        _mark_escapes(self)
        for b in calling:
            for region in self.live[b]:
                region.calls = True
        _number_regions(self, most, entry)

    def _place_regions(self, regions: list[Region]) -> None:
        cfg = self.nest.cfg
        self.in_front.clear()
        self.at_end.clear()
        for region in sorted(regions, key=self._order):
            (self.in_front if region.loop else self.at_end).setdefault(region.start, []).append(region)
        idom = cfg.idom()
        at: i64 = 0
        while at < cfg.reachable:
            b: int = cfg.order[at]
            live = self._kept(self.behind[idom[b]], idom[b], b) if at else []
            self.live[b] = self._with(live, self.in_front, b)
            self.behind[b] = self._with(self.live[b], self.at_end, b)
            at += 1

    def _with(self, live: list[Region], starts: dict[int, list[Region]], b: i64) -> list[Region]:
        """The regions ``live`` and those that begin here, as far as there is room."""
        if b not in starts:
            return live
        room = max(_NESTED - len(live), 0)
        if room < len(starts[b]):
            starts[b] = starts[b][:room]
        return live + starts[b]

    def _widen(self, finder: Finder) -> bool:
        """Widen regions from which threads get to the meeting point through blocks outside; whether there were some."""
        cfg, loops = self.nest.cfg, self.nest.loops
        changed = False
        at: i64 = 0
        while at < cfg.reachable:
            b = cfg.order[at]
            at += 1
            e = cfg.succ_start[b]
            while e < cfg.succ_start[b + 1] and self.behind[b]:
                x = cfg.succ[e]
                e += 1
                if not self.leads[x]:
                    continue
                for region in self.crossing(b, x):
                    if region.meet == x or region.closed or region.blocks is not None:
                        continue
                    if region.level < 0 or loops.contains(region.level, x):
                        changed = finder.widen(region, x) or changed
        return changed

    def _order(self, region: Region) -> int:
        """Regions that begin at the same place: the one that ends last comes first."""
        end = self.nest.end[region.meet] if region.back else region.meet
        return -int(self.nest.graph.number[end])

    def _kept(self, regions: list[Region], before: i64, b: i64) -> list[Region]:
        """The regions live at the end of the immediate dominator ``before`` that are live in ``b``."""
        if not regions:
            return regions
        left = self.nest.loops.left(before, b)
        lost = False
        for region in regions:
            if self._ends(region, b, left):
                lost = True
                break
        return [region for region in regions if not self._ends(region, b, left)] if lost else regions

    def _ends(self, region: Region, b: i64, left: i64) -> bool:
        """Whether a region is not live in a block any more; ``left``: the outermost loop that was left on the way, or -1."""
        if region.meet == b and not region.back:
            return True
        if self.leads[region.meet] and not self.leads[b]:
            return True
        if region.blocks is not None and b not in region.blocks:
            return True
        depth = self.nest.loops.depth
        return left >= 0 and region.level >= 0 and depth[region.level] >= depth[left]

    def crossing(self, b: i64, x: i64) -> list[Region]:
        """The regions that an edge leaves, by their meeting point or by another way."""
        out, into = self.behind[b], self.live[x]
        if out is into or not out:
            return []
        token: int = b * self.nest.cfg.blocks + x
        for region in into:
            region.mark = token
        return [region for region in out if region.mark != token]


def _mark_escapes(barriers: Barriers) -> None:
    """Find the regions that threads leave by another way than their meeting point."""
    cfg = barriers.nest.cfg
    at: i64 = 0
    while at < cfg.reachable:
        b = cfg.order[at]
        at += 1
        if not barriers.behind[b]:
            continue
        e = cfg.succ_start[b]
        while e < cfg.succ_start[b + 1]:
            x = cfg.succ[e]
            e += 1
            for region in barriers.crossing(b, x):
                if region.meet == x:
                    region.synced = True
                elif not barriers.quiet[x]:
                    region.escapes = True


def _quiet_blocks(barriers: Barriers, meeting: Meeting) -> list[bool]:
    """Blocks from which threads only exit soon: no loop and no barrier comes, and the main exit does not."""
    nest = barriers.nest
    cfg = nest.cfg
    noise = DataFlow(cfg, 1, backward=True)
    b: i64 = 0
    while b < cfg.blocks:
        if meeting.leads[b] or nest.loops.header[b] >= 0 or b in barriers.at_end:
            noise.make(b, 0)
        b += 1
    noise.solve()
    return [not noise.behind(at, 0) for at in range(cfg.blocks)]


def _number_regions(barriers: Barriers, most: i64, entry: bool) -> None:
    """Give the regions their barriers.

    Where more nest than there are, the outermost ones that no thread leaves by another way are kept in registers, and the last
    barrier is used to set them and to wait; threads cannot leave a barrier that is in the registers of others. When there is
    none of that kind a region does without.

    Functions that are called have the first few barriers to themselves and leave the others alone: so entries use those around
    calls, and functions keep the barriers around calls in registers.
    """
    cfg = barriers.nest.cfg
    deepest: i64 = 0
    for live in barriers.behind:
        deepest = max(deepest, len(live))
    calls = any(region.calls for live in barriers.behind for region in live)
    room = most if not calls else most - SCRATCH_BARRIERS if entry else 0
    limit = most if deepest <= room else most - 1
    first: i64 = SCRATCH_BARRIERS if entry else limit
    at: i64 = 0
    while at < cfg.reachable:
        b: int = cfg.order[at]
        at += 1
        if b in barriers.in_front:
            for region in barriers.in_front[b]:
                _number(region, barriers.live[b], limit, first if region.calls else 0)
        if b in barriers.at_end:
            for region in barriers.at_end[b]:
                _number(region, barriers.behind[b], limit, first if region.calls else 0)


def _number(region: Region, live: list[Region], limit: i64, first: i64) -> None:
    """The barrier of a region where ``live`` are set, ``first`` or above; those of them that come later have no number yet."""
    if not region.synced:
        return
    used: i64 = 0
    victim: Region | None = None
    for other in live:
        if other.number >= 0 and not other.saved:
            used |= 1 << i64(other.number)
            if victim is None and not other.escapes and i64(other.number) >= first:
                victim = other
    number = first
    while number < limit and used >> number & 1:
        number += 1
    if number < limit:
        region.number = number
    elif victim is not None:
        region.number = victim.number
        victim.number = limit
        victim.saved = True
    elif not region.escapes:
        region.number = limit
        region.saved = True
