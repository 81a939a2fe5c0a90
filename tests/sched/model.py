"""Random scheduled programs and an independent checker of control bits.

The checker walks paths through the blocks, instruction by instruction, with a clock that advances by stall counts. It
knows nothing of how the bits were made: results of fixed latency must be old enough for each reader, everything else
must have been waited for through its scoreboard.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hypothesis import strategies as st
from oric_tables._native import lib
from oricgen.isa.rows import load as load_machine
from oricgen.latency import OTHER, REWRITE, Latency, load

from tests import specification
from tests.regalloc.programs import UP, UR, Access, B, Insn, P, Program, R

ROOT = Path(__file__).resolve().parents[2]
FIRST = {R: lib.ORIC_U_R, P: lib.ORIC_U_P, B: lib.ORIC_U_B, UR: lib.ORIC_U_UR, UP: lib.ORIC_U_UP}
NAMES = {R: "R", P: "P", B: "B", UR: "UR", UP: "UP"}
ROOM = {R: 8, P: 3, B: 2, UR: 4, UP: 2}
NO_BARRIER = 7


@cache
def tables() -> Latency:
    spec = specification.spec()
    return load(spec, load_machine(spec))


class PhysicalProgram(Program):
    """A program whose units are hardware registers."""

    @property
    def files(self) -> list[int]:
        order = sorted(FIRST, key=lambda f: FIRST[f])
        out = []
        for unit in range(lib.ORIC_PHYSICAL_UNITS):
            out.append(max((f for f in order if FIRST[f] <= unit), key=lambda f: FIRST[f]))
        return out

    def build(self):
        from oric_tables._native import ffi

        insns = [i for block in self.blocks for i in block]
        accesses = sum(len(i.accesses) for i in insns)
        fn = ffi.gc(lib.oric_fn_new(len(insns), len(self.blocks), lib.ORIC_PHYSICAL_UNITS, accesses, sum(map(len, self.succs))),
                    lib.oric_fn_free)  # fmt: skip
        fn.isa = self.isa
        for unit, file in enumerate(self.files):
            fn.unit_file[unit], fn.unit_register[unit] = file, -1
        self._fill_code(fn)
        position = 0
        for b, targets in enumerate(self.succs):
            fn.succ_first[b] = position
            for t in targets:
                fn.succs[position] = t
                position += 1
        fn.succ_first[len(self.succs)] = position
        assert lib.oric_fn_connect(fn) == 0
        return fn


def class_flags(isa: str, name: str) -> int:
    c = tables().classes[name][isa]
    flags = 0
    for column, bit in (
        ("late", lib.ORIC_I_LATE_READ),
        ("ordered", lib.ORIC_I_ORDERED),
        ("fence", lib.ORIC_I_FENCE),
        ("drain", lib.ORIC_I_DRAIN),
        ("completes", lib.ORIC_I_COMPLETES),
    ):
        flags |= bit if column in c.flags else 0
    flags |= lib.ORIC_I_VARIABLE if c.result == "variable" else 0
    flags |= lib.ORIC_I_MEM_READ if "read" in c.does else 0
    flags |= lib.ORIC_I_MEM_WRITE if "write" in c.does else 0
    return flags


# class -> files of results, files of sources
KINDS = {
    "alu": ((R, P), (R, P, UR)), "imad": ((R,), (R, P)), "float": ((R,), (R,)), "wide": ((R,), (R,)), "double": ((R,), (R,)),
    "conversion": ((R,), (R,)), "load_global": ((R,), (R, UR)), "store_global": ((), (R, UR)), "load_shared": ((R,), (R,)),
    "atomic_shared": ((R,), (R,)), "shuffle": ((R, P), (R,)), "special_register": ((R,), ()), "uniform": ((UR, UP), (UR,)),
    "uniform_constant": ((UR,), ()), "vote": ((R, P), (P,)), "block_barrier": ((), (R,)), "fence": ((), ()),
    "invalidate": ((), ()), "enter_region": ((B,), ()), "half": ((R,), (R,)), "load_constant": ((R,), (R,)),
    "matrix": ((R,), (R,)), "matrix_small": ((R,), (R,)), "to_uniform": ((UR,), (R,)),
}  # fmt: skip
JUMPS = ("jump",)


@st.composite
def instructions(draw, isa: str, jump: bool = False):
    name = draw(st.sampled_from(JUMPS if jump else sorted(KINDS)))
    t = tables()
    columns = t.classes[name][isa]
    writes, reads = KINDS.get(name, ((), (P,)))
    accesses = []
    groups = sorted(set(t.groups) - {OTHER, REWRITE})
    for file in writes:
        if file is not writes[0] and draw(st.booleans()):
            continue
        pair = columns.results.get(NAMES[file])
        wide = pair is not None and pair[0] != pair[1]
        unit = (
            FIRST[file] + draw(st.integers(0, ROOM[file] // 2 - 1)) * 2
            if wide
            else FIRST[file] + draw(st.integers(0, ROOM[file] - 1))
        )
        for half in range(2 if wide else 1):
            group = t.rows.index(f"{NAMES[file]} {pair[half]}") if pair else 255
            accesses.append(Access(unit + half, 1, True, group))
    for _ in range(draw(st.integers(0, 3)) if reads else 0):
        file = draw(st.sampled_from(reads))
        count = draw(st.sampled_from((1, 1, 2))) if file == R else 1
        unit = FIRST[file] + draw(st.integers(0, ROOM[file] // count - 1)) * count
        accesses.append(Access(unit, count, False, t.groups.index(draw(st.sampled_from(groups)))))
    guarded = draw(st.integers(0, 4)) == 0 and name != "enter_region"
    space = sum(1 << i for i, s in enumerate(("global", "shared", "local")) if s in columns.spaces)
    flags = class_flags(isa, name) | (lib.ORIC_I_JUMP if jump else 0)
    insn = Insn(accesses, guarded=guarded, flags=flags, klass=list(t.classes).index(name), space=space)
    if guarded:
        insn.accesses.append(Access(FIRST[P] + draw(st.integers(0, ROOM[P] - 1)), 1, False, t.groups.index("guard"), 255))
    return insn


@st.composite
def programs(draw, max_blocks: int = 5, max_insns: int = 8):
    isa = draw(st.sampled_from(tables().isas))
    count = draw(st.integers(1, max_blocks))
    blocks, succs = [], []
    for b in range(count):
        block = draw(st.lists(instructions(isa), max_size=max_insns))
        targets = draw(st.lists(st.integers(0, count - 1), max_size=2, unique=True))
        if targets and targets != [b + 1]:
            block.append(draw(instructions(isa, jump=True)))
        blocks.append(block)
        succs.append(targets)
    return PhysicalProgram([], blocks, succs, isa=tables().isas.index(isa))


@dataclass
class Producer:
    """A write whose value may be in a register; ``row`` of the distance table, None for a variable latency."""

    time: int
    row: str | None


class HazardError(AssertionError):
    """The control bits do not protect something; the text says what."""


class Walker:
    """Checks one path. ``fn`` is the C function with its control bits."""

    def __init__(self, fn, isa: str) -> None:
        self.fn = fn
        self.isa = isa
        self.t = tables()
        self.model = self.t.models[isa]
        self.names = list(self.t.classes)
        self.time = 0
        self.producers: dict[int, list[Producer]] = {}
        self.reads: dict[int, int] = {}
        self.slow: dict[int, int] = {}
        self.pending: dict[int, set[tuple[str, int, int]]] = {s: set() for s in range(6)}  # board -> (kind, unit, serial)
        self.serial = 0
        self.queue: dict[int, str] = {}  # by serial
        self.board_time = dict.fromkeys(range(6), -100)

    def _fail(self, position: int, text: str) -> None:
        raise HazardError(f"instruction {position}, cycle {self.time}: {text}")

    def _outstanding(self, kind: str, unit: int) -> bool:
        return any(t[:2] == (kind, unit) for tokens in self.pending.values() for t in tokens)

    def _await(self, board: int) -> None:
        """What counts on several scoreboards is over with the first of them."""
        over = set(self.pending[board])
        for tokens in self.pending.values():
            tokens -= over

    def _follow(self, unit: int, queue: str) -> None:
        """Whoever waits for a write of a queue waits for the reads in front of it in the queue as well."""
        for tokens in self.pending.values():
            tokens -= {token for token in tokens if token[:2] == ("r", unit) and self.queue[token[2]] == queue}

    def _distance(self, row: str, group: str) -> int:
        return self.t.distance[self.isa][row][group]

    def _rewrite_distance(self, row: str, c) -> int:
        return self._distance(row, REWRITE if c.result == "variable" else c.own)

    def _over_read(self, c) -> int:
        return self.model.over_read_variable if c.result == "variable" else self.model.over_read

    def _drains(self, node, c) -> bool:
        return bool(node.flags & lib.ORIC_I_DRAIN)

    def _smallest_stall(self, node, c) -> int:
        return c.stall

    def step(self, position: int) -> None:
        node = self.fn.nodes[position]
        c = self.t.classes[self.names[node.klass]][self.isa]
        self.time += 15 * node.pads
        control = node.control
        stall, write, read, mask = control & 15, control >> 5 & 7, control >> 8 & 7, control >> 11 & 63
        if stall < self._smallest_stall(node, c):
            self._fail(position, f"stall {stall} is below {self._smallest_stall(node, c)}")
        for s in range(6):
            if mask >> s & 1:
                if self.time < self.board_time[s] + self.model.settle:
                    self._fail(position, f"waits for SB{s} too soon after its use")
                self._await(s)
        if self._drains(node, c) and any(self.pending[s] for s in range(6)):
            self._fail(position, "does not wait for everything")
        if (c.does or node.flags & lib.ORIC_I_COMPLETES) and self._outstanding("m", 0):
            self._fail(position, "memory fence not over")
        accesses = [self.fn.accesses[node.access + k] for k in range(node.access_count)]
        for a in accesses:
            for unit in range(a.unit, a.unit + a.count):
                self._check(position, node, c, a, unit)
        self._record(position, node, c, accesses, write, read)
        self.time += stall

    def _check(self, position: int, node, c, a, unit: int) -> None:
        writes = bool(a.flags & lib.ORIC_A_DEF)
        if self._outstanding("w", unit):
            self._fail(position, f"unit {unit} is still being written")
        for p in self.producers.get(unit, ()):
            if p.row is None:
                continue
            distance = self._rewrite_distance(p.row, c) if writes else self._distance(p.row, self.t.groups[a.group])
            if self.time < p.time + distance:
                self._fail(position, f"unit {unit} of {p.row} after {self.time - p.time} cycles instead of {distance}")
        if writes:
            if c.queue and c.result == "variable" and not node.flags & lib.ORIC_I_GUARDED:
                self._follow(unit, c.queue)
            if self._outstanding("r", unit):
                self._fail(position, f"unit {unit} is still to be read")
            if self.time < self.reads.get(unit, -100) + self._over_read(c):
                self._fail(position, f"unit {unit} is overwritten too soon after a read")
            if self.time < self.slow.get(unit, -100) + self.model.over_read_late:
                self._fail(position, f"unit {unit} is overwritten too soon after a slow read")

    def _record(self, position: int, node, c, accesses, write: int, read: int) -> None:
        defines = [u for a in accesses if a.flags & lib.ORIC_A_DEF for u in range(a.unit, a.unit + a.count)]
        for a in accesses:
            for unit in range(a.unit, a.unit + a.count):
                if a.flags & lib.ORIC_A_DEF:
                    row = None if c.result == "variable" else self.t.rows[a.group]
                    kept = self.producers.get(unit, []) if node.flags & lib.ORIC_I_GUARDED else []
                    self.producers[unit] = [*kept, Producer(self.time, row)]
                elif "late" in c.flags:
                    self.slow[unit] = self.time
                else:
                    self.reads[unit] = self.time
        for s in (write, read):
            if s != NO_BARRIER:
                self.board_time[s] = self.time
        self.serial += 1
        self.queue[self.serial] = c.queue
        if c.result == "variable":
            for unit in defines:
                self._expect("w", unit, {write})
        for a in accesses:
            late = "late" in c.flags and not a.flags & (lib.ORIC_A_DEF | lib.ORIC_A_GUARD) and a.unit < lib.ORIC_U_P
            for unit in range(a.unit, a.unit + a.count) if late and a.slot != 255 else ():
                # the results come after the sources are read
                self._expect("r", unit, {read, write} if defines and c.result == "variable" else {read})
        if node.flags & lib.ORIC_I_COMPLETES:
            self._expect("m", 0, {read})

    def _expect(self, kind: str, unit: int, boards: set[int]) -> None:
        """Something that is over when one of the boards has been waited for; without a board it never is."""
        for board in boards - {NO_BARRIER} or {NO_BARRIER}:
            self.pending.setdefault(board, set()).add((kind, unit, self.serial))


def walk(fn, isa: str, succs: list[list[int]], choices: list[int], limit: int = 60) -> None:
    """Follow a path given by ``choices``; raises HazardError."""
    walker = Walker(fn, isa)
    block = turn = 0
    while True:
        for position in range(fn.block_first[block], fn.block_first[block + 1]):
            walker.step(position)
        turn += 1
        if not succs[block] or turn > limit:
            return
        block = succs[block][choices[turn % len(choices)] % len(succs[block])]
