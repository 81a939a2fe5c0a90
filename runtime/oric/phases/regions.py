"""Where threads that went different ways come together again, and which convergence barriers that takes.

Threads that part inside a loop meet inside it again although some of them leave the loop: ways out of a loop count for the
loop as a whole, not for the branches in it. So the post-dominators here are those of a graph without cycles (:class:`Nest`):
every loop has a node of its own, its *end*, to which its back edges go and from which its ways out come. A branch whose threads
part has its meeting point in its own loop, and a loop that they leave at different times has one around it.

A region begins at the end of a block (or in front of a loop), dominates what lies in it, and ends where its threads meet.
Branches that meet at the same block share one barrier, set where it dominates them all. A thread that leaves a region by
another way than its meeting point leaves its barrier (BREAK); threads that exit are taken out by the hardware. Observed on ptxas
13.0.88 at -O0 and -O3.
"""

from __future__ import annotations

from typing import Final, final

from librt.vecs import append, vec
from mypy_extensions import i64
from oric_tables.op import RETURN

from oric.ir.cfg import Cfg, Loops
from oric.ir.function import NONE
from oric.support.arrays import nones, zeros

from .flow import COND_STOP, GONE, STOP, Flow

_ENTRY: Final = 0


@final
class Region:
    """What runs between a set barrier and the place where its threads meet.

    ``start``: the block at whose end the barrier is set or, when ``loop`` is true, the header in front of whose loop it is.
    ``meet``: the block in front of which the threads meet or, when ``back`` is true, the header of the loop at whose back edges
    they do. ``level``: the header of the innermost loop around both, -1 for none. ``number``: the barrier, -1 when the region
    does without. ``synced``: threads get to the meeting point; ``escapes``: they leave the region by another way; ``saved``:
    the barrier is kept in a register meanwhile; ``calls``: functions are called in it; ``closed``: it cannot begin higher up to
    take in all ways to its meeting point. ``blocks``: those on the ways to the meeting point, when there are others; None: all
    blocks as above.
    """

    def __init__(self, start: i64, loop: bool, meet: i64, back: bool, level: i64) -> None:
        self.start: int = start
        self.loop = loop
        self.meet: int = meet
        self.back = back
        self.level: int = level
        self.number: int = -1
        self.escapes = False
        self.saved = False
        self.calls = False
        self.synced = False
        self.closed = False
        self.blocks: set[int] | None = None
        self.mark: int = -1


@final
class Nest:
    """The control flow with loops taken together: blocks have their numbers, ``end[h]`` is the end of the loop of header h.

    ``graph`` has no cycles, those of irreducible loops apart; ``first`` is the number of the first end.
    """

    def __init__(self, cfg: Cfg) -> None:
        self.cfg = cfg
        loops = cfg.loops()
        self.loops: Loops = loops
        self.end = nones(cfg.blocks)
        self.header = vec[i64]()
        self.first: int = cfg.blocks
        at: i64 = 0
        while at < cfg.reachable:
            b = cfg.order[at]
            if loops.header[b] == b:
                self.end[b] = cfg.blocks + len(self.header)
                self.header = append(self.header, b)
            at += 1
        ends: list[list[int]] = [[] for _ in range(len(self.header))]
        start = vec[i64]()
        flat = vec[i64]()
        start = append(start, 0)
        b = 0
        while b < cfg.blocks:
            e = cfg.succ_start[b]
            while e < cfg.succ_start[b + 1] and cfg.number[b] >= 0:
                x = cfg.succ[e]
                left = loops.left(b, x)
                if left < 0:
                    flat = append(flat, self._ahead(loops.header[b], x))
                else:
                    ends[self.end[left] - cfg.blocks].append(self._ahead(loops.outer[left], x))
                e += 1
            start = append(start, len(flat))
            b += 1
        for targets in ends:
            for target in dict.fromkeys(targets):
                flat = append(flat, target)
            start = append(start, len(flat))
        self.graph = Cfg(cfg.blocks + len(self.header), start, flat)

    def _ahead(self, around: i64, x: i64) -> i64:
        return self.end[x] if x == around else x

    def block_of(self, node: i64) -> i64:
        """The block of a node: itself, or the header of the loop whose end it is."""
        return self.header[node - self.first] if node >= self.first else node

    def level_of(self, node: i64) -> i64:
        """The header of the innermost loop in which a node stands, -1 for none."""
        return self.loops.outer[self.block_of(node)] if node >= self.first else self.loops.header[node]


@final
class Meeting:
    """``points``: for every node the nearest one that all threads pass that do not exit before; the number of nodes or -1:
    none. ``leads``: whether a node leads to the main exit.
    """

    def __init__(self, points: vec[i64], leads: vec[i64]) -> None:
        self.points = points
        self.leads = leads


def leaving_blocks(flow: Flow) -> list[int]:
    """The blocks that have a way to a bare exit beside others, or exit conditionally.

    Threads must not wait for one another in front of a bare exit: others may count on their being gone.
    """
    found: list[int] = []
    b: i64 = 0
    while b < flow.blocks():
        if flow.kind[b] != GONE and (flow.kind[b] == COND_STOP or flow.loses_exits(b)):
            found.append(b)
        b += 1
    return found


def meeting_points(flow: Flow, cfg: Cfg, graph: Cfg, leaving: list[int]) -> Meeting:
    """Where the threads meet again that part at the end of each node of ``graph``: ``cfg`` itself, or that of its nest.

    The exit that comes last in the order of control is the main one, or that which returns from a function; ways that cannot
    reach it do not count. The end of a block of ``leaving``, and that of a loop without a way out, is an exit only where control
    never reaches an unconditional one.
    """
    stops: list[int] = []
    b: i64 = 0
    while b < flow.blocks():
        if flow.kind[b] == STOP and cfg.number[b] >= 0:
            stops.append(b)
        b += 1
    leading = graph.postdominators(_flags(graph, stops))
    stops += [index for index in leaving if cfg.number[index] >= 0 and leading[index] < 0]
    main: int = stops[0] if stops else -1
    for index in stops:
        if _rank(flow, cfg, index) > _rank(flow, cfg, main):
            main = index
    b = cfg.blocks
    while b < graph.blocks:
        if leading[b] < 0 and graph.number[b] >= 0 and graph.succ_start[b] == graph.succ_start[b + 1]:
            stops.append(b)
        b += 1
    if not stops:
        return Meeting(nones(graph.blocks), zeros(graph.blocks))
    points = graph.postdominators(_flags(graph, [main] if main >= 0 else []))
    leads = zeros(graph.blocks)
    b = 0
    while b < graph.blocks:
        leads[b] = 1 if points[b] >= 0 else 0
        b += 1
    general = graph.postdominators(_flags(graph, stops))
    b = 0
    while b < graph.blocks:
        if points[b] < 0:
            points[b] = general[b]
        b += 1
    return Meeting(points, leads)


def _rank(flow: Flow, cfg: Cfg, block: i64) -> tuple[bool, int]:
    """How much an exit is the main one."""
    node = flow.node[block]
    return node != NONE and flow.f.op[node] == RETURN, int(cfg.number[block])


def _flags(cfg: Cfg, blocks: list[int]) -> vec[i64]:
    out = zeros(cfg.blocks)
    for b in blocks:
        out[b] = 1
    return out


@final
class Finder:
    """Finds the regions of a function.

    After :meth:`run`: ``regions``; ``top`` gives for each branch whose threads part the region behind which they are together
    again, None for those that have none.
    """

    def __init__(self, nest: Nest, meeting: Meeting, branches: set[int]) -> None:
        self.nest = nest
        self.meeting = meeting
        self.branches = branches
        self.regions: list[Region] = []
        self.top: dict[int, Region | None] = {}
        self._owner: dict[int, Region] = {}
        self._tangled = _tangled(nest.cfg) if nest.loops.irreducible else zeros(nest.cfg.blocks)

    def run(self) -> None:
        """Find the regions."""
        cfg = self.nest.cfg
        groups: dict[int, list[int]] = {}
        top: dict[int, int] = {}
        left: set[int] = set()
        at: i64 = 0
        while at < cfg.reachable:
            branch: int = cfg.order[at]
            if branch in self.branches:
                node = self._leave_loops(branch, left)
                if self._parts(branch):
                    top[branch] = node if node >= 0 else branch
                elif node >= 0:
                    top[branch] = node
            at += 1
        at = 0
        while at < cfg.reachable:
            block: int = cfg.order[at]
            if block in left:
                self._join(groups, self.nest.end[block])
            if block in top and self._parts(block):
                self._join(groups, block)
            at += 1
        for meet, members in groups.items():
            self._make(meet, members)
        for branch, node in top.items():
            self.top[branch] = self._owner.get(node)

    def _parts(self, branch: i64) -> bool:
        """Whether several ways that count lead on from a branch in its own loop."""
        graph, leads = self.nest.graph, self.meeting.leads
        only: i64 = -1
        e = graph.succ_start[branch]
        while e < graph.succ_start[branch + 1]:
            target = graph.succ[e]
            if leads[target] or not leads[branch]:
                if only >= 0 and target != only:
                    return True
                only = target
            e += 1
        return False

    def _leave_loops(self, branch: i64, left: set[int]) -> i64:
        """Note the loops that threads leave at the end of a branch; the end of the outermost one, or -1."""
        cfg, loops, leads = self.nest.cfg, self.nest.loops, self.meeting.leads
        found: i64 = -1
        e = cfg.succ_start[branch]
        while e < cfg.succ_start[branch + 1]:
            target = cfg.succ[e]
            outermost = loops.left(branch, target) if leads[target] or not leads[branch] else -1
            if outermost >= 0:
                header = loops.header[branch]
                left.add(header)
                while header != outermost:
                    header = loops.outer[header]
                    left.add(header)
                if found < 0 or loops.depth[outermost] < loops.depth[self.nest.block_of(found)]:
                    found = self.nest.end[outermost]
            e += 1
        return found

    def _join(self, groups: dict[int, list[int]], node: i64) -> None:
        meet = self.meeting.points[node]
        graph = self.nest.graph
        if meet < 0 or meet == graph.blocks:
            return
        if meet < self.nest.first and not self.may_meet(meet):
            return
        groups.setdefault(meet, []).append(node)

    def enclose(self, start: i64, meet: i64) -> None:
        """Add a region from the end of a block to another, which all go through one that follows it in the same loop."""
        if self.nest.cfg.number[start] >= 0 and not self._tangled[start] and self.may_meet(meet):
            self.regions.append(Region(start, False, meet, False, self.nest.loops.header[meet]))

    def may_meet(self, block: i64) -> bool:
        """Whether a region may meet at a block."""
        return not self._tangled[block]

    def _make(self, meet: i64, members: list[int]) -> None:
        """The regions of the nodes that meet at the same place: one for all, or else one for each that none covers."""
        cfg = self.nest.cfg
        level = self.nest.level_of(members[0])
        common = self.nest.block_of(members[0])
        for member in members[1:]:
            common = _common_dominator(cfg, common, self.nest.block_of(member))
        shared = self._around(common, level, meet)
        made = [shared] if shared is not None else []
        for member in members:
            block = self.nest.block_of(member)
            owner = _covering(cfg, made, block)
            if owner is None:
                owner = self._around(block, level, meet)
                if owner is not None:
                    made.append(owner)
            if owner is not None:
                self._owner[member] = owner
        self.regions.extend(made)

    def begin(self, place: i64, level: i64, meet: i64, back: bool) -> Region | None:
        """The region that begins at the end of ``place`` or, where that cannot be, above it; None when there is none."""
        loops = self.nest.loops
        while True:
            header = loops.header[place]
            inner: i64 = -1
            while header >= 0 and header != level:
                inner = header
                header = loops.outer[header]
            if header != level:
                return None
            start = inner if inner >= 0 else place
            if not self._tangled[start]:
                return Region(start, inner >= 0, meet, back, level)
            if start == _ENTRY:
                return None
            place = self.nest.cfg.idom()[start]

    def _around(self, place: i64, level: i64, meet: i64) -> Region | None:
        """The region around ``place`` whose threads all pass the node ``meet``."""
        region = self.begin(place, level, self.nest.block_of(meet), meet >= self.nest.first)
        if region is None or not self.meets(self.nest.end[region.start] if region.loop else region.start, meet):
            return None
        return region

    def widen(self, region: Region, x: i64) -> bool:
        """Let a region begin higher up, so that ``x`` lies in it; whether that can be."""
        meet = self.nest.end[region.meet] if region.back else region.meet
        wider = self._around(_common_dominator(self.nest.cfg, region.start, x), region.level, meet)
        if wider is None:
            region.closed = True
            return False
        region.start = wider.start
        region.loop = wider.loop
        return True

    def meets(self, node: i64, meet: i64) -> bool:
        """Whether the node ``meet`` lies on every way on from ``node``."""
        points = self.meeting.points
        at = points[node]
        while 0 <= at < self.nest.graph.blocks and at != meet:
            at = points[at]
        return at == meet


def _common_dominator(cfg: Cfg, a: i64, b: i64) -> i64:
    idom = cfg.idom()
    while not cfg.dominates(a, b):
        a = idom[a]
    return a


def _covering(cfg: Cfg, regions: list[Region], block: i64) -> Region | None:
    for region in regions:
        if cfg.dominates(region.start, block):
            return region
    return None


def _tangled(cfg: Cfg) -> vec[i64]:
    """Blocks on cycles without the back edge of a natural loop: strongly connected components of what is left without those."""
    loops = cfg.loops()
    start = vec[i64]()
    flat = vec[i64]()
    start = append(start, 0)
    b: i64 = 0
    while b < cfg.blocks:
        e = cfg.succ_start[b]
        while e < cfg.succ_start[b + 1]:
            if loops.back[e] != 1:
                flat = append(flat, cfg.succ[e])
            e += 1
        start = append(start, len(flat))
        b += 1
    rest = Cfg(cfg.blocks, start, flat)
    component = nones(cfg.blocks)
    tangled = zeros(cfg.blocks)
    at: i64 = 0
    while at < rest.reachable:
        root: int = rest.order[at]
        at += 1
        if component[root] >= 0:
            continue
        component[root] = root
        stack = [root]
        while stack:
            block = stack.pop()
            for pred in rest.predecessors(block):
                if rest.number[pred] >= 0 and component[pred] < 0:
                    component[pred] = root
                    tangled[pred] = 1
                    tangled[root] = 1
                    stack.append(pred)
                elif pred == block:
                    tangled[block] = 1
    return tangled
