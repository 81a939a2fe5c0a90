"""Which values may differ between the threads of a warp, and which loops wait for other threads.

Forward data flow over register words, not sensitive to the order of instructions: a word is *divergent* when one of its
definitions is. Definitions are divergent when the operation makes values that differ by thread, when a source is divergent,
or when threads that took different ways meet (definitions under a divergent branch of a word that has several; definitions
in a loop that threads leave at different times). A load from one address, and the question whether a phase of an mbarrier is
over, give threads that are together the same (observed on ptxas 13.0.88, which leaves a loop around such a question without a
YIELD and has no WARPSYNC behind it), and threads that may be apart what they find at their own time. So do votes and reductions
of a warp, whatever the operand of each thread.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, final

from librt.vecs import append, vec
from mypy_extensions import i64
from oric_tables.op import BAR_ARV, BAR_RED, BAR_SYNC, REDUX, USETMAXREG_DEALLOC, USETMAXREG_TRY_ALLOC, VOTE, WARPSYNC, MovPhi
from oric_tables.operand_kinds import UNIFORM_SPECIAL

from oric.ir import operand as opd
from oric.ir.cfg import Cfg
from oric.ir.dataflow import Worklist
from oric.ir.function import AUX_APART, AUX_LOCK_FREE, AUX_VOLATILE, NONE, UP, UR, Function
from oric.ir.optable import ATOMIC, CALL, COMMON, CONSTANT, LOAD, OPS, WARP
from oric.ir.words import WordList
from oric.support.arrays import nones, zeros

from .flow import COND, COND_STOP, GONE, STOP, TABLE, Flow

_JOINT: Final = frozenset({VOTE, REDUX})
_ALIGNED: Final = frozenset({BAR_SYNC, BAR_ARV, BAR_RED, USETMAXREG_TRY_ALLOC, USETMAXREG_DEALLOC})  # without AUX_APART


@final
class Definitions:
    """The definitions of a function in the form that the analyses here iterate over.

    Row r is the instruction ``insn[r]`` in block ``block[r]``; it defines the words ``words[dests[r]:sources[r]]`` and reads
    ``words[sources[r]:dests[r + 1]]``. ``defs_of[w]`` counts the definitions of a word, ``uniform[w]`` marks words of uniform
    registers.
    """

    def __init__(self, flow: Flow) -> None:
        f = flow.f
        self.f = f
        self.insn = vec[i64]()
        self.block = vec[i64]()
        self.dests = vec[i64]()
        self.sources = vec[i64]()
        self.words = vec[i64]()
        self.defs_of = zeros(f.words)
        self.uniform = zeros(f.words)
        self._scratch = WordList()
        self._reader = vec[i64]()
        self._before = vec[i64]()
        self._row = vec[i64]()
        r: i64 = 0
        while r < f.registers():
            kind = f.reg_type[r]
            word = f.reg_word[r]
            while (kind == UR or kind == UP) and word < f.reg_word[r] + f.reg_size[r]:
                self.uniform[word] = 1
                word += 1
            r += 1
        b: i64 = 0
        while b < flow.blocks():
            i = f.head[b] if flow.kind[b] != GONE else NONE
            while i != NONE:
                self._add(b, i)
                i = f.next[i]
            b += 1
        self.dests = append(self.dests, len(self.words))

    def _add(self, b: i64, i: i64) -> None:
        f = self.f
        found = self._scratch
        found.clear()
        found.add_writes(f, i)
        if found.count == 0:
            return
        self.insn = append(self.insn, i)
        self.block = append(self.block, b)
        self.dests = append(self.dests, len(self.words))
        at: i64 = 0
        while at < found.count:
            self.words = append(self.words, found.words[at])
            self.defs_of[found.words[at]] += 1
            at += 1
        self.sources = append(self.sources, len(self.words))
        found.clear()
        found.add_reads(f, i)
        at = 0
        while at < found.count:
            self.words = append(self.words, found.words[at])
            at += 1

    def of_one_block(self) -> dict[int, list[int]]:
        """Word -> the instructions that define it, where all of them are in one block."""
        found: dict[int, list[int]] = {}
        row: i64 = 0
        while row < self.rows():
            at = self.dests[row]
            while at < self.sources[row]:
                found.setdefault(self.words[at], []).append(self.insn[row])
                at += 1
            row += 1
        return {word: made for word, made in found.items() if len({self.f.block[i] for i in made}) == 1}

    def rows(self) -> i64:
        """Number of rows."""
        return len(self.insn)

    def mark(self, row: i64, marked: vec[i64]) -> None:
        """Mark what a row defines."""
        at = self.dests[row]
        while at < self.sources[row]:
            marked[self.words[at]] = 1
            at += 1

    def spread(self, marked: vec[i64], among: vec[i64] | None = None, besides: Collection[int] = ()) -> None:
        """Mark what depends on marked words by definitions in blocks of ``among``, if given; uniform words stay unmarked.

        What the rows ``besides`` make does not depend on what they read.
        """
        if self.rows() == 0:
            return
        self._list_readers()
        done = zeros(self.rows())
        row: i64 = 0
        while among is not None and row < self.rows():
            done[row] = 1 - among[self.block[row]]
            row += 1
        for row in besides:
            done[row] = 1
        work = Worklist(self.rows())
        word: i64 = 0
        while word < self.f.words:
            if marked[word]:
                self._wake(word, work, done)
            word += 1
        while work.count > 0:
            row = work.take()
            at = self.dests[row]
            while at < self.sources[row]:
                word = self.words[at]
                if not self.uniform[word] and not marked[word]:
                    marked[word] = 1
                    self._wake(word, work, done)
                at += 1

    def _list_readers(self) -> None:
        """Make the lists of the rows that read a word: ``_reader[w]`` is the last place in ``words``, ``_before`` links them."""
        if len(self._reader):
            return
        self._reader = nones(self.f.words)
        self._before = nones(len(self.words))
        self._row = zeros(len(self.words))
        row: i64 = 0
        while row < self.rows():
            at = self.sources[row]
            while at < self.dests[row + 1]:
                self._row[at] = row
                self._before[at] = self._reader[self.words[at]]
                self._reader[self.words[at]] = at
                at += 1
            row += 1

    def _wake(self, word: i64, work: Worklist, done: vec[i64]) -> None:
        """Let the rows that read a word wait, each once."""
        at = self._reader[word]
        while at != NONE:
            if not done[self._row[at]]:
                done[self._row[at]] = 1
                work.add(self._row[at])
            at = self._before[at]


def _varies(f: Function, i: i64) -> bool:
    """Whether an instruction gives the threads of a warp different values of its own accord."""
    op = f.op[i]
    sreg = OPS.sreg[op]
    if sreg >= 0:
        return f.get(i, sreg) & opd.INDEX not in UNIFORM_SPECIAL
    flags = OPS.flags[op]
    return flags & (LOAD | ATOMIC | WARP | CALL) != 0 and not flags & CONSTANT


def _is_common(f: Function, i: i64) -> bool:
    """Whether threads that do this together, with the same operands, get the same; what others write meanwhile is no reason."""
    flags = OPS.flags[f.op[i]]
    if not flags & COMMON:
        return False
    return flags & ATOMIC != 0 or not (OPS.is_strong(f, i) or f.aux[i] & AUX_VOLATILE)


def _is_joint(f: Function, i: i64) -> bool:
    """Whether the threads that do this together get the same of it, whatever the operands of each.

    Those of one mask do, so the mask must be one for all who come.
    """
    before = f.prev[i]
    if f.op[i] not in _JOINT or f.guard[i]:
        return False
    return before == NONE or f.op[before] != WARPSYNC or not opd.is_register(f.get(before, 0))


def _depends(flow: Flow, b: i64, marked: vec[i64]) -> bool:
    """Whether a marked word decides where control goes at the end of a block."""
    f = flow.f
    node = flow.node[b]
    if node == NONE:
        return False
    words = WordList()
    at: i64 = 0
    while at < f.count[node]:
        words.add(f, f.get(node, at))
        at += 1
    if f.guard[node]:
        words.add(f, f.guard[node])
    at = 0
    while at < words.count:
        if marked[words.words[at]]:
            return True
        at += 1
    return False


def divergence(
    flow: Flow, cfg: Cfg, definitions: Definitions, points: vec[i64], waits: WaitingLoops
) -> tuple[set[int], vec[i64]]:
    """Blocks at whose end the threads of a warp may go different ways, and by word, whether they may have different values of it.

    ``points``: where the threads meet again. Behind loops that threads leave one by one, as they wait for others, they may be
    apart for good, and behind calls.
    """
    f = flow.f
    marked = zeros(f.words)
    common: list[int] = []
    joint: list[int] = []
    row: i64 = 0
    while row < definitions.rows():
        i = definitions.insn[row]
        if _is_joint(f, i) and not f.kept:
            joint.append(row)
            common.append(row)
        elif _is_common(f, i) and not f.kept:
            common.append(row)
        elif _varies(f, i):
            definitions.mark(row, marked)
        row += 1
    together = _branches_of_warps(flow)
    found: set[int] = set()
    while True:
        _mark_alone(cfg, definitions, common, waits.ways_out(waits.left_at(found)) if common else [], marked)
        definitions.spread(marked, besides=joint)
        fresh: list[int] = []
        b: i64 = 0
        while b < flow.blocks():
            kind = flow.kind[b]
            if (kind == COND or kind == TABLE) and b not in found and b not in together and _depends(flow, b, marked):
                fresh.append(b)
            b += 1
        if not fresh:
            return found, marked
        found.update(fresh)
        _mark_meeting(cfg, definitions, points, fresh, marked)


def _mark_alone(cfg: Cfg, definitions: Definitions, rows: list[int], left: list[int], marked: vec[i64]) -> None:
    """Mark what rows define in blocks that are reached from the ends of others."""
    if not left:
        return
    reached = zeros(cfg.blocks)
    stack = [x for b in left for x in cfg.successors(b)]
    while stack:
        b: i64 = stack.pop()
        if not reached[b]:
            reached[b] = 1
            stack += cfg.successors(b)
    for row in rows:
        if reached[definitions.block[row]]:
            definitions.mark(row, marked)


def _branches_of_warps(flow: Flow) -> set[int]:
    """The branches that all threads of a warp leave by one way, as on one something follows in any case that they do together and
    that no other way leads to before the ways meet.
    """
    aligned = _aligned_blocks(flow)
    found: set[int] = set()
    if not aligned:
        return found
    cfg = flow.graph()
    stops = zeros(cfg.blocks)
    b: i64 = 0
    while b < cfg.blocks:
        stops[b] = 1 if flow.kind[b] == STOP or flow.kind[b] == COND_STOP else 0
        b += 1
    behind = cfg.postdominators(stops)
    b = 0
    while b < cfg.blocks:
        kind = flow.kind[b]
        meeting = behind[b]
        for x in cfg.successors(b) if (kind == COND or kind == TABLE) and meeting >= 0 else ():
            following: i64 = x
            while 0 <= following < cfg.blocks and following != meeting and following not in aligned:
                following = behind[following]
            if following in aligned and following != meeting and not _is_reached(cfg, b, x, following, meeting):
                found.add(b)
        b += 1
    return found


def _is_reached(cfg: Cfg, b: i64, x: i64, block: i64, meeting: i64) -> bool:
    """Whether another way of the branch ``b`` than ``x`` leads to a block, not by way of where all meet.

    Nor by way of the branch once more: the threads of a warp come to what they do together the same time around.
    """
    seen: set[int] = {int(meeting), int(b)}
    waiting = [y for y in cfg.successors(b) if y != x]
    while waiting:
        y = waiting.pop()
        if y == block:
            return True
        if y not in seen:
            seen.add(y)
            waiting += cfg.successors(y)
    return False


def _aligned_blocks(flow: Flow) -> set[int]:
    """The blocks with something that the threads of a warp come to together."""
    f = flow.f
    found: set[int] = set()
    b: i64 = 0
    while b < flow.blocks():
        i = f.head[b] if flow.kind[b] != GONE else NONE
        while i != NONE:
            if f.op[i] in _ALIGNED and not f.guard[i] and not f.aux[i] & AUX_APART:
                found.add(b)
                break
            i = f.next[i]
        b += 1
    return found


def blocks_apart(cfg: Cfg, points: vec[i64], branches: set[int]) -> set[int]:
    """The blocks in which threads may be apart that part at the ends of ``branches`` and meet at ``points``."""
    parting = sorted(branches)
    inside = _inside(cfg, parting)
    ways = _Ways(cfg, inside)
    for end, branch in sorted((points[branch], branch) for branch in parting):
        ways.mark(branch, end)
    return {block for block in range(cfg.blocks) if ways.marked[block] or inside[block]}


def _mark_meeting(cfg: Cfg, definitions: Definitions, points: vec[i64], branches: list[int], marked: vec[i64]) -> None:
    """Mark words that get values on some of the ways that lead away from divergent branches, or where such ways meet."""
    apart = frozenset(branches)
    inside = _inside(cfg, branches)
    ways = _Ways(cfg, inside)
    for end, branch in sorted((points[branch], branch) for branch in branches):
        ways.mark(branch, end)
    row: i64 = 0
    while row < definitions.rows():
        block = definitions.block[row]
        if definitions.f.op[definitions.insn[row]] == MovPhi and _is_met_apart(cfg, block, ways.marked, inside, apart):
            definitions.mark(row, marked)
        leaving = inside[block] != 0
        if ways.marked[block] or leaving:
            common = _is_common(definitions.f, definitions.insn[row]) or _is_joint(definitions.f, definitions.insn[row])
            at = definitions.dests[row]
            while at < definitions.sources[row]:
                word = definitions.words[at]
                if not definitions.uniform[word] and (leaving or common or definitions.defs_of[word] > 1):
                    marked[word] = 1
                at += 1
        row += 1


def _is_met_apart(cfg: Cfg, block: i64, ways: vec[i64], inside: vec[i64], branches: frozenset[int]) -> bool:
    """Whether threads that took different ways come to a block."""
    e = cfg.pred_start[block]
    while e < cfg.pred_start[block + 1]:
        p = cfg.pred[e]
        if ways[p] or inside[p] or int(p) in branches:
            return True
        e += 1
    return False


def _inside(cfg: Cfg, branches: list[int]) -> vec[i64]:
    """Marks the blocks of the loops that threads leave at the ends of ``branches``."""
    loops = cfg.loops()
    left = zeros(cfg.blocks)
    for branch in branches:
        e = cfg.succ_start[branch]
        while e < cfg.succ_start[branch + 1]:
            outermost = loops.left(branch, cfg.succ[e])
            header = loops.header[branch]
            while outermost >= 0:
                left[header] = 1
                if header == outermost:
                    break
                header = loops.outer[header]
            e += 1
    out = zeros(cfg.blocks)
    at: i64 = 0
    while at < cfg.reachable:
        b = cfg.order[at]
        header = loops.header[b]
        if header == b:
            outer = loops.outer[b]
            out[b] = 1 if left[b] or (outer >= 0 and out[outer]) else 0
        elif header >= 0:
            out[b] = out[header]
        at += 1
    return out


@final
class _Ways:
    """Marks the blocks on the ways from the ends of blocks to places further on.

    Blocks of loops that are ``inside`` are not marked: a way through such a loop goes on where the loop is left.
    """

    def __init__(self, cfg: Cfg, inside: vec[i64]) -> None:
        self.cfg = cfg
        self.inside = inside
        self.marked = zeros(cfg.blocks)
        self._seen = nones(cfg.blocks)  # for which end a block was looked at last
        self._passed = nones(cfg.blocks)  # for which end the loop of a header was passed last
        self._first = nones(cfg.blocks)  # of the edges that leave the loop of a header; `_next` links them
        self._next = vec[i64]()
        self._target = vec[i64]()
        self._list_exits()

    def _list_exits(self) -> None:
        cfg, loops = self.cfg, self.cfg.loops()
        b: i64 = 0
        while b < cfg.blocks:
            e = cfg.succ_start[b]
            while e < cfg.succ_start[b + 1] and self.inside[b]:
                outermost = loops.left(b, cfg.succ[e])
                header = loops.header[b] if outermost >= 0 else -1
                while header >= 0:
                    self._next = append(self._next, self._first[header])
                    self._first[header] = len(self._target)
                    self._target = append(self._target, cfg.succ[e])
                    header = loops.outer[header] if header != outermost else -1
                e += 1
            b += 1

    def mark(self, start: i64, end: i64) -> None:
        """Mark the blocks on the ways from the end of ``start`` to ``end``; calls for the same end follow one another."""
        cfg = self.cfg
        stack = cfg.successors(start)
        while stack:
            block: i64 = stack.pop()
            if block == end or self._seen[block] == end + 1:
                continue
            self._seen[block] = end + 1
            loop = self._around(block, end)
            if loop < 0:
                self.marked[block] = 1
                e = cfg.succ_start[block]
                while e < cfg.succ_start[block + 1]:
                    stack.append(cfg.succ[e])
                    e += 1
            elif self._passed[loop] != end + 1:
                self._passed[loop] = end + 1
                e = self._first[loop]
                while e != NONE:
                    stack.append(self._target[e])
                    e = self._next[e]

    def _around(self, block: i64, end: i64) -> i64:
        """The header of the outermost loop that is inside and around a block but not around ``end``, -1 for none."""
        loops = self.cfg.loops()
        found: i64 = -1
        header = loops.header[block]
        while header >= 0 and self.inside[header] and not (0 <= end < self.cfg.blocks and loops.contains(header, end)):
            found = header
            header = loops.outer[header]
        return found


@final
class WaitingLoops:
    """Loops that are left when what the loop itself reads of what other threads write says so, by their ``headers``."""

    def __init__(self, flow: Flow, cfg: Cfg, definitions: Definitions, points: vec[i64]) -> None:
        self.headers = _waiting_loops(flow, cfg, definitions, points)
        self._left: dict[int, list[int]] = {header: [] for header in sorted(self.headers)}  # at the ends of which blocks
        self._stops: set[int] = set()  # loops in which threads exit
        loops = cfg.loops()
        b: i64 = 0
        while b < cfg.blocks and self.headers:
            if flow.kind[b] == COND_STOP:
                self._stops.update(header for header in self.headers if loops.contains(header, b))
            e = cfg.succ_start[b]
            while e < cfg.succ_start[b + 1]:
                outermost = loops.left(b, cfg.succ[e])
                header = loops.header[b] if outermost >= 0 else -1
                while header >= 0:
                    if header in self._left:
                        self._left[header].append(b)
                    header = loops.outer[header] if header != outermost else -1
                e += 1
            b += 1

    def left_at(self, diverging: set[int]) -> set[int]:
        """Headers of the loops that threads leave one by one, where they part at the ends of some blocks."""
        return {h for h in self.headers if h in self._stops or not diverging.isdisjoint(self._left[h])}

    def ways_out(self, waiting: set[int]) -> list[int]:
        """The blocks at whose ends threads leave some of the loops: their YIELD opens every barrier behind."""
        return sorted({b for header in waiting for b in self._left[header]})


def _waiting_loops(flow: Flow, cfg: Cfg, definitions: Definitions, points: vec[i64]) -> set[int]:
    """Headers of the loops.

    That is what atomics and volatile and strong loads give; ``points``: where threads meet again that part.
    """
    loops = cfg.loops()
    if loops.count == 0:
        return set()
    f = flow.f
    sources: dict[int, list[int]] = {}  # header -> rows
    row: i64 = 0
    while row < definitions.rows():
        header = loops.header[definitions.block[row]]
        i = definitions.insn[row]
        if header >= 0 and not f.aux[i] & AUX_LOCK_FREE and (OPS.is_strong(f, i) or f.aux[i] & AUX_VOLATILE):
            while header >= 0:
                sources.setdefault(header, []).append(row)
                header = loops.outer[header]
        row += 1
    return {header for header, rows in sources.items() if _waits(flow, cfg, definitions, points, header, rows)}


def _waits(flow: Flow, cfg: Cfg, definitions: Definitions, points: vec[i64], header: i64, rows: list[int]) -> bool:
    """Whether a way out of the loop of ``header`` depends, by what happens in the loop, on what the given rows define."""
    loops = cfg.loops()
    among = zeros(cfg.blocks)
    b: i64 = 0
    while b < cfg.blocks:
        among[b] = 1 if loops.contains(header, b) else 0
        b += 1
    marked = zeros(flow.f.words)
    for row in rows:
        definitions.mark(row, marked)
    found: set[int] = set()
    while True:
        definitions.spread(marked, among)
        fresh: list[int] = []
        b = 0
        while b < flow.blocks():
            kind = flow.kind[b]
            if among[b] and (kind == COND or kind == TABLE or kind == COND_STOP) and b not in found and _depends(flow, b, marked):
                if kind == COND_STOP or _leads_out(cfg, b, among):
                    return True
                fresh.append(b)
            b += 1
        if not fresh:
            return False
        found.update(fresh)
        _mark_meeting(cfg, definitions, points, fresh, marked)


def _leads_out(cfg: Cfg, b: i64, among: vec[i64]) -> bool:
    """Whether a block goes on to one that is not ``among`` the others."""
    e = cfg.succ_start[b]
    while e < cfg.succ_start[b + 1]:
        if not among[cfg.succ[e]]:
            return True
        e += 1
    return False
