"""Random functions in the form that the back end's C kernels read, and plain Python models of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st
from oric_tables._native import ffi, lib

R, P, B, UR, UP = range(5)
MAIN = (R, P, B)


@dataclass
class Access:
    unit: int
    count: int = 1
    write: bool = False
    group: int = 0
    slot: int = 0
    address: bool = False
    guard: bool = False
    negated: bool = False


LIVE = (-1, False)  # whatever guards say


@dataclass
class Insn:
    accesses: list[Access]
    guarded: bool = False
    copy: bool = False
    flags: int = 0
    klass: int = 0
    space: int = 0
    op: int = 0
    offset: int = 0
    bytes: int = 0
    scale: int = 0

    def reads(self) -> set[int]:
        return {u for a in self.accesses if not a.write for u in range(a.unit, a.unit + a.count)}

    def writes(self) -> set[int]:
        return {u for a in self.accesses if a.write for u in range(a.unit, a.unit + a.count)}

    def before(self, needed: dict[int, tuple[int, bool]]) -> dict[int, tuple[int, bool]]:
        """What is needed in front of the instruction by what is behind it: unit -> the guard under which it is, or LIVE."""
        guard = next(((a.unit, a.negated) for a in self.accesses if a.guard), LIVE)
        found = {u: LIVE if under[0] in self.writes() else under for u, under in needed.items()}
        for unit in self.writes():
            if not self.guarded or (guard != LIVE and found.get(unit) == guard):
                found.pop(unit, None)
        for a in self.accesses:
            for unit in range(a.unit, a.unit + a.count) if not a.write else ():
                found[unit] = guard if not a.guard and found.get(unit, guard) == guard else LIVE
        return found


@dataclass
class Program:
    """``registers``: (file, size) each; units are numbered through."""

    registers: list[tuple[int, int]]
    blocks: list[list[Insn]]
    succs: list[list[int]]
    depth: list[int] = field(default_factory=list)
    isa: int = 0

    @property
    def files(self) -> list[int]:
        return [file for file, size in self.registers for _ in range(size)]

    def build(self):
        """The C structure; freed with the returned object."""
        insns = [i for block in self.blocks for i in block]
        files = self.files
        fn = ffi.gc(
            lib.oric_fn_new(
                len(insns), len(self.blocks), len(files), sum(len(i.accesses) for i in insns), sum(map(len, self.succs))
            ),
            lib.oric_fn_free,
        )
        fn.isa = self.isa
        unit = 0
        for number, (file, size) in enumerate(self.registers):
            for _ in range(size):
                fn.unit_file[unit], fn.unit_register[unit] = file, number
                unit += 1
        self._fill_code(fn)
        position = 0
        for b, targets in enumerate(self.succs):
            fn.succ_first[b] = position
            for t in targets:
                fn.succs[position] = t
                position += 1
            fn.depth[b] = self.depth[b] if self.depth else 0
        fn.succ_first[len(self.succs)] = position
        assert lib.oric_fn_connect(fn) == 0
        return fn

    def _fill_code(self, fn) -> None:
        position = access = 0
        for b, block in enumerate(self.blocks):
            fn.block_first[b] = position
            for insn in block:
                node = fn.nodes[position]
                node.access, node.access_count, node.index = access, len(insn.accesses), position
                node.op, node.klass, node.space = insn.op, insn.klass, insn.space
                node.offset, node.bytes, node.scale = insn.offset, insn.bytes, insn.scale
                node.flags = insn.flags | (lib.ORIC_I_GUARDED if insn.guarded else 0) | (lib.ORIC_I_COPY if insn.copy else 0)
                for a in insn.accesses:
                    c = fn.accesses[access]
                    c.unit, c.count, c.slot, c.group = a.unit, a.count, a.slot, a.group
                    c.flags = (lib.ORIC_A_DEF if a.write else 0) | (lib.ORIC_A_ADDRESS if a.address else 0)
                    c.flags |= (lib.ORIC_A_GUARD if a.guard else 0) | (lib.ORIC_A_NEGATED if a.negated else 0)
                    access += 1
                position += 1
        fn.block_first[len(self.blocks)] = position

    # -- models ------------------------------------------------------------------------------------------

    def points(self):
        """(block, index) of every place between instructions."""
        return [(b, i) for b, block in enumerate(self.blocks) for i in range(len(block) + 1)]

    def reached(self) -> dict[tuple[int, int], set[int]]:
        """Units that some definition reaches, by place; by repeated sweeps."""
        state = {p: set() for p in self.points()}
        changed = True
        while changed:
            changed = False
            for b, block in enumerate(self.blocks):
                for i, insn in enumerate(block):
                    new = state[b, i] | insn.writes()
                    if not new <= state[b, i + 1]:
                        state[b, i + 1] |= new
                        changed = True
                for s in self.succs[b]:
                    if not state[b, len(block)] <= state[s, 0]:
                        state[s, 0] |= state[b, len(block)]
                        changed = True
        return state

    def live(self) -> dict[tuple[int, int], set[int]]:
        """Live units by place: read later without a full definition before, and reached by a definition.

        Where only reads under one guard follow in the block, a definition under that guard is a full one.
        """
        reached = self.reached()
        state = {p: set() for p in self.points()}
        changed = True
        while changed:
            changed = False
            for b in range(len(self.blocks) - 1, -1, -1):
                block = self.blocks[b]
                needed = dict.fromkeys(set().union(*(state[s, 0] for s in self.succs[b])), LIVE)
                for i in range(len(block), -1, -1):
                    if i < len(block):
                        needed = block[i].before(needed)
                    if set(needed) != state[b, i]:
                        state[b, i] = set(needed)
                        changed = True
        return {p: state[p] & reached[p] for p in state}


@st.composite
def accesses(draw, registers, write: bool):
    number = draw(st.integers(0, len(registers) - 1))
    base = sum(size for _, size in registers[:number])
    size = registers[number][1]
    first = draw(st.integers(0, size - 1))
    count = draw(st.sampled_from([c for c in (1, 2, 4, 8, 12, 16) if first % c == 0 and first + c <= size]))
    return Access(base + first, count, write)


@st.composite
def copies(draw, registers):
    """A copy between 32-bit components of two registers of one file, or None."""
    target, source = draw(accesses(registers, True)), draw(accesses(registers, False))
    files = [f for f, size in registers for _ in range(size)]
    if files[target.unit] != files[source.unit] or target.unit == source.unit or files[target.unit] == B:
        return None
    return Insn([Access(target.unit, 1, True), Access(source.unit, 1, False)], copy=True)


@st.composite
def instructions(draw, registers):
    if draw(st.integers(0, 4)) == 0:
        copy = draw(copies(registers))
        if copy is not None:
            return copy
    writes = draw(st.lists(accesses(registers, True), max_size=2))
    reads = draw(st.lists(accesses(registers, False), max_size=3))
    taken: set[int] = set()
    kept = []
    for w in writes:
        units = set(range(w.unit, w.unit + w.count))
        if not units & taken:
            taken |= units
            kept.append(w)
    guarded = draw(st.integers(0, 3)) == 0
    for w in kept:
        # the kernels treat a guarded write that begins some of its units' ranges and continues others' as a
        # continuation of all; the models here are exact, so such writes are not drawn
        w.count = 1 if guarded else w.count
    predicates = [sum(size for _, size in registers[:n]) for n, (file, _) in enumerate(registers) if file == P]
    if guarded and predicates:
        reads.append(Access(draw(st.sampled_from(predicates)), guard=True, negated=draw(st.booleans())))
    return Insn(kept + reads, guarded=guarded)


def has_undefined_reads(program: Program) -> bool:
    """A read that no definition reaches: the registers of such values mean nothing."""
    reached = program.reached()
    return any(not insn.reads() <= reached[b, i] for b, block in enumerate(program.blocks) for i, insn in enumerate(block))


FILES = ((R, 1), (R, 1), (R, 2), (R, 4), (R, 8), (R, 12), (R, 16), (P, 1), (UR, 1), (UR, 2), (UP, 1))


@st.composite
def programs(draw, max_blocks: int = 5, max_insns: int = 6, files=FILES, defined: bool = False):
    """``defined``: every block can be reached, and nothing is read without a value."""
    main = draw(st.lists(st.sampled_from([f for f in files if f[0] in MAIN]), min_size=1, max_size=8))
    uniform = (
        draw(st.lists(st.sampled_from([f for f in files if f[0] not in MAIN]), max_size=3))
        if any(f[0] not in MAIN for f in files)
        else []
    )
    registers = main + uniform
    count = draw(st.integers(1, max_blocks))
    blocks = [draw(st.lists(instructions(registers), max_size=max_insns)) for _ in range(count)]
    succs = [draw(st.lists(st.integers(0, count - 1), max_size=2, unique=True)) for _ in range(count)]
    depth = [draw(st.integers(0, 3)) for _ in range(count)]
    program = Program(registers, blocks, succs, depth)
    if defined:
        for b in range(count - 1):
            if b + 1 not in succs[b]:
                succs[b].append(b + 1)
        reached = program.reached()
        missing = set()
        for b, block in enumerate(blocks):
            for i, insn in enumerate(block):
                missing |= insn.reads() - reached[b, i]
        # what is read without a value anywhere is written first in a new entry block
        units = sorted(missing | {u for b, block in enumerate(blocks) for insn in block for u in insn.reads() if b == 0})
        program.blocks = [[Insn([Access(u, 1, True)]) for u in units], *blocks]
        program.succs = [[1], *([s + 1 for s in targets] for targets in succs)]
        program.depth = [0, *depth]
    return program
