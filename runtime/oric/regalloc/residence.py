"""Which general registers are in the file at every point, and where those that do not fit come back.

Of what is live, an instruction needs in the file what it names; what else stays there is what is needed soonest. So the life
of a register is split where it leaves the file, and a loop that needs it finds it there. Source: Braun and Hack, "Register
Spilling and Live-Range Splitting for SSA-Form Programs" (2009), here on registers with any number of definitions.
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64
from oric_tables import knobs
from oric_tables._native import ffi, lib
from oric_tables.registers import DISPLAY

from oric.ir import operand as opd
from oric.ir.cfg import Cfg
from oric.ir.function import NONE, Function, control_flow
from oric.ir.machine import MachineFunction
from oric.ir.optable import BRANCH, CONVERGENCE, EXIT, OPS

OUTSIDE: Final = 1 << 32  # distance that leaving a loop adds
_NEVER: Final = 1 << 60
_GENERAL: Final = frozenset(number for number, letters in enumerate(DISPLAY) if letters == "R")
_UNKNOWN: Final = 1 << 59


@final
class Step:
    """An instruction as the registers of one file see it: what must be there in front of it, and what it makes.

    ``reads``: what it reads, or leaves partly as it was; ``writes``: register -> whether nothing of the old value is needed
    behind it; ``words``: of what it reads, the words that are needed in front of it, as bits; ``behind``: of what it writes,
    those that are needed behind it.
    """

    def __init__(self, i: int, reads: list[int], writes: dict[int, bool], words: dict[int, int], behind: dict[int, int]) -> None:
        self.i = i
        self.words = words
        self.behind = behind
        self.reads = reads
        self.writes = writes


@final
class Code:
    """A function as the registers of the general file see it.

    ``steps``: the instructions of every block that name such registers; ``live_in``, ``live_out``: by block, the registers;
    ``at``: by block, register -> the places of its accesses among the steps, ascending, ``2 * step`` for a read and
    ``2 * step + 1`` for a write behind which nothing of the old value is needed; ``words``: by block, what is live at its end,
    register -> words as bits.
    """

    def __init__(self, f: Function, view: MachineFunction) -> None:
        if lib.oric_liveness(view.fn):
            raise MemoryError("no memory for liveness")
        self.f = f
        self.cfg: Cfg = control_flow(f)
        self.live_in: list[set[int]] = []
        self.live_out: list[set[int]] = []
        self.steps: list[list[Step]] = []
        self.at: list[dict[int, list[int]]] = []
        self.words: list[dict[int, int]] = []
        self._peaks: list[int] = []
        self._far: list[dict[int, int]] = []
        self._behind: list[dict[int, int]] = []
        buffer = ffi.new("uint32_t[]", view.fn.unit_count + 1)
        for b in range(f.blocks()):
            self.live_in.append(self._general(self._masks(view, buffer, lib.oric_live_in(view.fn, b, buffer))))
            self.words.append(self._masks(view, buffer, lib.oric_live_out(view.fn, b, buffer)))
            self.live_out.append(self._general(self.words[b]))
            self._scan(b)

    def _general(self, words: dict[int, int]) -> set[int]:
        return {n for n in words if is_general(self.f, n)}

    def _masks(self, view: MachineFunction, buffer: object, count: int) -> dict[int, int]:
        """Register -> the words of it that are among units, as bits."""
        owner, found = view.fn.unit_register, dict[int, int]()
        for unit in ffi.unpack(buffer, count) if count else ():
            n = owner[unit]
            found[n] = found.get(n, 0) | 1 << (unit - self.f.reg_word[n])
        return found

    def _needed(
        self, b: int
    ) -> tuple[
        set[tuple[int, int]], dict[int, dict[int, int]], dict[int, dict[int, int]], list[tuple[dict[int, int], dict[int, int]]]
    ]:
        """Instructions behind which nothing is needed of what a register was, with the register; by instruction, the words of
        the registers it names that are needed in front of it, and of those that it writes, those behind it; the accesses of the
        instructions, from the last on.
        """
        f = self.f
        replaced: set[tuple[int, int]] = set()
        words: dict[int, dict[int, int]] = {}
        behind: dict[int, dict[int, int]] = {}
        sides: list[tuple[dict[int, int], dict[int, int]]] = []  # what they read and write, from the last on
        live = dict(self.words[b])
        i = f.tail[b]
        while i != NONE:
            read, written = accesses(f, i)
            sides.append((read, written))
            behind[i] = {n: live.get(n, 0) for n in written}
            for n, made in written.items() if not f.guard[i] else ():
                live[n] = live.get(n, 0) & ~made
                if not live[n]:
                    replaced.add((i, n))
            for n, used in read.items():
                live[n] = live.get(n, 0) | used
            words[i] = {n: live.get(n, 0) for n in {*read, *written}}
            i = f.prev[i]
        return replaced, words, behind, sides

    def _scan(self, b: int) -> None:
        f = self.f
        replaced, words, behind, sides = self._needed(b)
        steps: list[Step] = []
        at: dict[int, list[int]] = {}
        there = set(self.live_in[b])
        i = f.head[b]
        while i != NONE:
            read, written = sides.pop()
            if read or written:
                writes: dict[int, bool] = {}
                reads = set(read)
                for n in written:
                    whole = n not in there or (i, n) in replaced
                    writes[n] = whole
                    if not whole:
                        reads.add(n)
                there.update(written)
                for n in sorted(reads):
                    at.setdefault(n, []).append(2 * len(steps))
                for n, whole in writes.items():
                    if whole:
                        at.setdefault(n, []).append(2 * len(steps) + 1)
                steps.append(Step(i, sorted(reads), writes, words[i], behind[i]))
            i = f.next[i]
        self.steps.append(steps)
        self.at.append(at)

    def size(self, registers: set[int]) -> int:
        """The words of registers."""
        total = 0
        for n in registers:
            total += self.f.reg_size[n]
        return total

    def peaks(self) -> list[int]:
        """By block, the most words that are live at a point of it."""
        if not self._peaks:
            self._peaks = [self._peak(b) if self.cfg.number[b] >= 0 else 0 for b in range(self.f.blocks())]
        return self._peaks

    def distances(self) -> tuple[list[dict[int, int]], list[dict[int, int]]]:
        """By block, how far away, in steps, every register is needed at its entry and at its end."""
        if not self._far:
            blocks = self.f.blocks()
            self._far = [{} for _ in range(blocks)]
            self._behind = [{} for _ in range(blocks)]
            self._measure()
        return self._far, self._behind

    def _measure(self) -> None:
        cfg, far, changed = self.cfg, self._far, {*range(self.f.blocks())}
        loops = cfg.loops()
        first = True
        while changed:
            before, changed = changed, set[int]()
            for k in range(cfg.reachable - 1, -1, -1):
                b: int = cfg.order[k]
                following = cfg.successors(b)
                if not first and all(x not in before and x not in changed for x in following):
                    continue
                out: dict[int, int] = {}
                for x in following:
                    more = OUTSIDE if loops.left(b, x) >= 0 else 0
                    for n, steps in far[x].items():
                        if n in self.live_out[b] and steps + more < out.get(n, _NEVER):
                            out[n] = steps + more
                for n in self.live_out[b]:
                    out.setdefault(n, _UNKNOWN)
                self._behind[b] = out
                made = self._at_entry(b, out)
                if made != far[b]:
                    far[b] = made
                    changed.add(b)
            first = False

    def _at_entry(self, b: int, out: dict[int, int]) -> dict[int, int]:
        at, steps = self.at[b], len(self.steps[b])
        found: dict[int, int] = {}
        for n in self.live_in[b]:
            if n in at and not at[n][0] & 1:
                found[n] = at[n][0] >> 1
            else:
                found[n] = min(out.get(n, _UNKNOWN) + steps, _UNKNOWN)
        return found

    def _peak(self, b: int) -> int:
        live = set(self.live_out[b])
        now = peak = self.size(live)
        for step in reversed(self.steps[b]):
            extra = 0
            for n in step.writes:
                if n not in live:
                    extra += self.f.reg_size[n]
            peak = max(peak, now + extra)
            for n, whole in step.writes.items():
                if whole and n in live:
                    live.discard(n)
                    now -= self.f.reg_size[n]
            for n in step.reads:
                if n not in live:
                    live.add(n)
                    now += self.f.reg_size[n]
            peak = max(peak, now)
        return peak


def is_general(f: Function, n: i64) -> bool:
    """Whether a register is one of the general file, and not that with the top of the stack: that stays where slots are used."""
    return f.reg_type[n] in _GENERAL and f.attributes.spill_base != opd.reg(n)


def accesses(f: Function, i: i64) -> tuple[dict[int, int], dict[int, int]]:
    """The general registers that an instruction reads and writes, with their words as bits."""
    read: dict[int, int] = {}
    written: dict[int, int] = {}
    at: i64 = 0
    while at < f.count[i]:
        operand = f.get(i, at)
        number = operand & opd.INDEX
        if opd.is_register(operand) and is_general(f, number):
            words = opd.bits_of(operand)
            side = written if OPS.writes_at(f.op[i], at) else read
            side[number] = side.get(number, 0) | words
        at += 1
    return read, written


def is_flow(f: Function, i: i64) -> bool:
    """Whether an instruction ends its block: what goes to the block's end stands in front of it.

    So does a wait for threads: what they go on to stands right behind it.
    """
    return i != NONE and OPS.flags[f.op[i]] & (BRANCH | EXIT | CONVERGENCE) != 0


@final
class _Walk:
    """What is in the file on the way through a block, ``there``: ``total`` words."""

    def __init__(self, plan: Plan, b: int, there: set[int]) -> None:
        code = plan.code
        self.plan = plan
        self.f = code.f
        self.b = b
        self.limit = plan.limits[b]
        self.there = there
        self.total = code.size(there)
        self.steps = len(code.steps[b])
        self._coming = {n: list(reversed(places)) for n, places in code.at[b].items()}
        self._out = plan.behind[b]

    def enter(self, n: int) -> None:
        """A register is in the file now, if it was not."""
        if n not in self.there:
            self.there.add(n)
            self.total += self.f.reg_size[n]

    def drop(self, n: int) -> None:
        """A register is not there any more."""
        self.there.discard(n)
        self.total -= self.f.reg_size[n]

    def next_use(self, n: int, place: i64) -> i64:
        """Steps until a register is read, from behind ``place`` on; places are asked for in order."""
        rest = self._coming.get(n)
        if rest is not None:
            while rest and rest[-1] <= place:
                rest.pop()
            if rest:
                at: i64 = rest[-1]
                return _NEVER if at & 1 else (at - place) >> 1
        far: i64 = self._out.get(n, -1)
        return _NEVER if far < 0 else far + self.steps - (place >> 1)

    def leave(self, place: i64, needed: i64, kept: list[int], step: Step) -> None:
        """Make room for so many words: what is needed last leaves, rather what is made again unless it is needed much sooner."""
        if self.total + needed <= self.limit:
            return
        plan, stay = self.plan, set(kept)
        while self.total + needed > self.limit:
            worst: i64 = NONE
            last: i64 = -1
            cheap: i64 = NONE
            cheap_last: i64 = -1
            for n in self.there:
                if n in stay or not plan.allowed[n]:
                    continue
                far = self.next_use(n, place)
                if far > last or (far == last and n < worst):
                    worst, last = n, far
                if (far > cheap_last or (far == cheap_last and n < cheap)) and n in plan.cheap:
                    cheap, cheap_last = n, far
            if last < 0:
                return
            if cheap_last > last >> 2:
                worst, last = cheap, cheap_last
            self.drop(worst)
            if last < _NEVER:
                plan.away[self.b].append((step.i, worst, worst in step.reads))


@final
class Plan:
    """What is in the file where, so that in no block more than its ``limits`` words are, as far as that can be.

    ``entry``, ``exit``: by block, the registers in the file; ``back``: by block, where registers are brought back: (in front of
    which instruction, NONE: at the block's end; the register); ``away``: where they leave within it, while they are needed
    later: (in front of which instruction, the register, whether that still reads it). ``allowed``: by register, whether it may
    leave; ``cheap``: those that are made again; ``sources``: register -> those that it is made of. ``beside``: where one of these
    is brought back (block, in front of which instruction, the register) -> those that it is made of which are in the file there.
    """

    def __init__(
        self, code: Code, limits: list[int], allowed: list[bool], cheap: set[int], sources: dict[int, list[int]] | None = None
    ) -> None:
        self.code = code
        self.f = code.f
        self.limits = limits
        self.allowed = allowed
        self.cheap = cheap
        self.sources: dict[int, list[int]] = sources or {}
        self.beside: dict[tuple[int, int, int], set[int]] = {}
        blocks = code.f.blocks()
        self.distance: list[dict[int, int]] = []  # at the entry of a block, in steps
        self.behind: list[dict[int, int]] = []  # at its exit
        self.entry: list[set[int]] = [set() for _ in range(blocks)]
        self.exit: list[set[int]] = [set() for _ in range(blocks)]
        self.back: list[list[tuple[int, int]]] = [[] for _ in range(blocks)]
        self.away: list[list[tuple[int, int, bool]]] = [[] for _ in range(blocks)]
        self._banned: list[set[int]] = [set() for _ in range(blocks)]  # by block: what cannot be brought back on an edge to it
        self._early: list[set[int]] = [set() for _ in range(blocks)]  # by block: what comes back in front of its branch
        self._turns = 0
        self._pressure = code.peaks()
        self._of_loop: dict[int, int] = {}  # header -> the most that are in its loop
        self._least: dict[int, int] = {}  # header -> the least limit in its loop
        if any(live > limit for live, limit in zip(self._pressure, limits, strict=True)):
            self.distance, self.behind = code.distances()
            self._look_at_loops()
            self._solve()
        else:
            self.entry, self.exit = code.live_in, code.live_out

    def returns(self) -> set[int]:
        """The registers that are brought back somewhere."""
        return {n for block in self.back for _, n in block}

    # -- what is known in front ------------------------------------------------------------------------------

    def _look_at_loops(self) -> None:
        """The most words that are live in each loop, and the least limit."""
        cfg = self.code.cfg
        loops = cfg.loops()
        for block in range(self.f.blocks()):
            header: int = loops.header[block]
            while header >= 0:
                self._of_loop[header] = max(self._of_loop.get(header, 0), self._pressure[block])
                self._least[header] = min(self._least.get(header, self.limits[block]), self.limits[block])
                header = loops.outer[header]

    # -- block by block --------------------------------------------------------------------------------------

    def _solve(self) -> None:
        """Blocks in order, again while something cannot be brought back on an edge, or comes back in front of a branch, where the
        other ways have it as well.
        """
        cfg = self.code.cfg
        while True:
            self._turns += 1
            for k in range(cfg.reachable):
                b: int = cfg.order[k]
                self.entry[b] = self._enter(b, k)
                self.back[b] = []
                self.away[b] = []
                self.exit[b] = self._through(b, set(self.entry[b]))
                early = (self._early[b] & self.code.live_out[b]) - self.exit[b]
                if early and self.code.size(self.exit[b] | early) <= self.limits[b] - self._at_flow(b):
                    self._bring(b, early)
            if self._join():
                return

    def _enter(self, b: int, place: int) -> set[int]:
        """What is in the file at the entry of a block."""
        cfg = self.code.cfg
        before = cfg.predecessors(b)
        live = self.code.live_in[b]
        fixed = {n for n in live if not self.allowed[n]}
        free = live - fixed - self._banned[b]  # `fixed` is never missing: it does not leave
        far = self.distance[b]
        limit = min((self.limits[p] for p in before), default=self.limits[b])
        limit = min(limit, self.limits[b])  # what is here is in the file at the ends of those, too
        room = limit - self.code.size(fixed)
        if any(cfg.number[p] >= place for p in before):
            inside = {n for n in free if far[n] < OUTSIDE}
            across = free - inside
            chosen = self._nearest(inside, far, room)
            if len(chosen) == len(inside):
                needed = self._of_loop.get(b, self._pressure[b]) - self.code.size(across)
                room = min(limit, self._least.get(b, limit))
                chosen |= self._nearest(across, far, room - max(needed, self.code.size(fixed | chosen)))
            return chosen | fixed
        known = [self.exit[p] for p in before if cfg.number[p] >= 0]
        if not known:
            return self._nearest(free, far, room) | fixed
        chosen = self._nearest(free.intersection(*known), far, room) | fixed
        # what one of the ways has in the file comes back on the others, as far as there is room: the others may be seldom gone
        some = {n for n in free.intersection(set().union(*known)) - chosen if far[n] < OUTSIDE}
        return chosen | self._nearest(some, far, limit - self.code.size(chosen))

    def _nearest(self, registers: set[int], far: dict[int, int], room: int) -> set[int]:
        """Those that are needed soonest, as many as there is room for."""
        chosen: set[int] = set()
        for n in sorted(registers, key=lambda n: (far[n], n)):
            if self.f.reg_size[n] > room:
                break
            room -= self.f.reg_size[n]
            chosen.add(n)
        return chosen

    def _through(self, b: int, there: set[int]) -> set[int]:
        """Walk through a block; returns what is in the file at its end."""
        steps = self.code.steps[b]
        walk = _Walk(self, b, there)
        k: i64 = 0
        for step in steps:
            for n in step.reads:
                if n in there:
                    continue
                if n in self.sources:
                    self.beside[b, step.i, n] = there.intersection(self.sources[n])
                self.back[b].append((step.i, n))
                walk.enter(n)
            walk.leave(2 * k - 1, 0, step.reads, step)
            for n in step.reads:
                if n not in step.writes and walk.next_use(n, 2 * k) == _NEVER:
                    walk.drop(n)
            needed: i64 = 0
            for n in step.writes:
                if n not in there:
                    needed += self.f.reg_size[n]
            made = list(step.writes)
            walk.leave(2 * k + 1, needed, made, step)
            for n in made:
                walk.enter(n)
                if walk.next_use(n, 2 * k + 1) == _NEVER:
                    walk.drop(n)
            k += 1
        return there

    # -- edges -----------------------------------------------------------------------------------------------

    def _join(self) -> bool:
        """Bring back on every edge what its target has in the file; False when something cannot be, and it must do without."""
        cfg = self.code.cfg
        turns = int(self.code.f.knobs.numbers[knobs.SPILL_TURNS])
        done = True
        for k in range(cfg.reachable):
            b: int = cfg.order[k]
            for p in cfg.predecessors(b):
                if cfg.number[p] < 0:
                    continue
                missing = (self.entry[b] & self.code.live_out[p]) - self.exit[p]
                if not missing:
                    continue
                if len(cfg.successors(p)) > 1 and self.code.size(self.exit[p] | missing) > self.limits[p] - self._at_flow(p):
                    self._banned[b] |= missing
                    done = False
                    continue
                if len(cfg.successors(p)) > 1 and not missing <= self._early[p] and self._turns < turns:
                    self._early[p] |= missing
                    done = False
                self._bring(p, missing)
        return done

    def _bring(self, b: int, missing: set[int]) -> None:
        """Bring registers back at the end of a block."""
        tail = self.f.tail[b]
        place = tail if is_flow(self.f, tail) else NONE
        for n in sorted(missing):
            self.back[b].append((place, n))
            if n in self.sources:
                self.beside[b, place, n] = self.exit[b].intersection(self.sources[n])
        self.exit[b] = self.exit[b] | missing

    def _at_flow(self, b: int) -> int:
        """Words that the instruction at a block's end reads for the last time."""
        steps = self.code.steps[b]
        if not steps or not is_flow(self.f, steps[-1].i):
            return 0
        return self.code.size(set(steps[-1].reads) - self.exit[b])
