"""Phase 72: convergence barriers where threads part, WARPSYNC where there can be none.

``BSSY Bn, x`` in front of a branch or a loop, ``BSYNC Bn`` where its threads meet, directly in front of x, ``BREAK Bn`` on other
ways out (:mod:`.regions`, :mod:`.joins`). A barrier that is kept in a register is set and waited for as the last one:
``BSSY B15, x; BMOV.32.CLEAR R, B15``, and ``BMOV.32 B15, R; BSYNC B15``. A loop in which threads wait for one another (a spin
lock) has a YIELD, which lets those go on that wait at the barrier behind it: one of them may hold the lock. So its threads may be
apart from there on. Source: observed on ptxas 13.0.88; docs/deviations.md, "convergence barriers".
"""

from __future__ import annotations

from typing import Final, final

from librt.vecs import vec
from mypy_extensions import i64
from oric_tables import ops
from oric_tables.op import BMOV_B, BMOV_R, BREAK, BSSY, BSYNC, CALL_SITE, CALL_SITE_R, WARPSYNC, WARPSYNC_ALL, YIELD
from oric_tables.registers import SCRATCH_BARRIERS

from oric.ir import operand as opd
from oric.ir.cfg import Cfg
from oric.ir.cursor import Cursor
from oric.ir.dataflow import DataFlow
from oric.ir.function import AUX_ALONE, AUX_APART, NONE, Function, R
from oric.ir.images import takes_turns, turns_barrier
from oric.ir.lineinfo import line_of
from oric.ir.optable import BARRIER, OPS, WARP
from oric.ir.passes import PassContext
from oric.ir.words import WordList
from oric.support.diagnostics import InternalError

from .barriers import Barriers
from .cleanup import works_together
from .control import thread_jumps
from .divergence import Definitions, WaitingLoops, divergence
from .flow import COND, GONE, JUMP, TABLE, Flow, can_invert
from .gathering import Unit
from .joins import Joins
from .meeting import drop_full_masks, gather_barriers, gather_masked, is_for_whole_warp, masked_apart, uniform_results, whole_warp
from .regions import Finder, Nest, Region, leaving_blocks, meeting_points
from .together import PARTS, drop_masks, drop_repeated_waits, drop_waits, drop_waits_together

_CLEAR: Final[int] = ops.op(BMOV_R).pack(clear=True)
_EXCLUSIVE: Final[int] = ops.op(WARPSYNC).pack(exclusive=True)


def insert_convergence_barriers(f: Function, ctx: PassContext) -> bool:
    """Insert the barriers of a function and settle its WARPSYNCs."""
    before = f.code_epoch
    drop_full_masks(f, ctx)
    b: i64 = 0
    while b < f.blocks() and f.succ_count[b] < 2:
        b += 1
    if f.subroutine or (b == f.blocks() and not _parts(f)):  # whose threads meet where its callers' barriers are, behind the call
        if not _is_called_or_calls(f) and not f.subroutine and ctx.opt_level >= 1:
            drop_masks(f, drop_waits(f, [], ctx))
        _settle_warpsync(f, _all_blocks(f) if _is_called_or_calls(f) else set(), ctx, set(), set())
        drop_repeated_waits(f, ctx)
        return f.code_epoch != before
    flow = Flow(f)
    thread_jumps(flow)
    flow.drop_unreachable()
    gathered = gather_barriers(flow, ctx)
    groups = masked_apart(flow)
    shared: list[int] = []
    calls = _calls_apart(flow)
    found = _Found(flow, ctx, gathered, shared, calls)
    while others := [group for group in groups if not found.is_alike(group)]:
        shared += gather_masked(flow, others, ctx)
        groups = [group for group in groups if group not in others]
        found = _Found(flow, ctx, gathered, shared, calls)
    apart = _all_blocks(f) if _is_called_or_calls(f) else found.apart()
    _let_others_run(f, found.waiting)
    kept = [*shared, *(unit.waits for group in groups for unit in group)]
    dropped = drop_waits_together(flow, apart | found.inside(), kept, ctx) if ctx.opt_level >= 1 else []
    _settle_warpsync(f, apart, ctx, gathered, {i for group in groups for unit in group for i in unit.members})
    inserted = _Insertion(flow, found.barriers).run()
    f.attributes.num_convergence_barriers = inserted.highest + 1
    f.attributes.parts_for_good = bool(found.unmet or found.waiting)
    ctx.count("convergence barriers", inserted.count)
    _keep_apart(flow, found.masked, ctx)
    gather_masked(flow, groups, ctx)  # last: where threads of a mask wait for one another others are not to wait for them
    drop_repeated_waits(f, ctx)
    flow.rebuild()
    drop_masks(f, dropped)
    return True


@final
class _Found:
    """The barriers of a function, and where its threads may be apart; ``gathered``, ``shared``: for what threads have been led
    together, of the block and of masks; ``calls``: see :func:`_calls_apart`.

    ``waiting``: headers of loops that threads leave one by one; ``masked``: what is done for threads whose masks may differ.
    """

    def __init__(self, flow: Flow, ctx: PassContext, gathered: set[int], shared: list[int], calls: list[tuple[int, int]]) -> None:
        f = flow.f
        self.f = f
        self.masked = _masked(flow)
        leaving = leaving_blocks(flow)
        self.cfg: Cfg = flow.graph(without_bare_exits=True)
        meeting = meeting_points(flow, self.cfg, self.cfg, leaving)
        definitions = Definitions(flow)
        branches = _branches(flow, self.cfg)
        self.waits = WaitingLoops(flow, self.cfg, definitions, meeting.points)
        self.waiting: set[int] = self.waits.headers
        if not self.cfg.loops().irreducible:
            diverging, different = divergence(flow, self.cfg, definitions, meeting.points, self.waits)
            self.waiting = self.waits.left_at(diverging)
            branches &= diverging
            self.masked = _those_that_differ(f, self.masked, different)
        most = (ctx.target.barrier_regs if f.is_entry else SCRATCH_BARRIERS) - bool(self.masked)
        if takes_turns(f):
            most = min(most, turns_barrier(f, ctx.target.barrier_regs) - bool(self.masked))
        places = {f.block[i] for i in gathered}, {f.block[i] for i in shared}
        self.barriers, self.unmet, self.met = _find(flow, self.cfg, leaving, branches, places, calls, most)

    def apart(self) -> set[int]:
        """The blocks in which threads may be apart although they could be together."""
        apart = _blocks_apart(self.cfg, self.barriers, self.unmet, self.waits.ways_out(self.waiting))
        return apart | _joined_early(self.cfg, self.barriers, self.met) if works_together(self.f, BARRIER | WARP) else apart

    def inside(self) -> set[int]:
        """The blocks in which some threads of the warp are while others may be elsewhere: those inside regions."""
        return {block for block in range(self.cfg.blocks) if self.barriers.live[block]}

    def is_alike(self, group: list[Unit]) -> bool:
        """Whether the same barriers are in use at all places of a group."""
        live = [self.barriers.live[self.f.block[unit.first]] for unit in group]
        return len({tuple(region.number for region in regions if region.number >= 0) for regions in live}) == 1


def _is_called_or_calls(f: Function) -> bool:
    """Whether nothing is known about which threads come to the code together: others call it, or it calls others."""
    return bool(f.kept) or not f.is_entry


def _all_blocks(f: Function) -> set[int]:
    return set(range(f.blocks()))


def _calling(f: Function) -> set[int]:
    """The blocks in which functions are called."""
    found: set[int] = set()
    b: i64 = 0
    while b < f.blocks() and f.kept:
        i = f.head[b]
        while i != NONE:
            if f.op[i] == CALL_SITE or f.op[i] == CALL_SITE_R:
                found.add(b)
            i = f.next[i]
        b += 1
    return found


def _calls_apart(flow: Flow) -> list[tuple[int, int]]:
    """Give every call through a register, where threads part, a block of its own; the blocks in front of and behind each."""
    f, cursor = flow.f, flow.cursor
    calls: list[int] = []
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b] if flow.kind[b] != GONE else NONE
        while i != NONE:
            if f.op[i] == CALL_SITE_R:
                calls.append(i)
            i = f.next[i]
        b += 1
    found: list[tuple[int, int]] = []
    for i in calls:
        start = f.block[i]
        before = f.prev[i]
        cursor.in_front(i)
        mark = cursor.make(YIELD) if before == NONE else before
        flow.split_behind(mark)
        if before == NONE:
            cursor.remove(mark)
        found.append((start, int(flow.split_behind(i))))
        flow.follower.pop(start)  # what waits for the threads comes in between
        flow.follower.pop(f.block[i])
    return found


def _find(
    flow: Flow,
    cfg: Cfg,
    leaving: list[int],
    branches: set[int],
    gathering: tuple[set[int], set[int]],
    calls: list[tuple[int, int]],
    most: int,
) -> tuple[Barriers, list[int], list[int]]:
    """The barriers of a function, and the branches behind which threads stay apart, and meet. ``calls``: see
    :func:`_calls_apart`; ``most``: how many barriers there are.

    ``gathering``: the blocks in which the threads of a warp wait for all others, so that nobody may wait for them behind a region
    around one; and those in which the threads of masks wait for one another, in front of which nobody may wait for threads that
    need not come: these may wait for those that have been there.
    """
    nest = Nest(cfg)
    meeting = meeting_points(flow, cfg, nest.graph, leaving)
    finder = Finder(nest, meeting, branches)
    finder.run()
    finder.regions.extend(region for region in Joins(flow.f, finder).run() if region.meet not in gathering[1])
    for start, meet in calls:
        finder.enclose(start, meet)
    calling = _calling(flow.f)
    barriers = Barriers(nest, meeting, finder, calling, most, flow.f.is_entry)
    while around := [region for block in gathering[0] for region in barriers.live[block]]:
        finder.regions = [region for region in finder.regions if region not in around]
        for branch, region in finder.top.items():
            if region in around:
                finder.top[branch] = None
        barriers = Barriers(nest, meeting, finder, calling, most, flow.f.is_entry)
    unmet = [branch for branch, region in finder.top.items() if region is None or region.number < 0]
    return barriers, unmet, [branch for branch, region in finder.top.items() if region is not None and region.number >= 0]


def _branches(flow: Flow, cfg: Cfg) -> set[int]:
    """Blocks that go on to several others."""
    found: set[int] = set()
    b: i64 = 0
    while b < flow.blocks():
        kind = flow.kind[b]
        if (kind == COND or kind == TABLE) and cfg.succ_start[b + 1] - cfg.succ_start[b] > 1:
            found.add(b)
        b += 1
    return found


def _blocks_apart(cfg: Cfg, barriers: Barriers, unmet: list[int], parting: list[int]) -> set[int]:
    """Blocks that the threads of a warp may run apart from one another although they could be together.

    They part for good at the ends of the blocks ``parting``, at those of ``unmet`` until a barrier around brings them together.
    """
    if not unmet and not parting:
        return set()
    kinds: dict[tuple[int, ...], int] = {}  # the places where threads that part may meet -> their number
    kind_of: list[int] = []
    for branch in unmet:
        gates = tuple(sorted({region.meet for region in barriers.behind[branch] if region.number >= 0}))
        kind_of.append(kinds.setdefault(gates, len(kinds)))
    forever = kinds.setdefault((), len(kinds))
    ways = DataFlow(cfg, len(kinds))
    for block in parting:
        ways.make(block, forever)
    for branch, kind in zip(unmet, kind_of, strict=True):
        ways.make(branch, kind)
    for gates, kind in kinds.items():
        for gate in gates:
            ways.stop(gate, kind)
    ways.solve()
    return {block for block in range(cfg.blocks) if ways.passes(block)}


def _joined_early(cfg: Cfg, barriers: Barriers, branches: list[int]) -> set[int]:
    """Blocks that lie on several ways from a branch to where its threads meet: there they come one way after the other."""
    found: set[int] = set()
    for branch in branches:
        gates = {region.meet for region in barriers.behind[branch] if region.number >= 0}
        starts = [cfg.succ[e] for e in range(cfg.succ_start[branch], cfg.succ_start[branch + 1]) if cfg.succ[e] not in gates]
        if len(starts) < 2:
            continue
        sides: set[int] = set()
        for start in starts:
            side = _reached(cfg, start, gates)
            found |= side & sides
            sides |= side
    return found


def _reached(cfg: Cfg, start: i64, gates: set[int]) -> set[int]:
    """Where threads come from a block on that do not pass a gate."""
    found: set[int] = set()
    waiting = [int(start)]
    while waiting:
        b: i64 = waiting.pop()
        if b in found or b in gates:
            continue
        found.add(b)
        e = cfg.succ_start[b]
        while e < cfg.succ_start[b + 1]:
            waiting.append(cfg.succ[e])
            e += 1
    return found


def _parts(f: Function) -> bool:
    """Whether threads of one block are told apart: by their masks, by the guard of what is of the warp, by what they call."""
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            if (f.op[i] == WARPSYNC and f.mods[i] & _EXCLUSIVE) or (f.guard[i] and OPS.flags[f.op[i]] & WARP):
                return True
            if f.op[i] == CALL_SITE_R:
                return True
            i = f.next[i]
        b += 1
    return False


def _masked(flow: Flow) -> list[int]:
    """The instructions that bring threads together for what those of one mask do by themselves; constant masks are alike."""
    f = flow.f
    found: list[int] = []
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b] if flow.kind[b] != GONE else NONE
        while i != NONE:
            if f.op[i] == WARPSYNC and f.mods[i] & _EXCLUSIVE:
                if opd.is_register(f.get(i, 0)):
                    found.append(i)
                else:
                    _let_together(f, i)
            i = f.next[i]
        b += 1
    return found


def _let_together(f: Function, i: i64) -> None:
    """All threads that come have the same mask: they need not be told apart by it."""
    f.set_mods(i, f.mods[i] & ~_EXCLUSIVE)


def _those_that_differ(f: Function, masked: list[int], different: vec[i64]) -> list[int]:
    """Those whose masks may differ between threads, as the words say that do; the threads of the others go on together."""
    found: list[int] = []
    for i in masked:
        words = WordList()
        words.add_reads(f, i)
        at: i64 = 0
        while at < words.count and not different[words.words[at]]:
            at += 1
        if at < words.count:
            found.append(i)
        else:
            _let_together(f, i)
    return found


def _keep_apart(flow: Flow, masked: list[int], ctx: PassContext) -> None:
    """A barrier around what the threads of one mask do after those of another, as they go on together behind it."""
    f, cursor = flow.f, flow.cursor
    number = f.attributes.num_convergence_barriers
    if not masked:
        return
    if number >= (ctx.target.barrier_regs if f.is_entry else SCRATCH_BARRIERS):
        what = f"member masks that differ between threads (line {line_of(f.line[masked[0]])})"
        text = f"'{f.name}': {what} are not supported inside {number} regions in which threads part"
        if ctx.diag is None:
            raise InternalError(text)
        ctx.diag.error(text)
        ctx.diag.check()
    f.attributes.num_convergence_barriers = number + 1
    barrier = opd.special(number)
    for i in masked:
        end = _last_for(f, i)
        rest = flow.split_behind(end)
        cursor.in_front(i)
        cursor.make2(BSSY, barrier, opd.label(rest))
        cursor.at_end(f.block[end])
        cursor.line = f.line[end]
        cursor.make1(BSYNC, barrier)
    ctx.count("convergence barriers", len(masked))


def _last_for(f: Function, i: i64) -> i64:
    """The last instruction that belongs to what a mask is for: that behind its WARPSYNC, and what copies its uniform results."""
    end = i
    following = f.next[i]
    if following == NONE or not OPS.flags[f.op[following]] & WARP:
        return end
    end = following
    uniform = uniform_results(f, following)
    following = f.next[end]
    while following != NONE and uniform:
        at: i64 = 0
        while at < f.count[following]:
            if opd.is_register(f.get(following, at)) and f.get(following, at) & opd.INDEX in uniform:
                end = following
            at += 1
        following = f.next[following]
    return end


def _let_others_run(f: Function, waiting: set[int]) -> None:
    """A YIELD in every turn of a loop that waits for other threads."""
    cursor = Cursor(f)
    for header in sorted(waiting):
        cursor.at_start(header)
        cursor.line = f.line[f.head[header]] if f.head[header] != NONE else 0
        cursor.make(YIELD)


def _settle_warpsync(f: Function, apart: set[int], ctx: PassContext, gathered: set[int], waiting: set[int]) -> None:
    """Put WARPSYNCs in front of what is of the whole warp where threads may be apart, and of the instructions ``gathered``.

    ``waiting``: what has its own, as threads come to it from several places.

    Behind one they are together until something lets them part: the end of the block, if not earlier. Source: observed on ptxas
    13.0.88, which has a NOP in place of every other one.
    """
    cursor = Cursor(f)
    b: i64 = 0
    while b < f.blocks():
        away = b in apart
        together = False
        i = f.head[b]
        while i != NONE:
            following = f.next[i]
            if (away and not together) or i in gathered:
                if i not in waiting and _needs_everybody(f, i):
                    cursor.in_front(i)
                    whole_warp(cursor, ctx)
                    ctx.count("WARPSYNC")
                    together = True
            together = is_for_whole_warp(f, i) or (together and not _lets_part(f, i))
            i = following
        b += 1


def _needs_everybody(f: Function, i: i64) -> bool:
    """Whether the threads of the warp must be together for an instruction, and nothing in front of it sees to that.

    Lowering puts a WARPSYNC in front of warp-wide operations that name some of the threads; those without one mean all.
    """
    flags = OPS.flags[f.op[i]]
    if f.guard[i] or not flags & (BARRIER | WARP) or f.aux[i] & AUX_ALONE:
        return False
    if flags & BARRIER:
        return True
    before = f.prev[i]
    if before == NONE or (f.op[before] == WARPSYNC and f.aux[before] & AUX_ALONE and not is_for_whole_warp(f, before)):
        return True
    return f.op[before] != WARPSYNC and f.op[before] != WARPSYNC_ALL


def _lets_part(f: Function, i: i64) -> bool:
    """Whether threads that come to an instruction together may be apart behind it."""
    return OPS.flags[f.op[i]] & PARTS != 0 or f.op[i] == YIELD or f.aux[i] & (AUX_ALONE | AUX_APART) != 0


@final
class _Insertion:
    """Puts the barriers into a function: BSYNC blocks at meeting points, BREAK on other ways out, BSSY at starts."""

    def __init__(self, flow: Flow, barriers: Barriers) -> None:
        self.flow = flow
        self.barriers = barriers
        self.cfg = barriers.nest.cfg
        self.highest: int = -1
        self.count: int = 0
        self._in_front: dict[int, int] = {}
        self._syncs: dict[tuple[int, int], int] = {}
        self._labels: dict[tuple[int, int], int] = {}
        self._labelled: set[int] = set()
        self._leaves: dict[tuple[int, ...], int] = {}
        self._breaks: list[tuple[int, int, list[int]]] = []
        self._keepers: dict[int, int] = {}

    def run(self) -> _Insertion:
        """Insert the barriers."""
        starts = sorted(self.barriers.in_front)
        for header in starts:
            self._in_front[header] = self._put_in_front(header)
        at: i64 = 0
        while at < self.cfg.reachable:
            if self.barriers.behind[self.cfg.order[at]] or self._in_front:
                self._redirect(self.cfg.order[at])
            at += 1
        for header in starts:
            for region in self.barriers.in_front[header]:
                self._set(region, self._in_front[header])
        for start in sorted(self.barriers.at_end):
            for region in self.barriers.at_end[start]:
                self._set(region, start)
        for block, guard, numbers in self._breaks:
            self._leave_here(block, guard, numbers)
        return self

    def _is_short(self, b: i64, leave: list[int]) -> bool:
        """Whether threads leave their barriers by guarded instructions in front of the branch, not in a block of their own."""
        return self.flow.kind[b] == COND and len(leave) == 1 and can_invert(self.flow.f, self.flow.node[b])

    def _leave_here(self, b: i64, guard: i64, numbers: list[int]) -> None:
        flow = self.flow
        flow.cursor.at_end(b)
        flow.cursor.line = flow.f.line[flow.node[b]]
        for number in numbers:
            flow.cursor.make1(BREAK, opd.special(number), 0, guard)

    def _put_in_front(self, header: i64) -> i64:
        """The block on all ways into a loop, a new one where there is none."""
        flow, cfg, loops = self.flow, self.cfg, self.barriers.nest.loops
        outside = [p for p in cfg.predecessors(header) if cfg.number[p] >= 0 and not loops.contains(header, p)]
        if len(outside) == 1 and flow.kind[outside[0]] == JUMP and not self.barriers.crossing(outside[0], header):
            return outside[0]
        return flow.new_block(header)

    def _redirect(self, b: i64) -> None:
        """Send the threads that leave a block by way of the barriers that end there."""
        flow = self.flow
        for x in flow.successors(b):
            if self.cfg.number[x] < 0:
                continue
            dest: int = x
            place: int = self._in_front.get(x, -1)
            if place >= 0 and place != b and not self.barriers.nest.loops.contains(x, b):
                dest = place
            leave: list[int] = []
            for region in self.barriers.crossing(b, x):
                if region.number < 0:
                    continue
                if region.meet == x:
                    dest = self._sync(region, dest)
                elif not self.barriers.quiet[x]:
                    leave.append(region.number)
            if leave and self.barriers.nest.loops.left(b, x) < 0 and self._is_short(b, leave):
                guard = flow.f.guard[flow.node[b]]
                self._breaks.append((b, guard if flow.target[b] == x else guard ^ opd.NEGATE, leave))
            elif leave:
                dest = self._leave(dest, leave)
            if dest != x:
                flow.redirect(b, x, dest)

    def _sync(self, region: Region, meet: i64) -> i64:
        """The block with the BSYNC of a region; what it goes on to stands right behind it."""
        key = (region.meet, region.start)
        if key in self._syncs:
            return self._syncs[key]
        flow = self.flow
        sync = flow.new_block(meet)
        self._syncs[key] = sync
        flow.cursor.at_end(sync)
        flow.cursor.line = flow.f.line[flow.f.head[region.meet]] if flow.f.head[region.meet] != NONE else 0
        barrier = opd.special(region.number)
        if region.saved:
            flow.cursor.make2(BMOV_B, barrier, self._keeper(key))
        flow.cursor.make1(BSYNC, barrier)
        if region.back or meet in self._labelled:
            meet = flow.new_block(meet)
            flow.target[sync] = meet
        self._labels[key] = meet
        self._labelled.add(meet)
        flow.follower[sync] = meet
        return sync

    def _keeper(self, key: tuple[int, int]) -> i64:
        """The register that keeps the barrier of a region."""
        name = self._syncs[key]
        if name not in self._keepers:
            self._keepers[name] = opd.reg(self.flow.f.new_reg(R))
        return self._keepers[name]

    def _leave(self, dest: i64, numbers: list[int]) -> i64:
        """A block in which threads leave barriers on their way to ``dest``."""
        key = (dest, *numbers)
        found = self._leaves.get(key)
        if found is not None:
            return found
        flow = self.flow
        block = flow.new_block(dest)
        flow.cursor.at_end(block)
        flow.cursor.line = flow.f.line[flow.f.head[dest]] if flow.f.head[dest] != NONE else 0
        for number in numbers:
            flow.cursor.make1(BREAK, opd.special(number))
        self._leaves[key] = block
        return block

    def _set(self, region: Region, block: i64) -> None:
        """The BSSY of a region at the end of a block."""
        key = (region.meet, region.start)
        if region.number < 0:
            return
        flow, barrier = self.flow, opd.special(region.number)
        flow.cursor.at_end(block)
        flow.cursor.line = flow.f.line[flow.f.tail[block]] if flow.f.tail[block] != NONE else 0
        flow.cursor.make2(BSSY, barrier, opd.label(self._labels[key]))
        if region.saved:
            flow.cursor.make2(BMOV_R, self._keeper(key), barrier, _CLEAR)
        self.highest = max(self.highest, region.number)
        self.count += 1
