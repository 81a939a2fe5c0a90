"""Which units are live where, as sets that are numbers: bit u is unit u.

A unit is a word of a virtual register, or of a hardware register once the function is allocated. What the back end can load has
the back end's own liveness, by which it is allocated; other code (macro operations, MovPhis) that of data flow over Ori, in which
a write under a guard ends nothing. Source: Register Model, "Allocator Pressure Arrays".
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, final

from oric_tables._native import ffi, lib
from oric_tables.op import MovPhi

from oric.ir import machine
from oric.ir import operand as opd
from oric.ir.function import NONE, Function, control_flow
from oric.ir.machine import FILES
from oric.ir.optable import OPS
from oric.ir.phis import phis_of, value_from
from oric.ir.text import LETTERS
from oric.support.diagnostics import InternalError

from .facts import Facts, is_allocated

BACK_END: Final = "back end"
DATA_FLOW: Final = "data flow"
_FILE_OF_LETTERS: Final = {name: file for file, name in enumerate(FILES)}


class Step(NamedTuple):
    """An instruction: its number and the units that it reads, that it writes, and whose values end where it writes.

    ``copied``: the unit that a plain copy has its value of, -1; ``calls``: what it writes is what a callee may change, which
    takes no register here.
    """

    insn: int
    reads: int
    writes: int
    kills: int
    copied: int = -1
    calls: bool = False


@final
class Liveness:
    """The live units of a function; ``blocks`` has the steps of each block in order, ``live_in`` and ``live_out`` its borders.

    ``names`` and ``files`` (numbers of :data:`oric.ir.machine.FILES`, -1 for none) are by unit, ``units_of`` the set of each
    file. ``by``: whose liveness it is; ``view``: the back end's view, None where it cannot load the function.
    """

    def __init__(self, f: Function, facts: Facts) -> None:
        self.f = f
        self.allocated = is_allocated(f)
        self.view: Any = None
        try:
            self.view = machine.load(f, facts.target.isa, facts.target.uniform_regs, self.allocated)
        except InternalError:
            self.allocated = False
        self.names, self.files = self._hardware() if self.allocated else _words(f)
        self.units_of = [sum(1 << u for u, file in enumerate(self.files) if file == number) for number in range(len(FILES))]
        if self.view is None:
            self.by = DATA_FLOW
            self.blocks = [_steps(f, b) for b in range(f.blocks())]
            self.live_in, self.live_out = _solve(f, self.blocks)
        else:
            self.by = BACK_END
            if lib.oric_liveness(self.view.fn):
                raise MemoryError("no memory for liveness")
            self.blocks = [self._loaded(b) for b in range(f.blocks())]
            self.live_in = [self._border(lib.oric_live_in, b) for b in range(f.blocks())]
            self.live_out = [self._border(lib.oric_live_out, b) for b in range(f.blocks())]

    def units(self, mask: int) -> list[str]:
        """The names of a set in order of unit."""
        return [self.names[u] for u in members(mask)]

    def counts(self, mask: int) -> dict[str, int]:
        """How many units of each file a set has."""
        return {file: (mask & units).bit_count() for file, units in zip(FILES, self.units_of, strict=True)}

    def _hardware(self) -> tuple[list[str], list[int]]:
        fn = self.view.fn
        files = [int(fn.unit_file[u]) for u in range(fn.unit_count)]
        first = [int(lib.oric_fn_first_unit(file)) for file in range(len(FILES))]
        return [f"{FILES[file]}{u - first[file]}" for u, file in enumerate(files)], files

    def _border(self, ask: Any, b: int) -> int:
        out = ffi.new("uint32_t[]", self.view.fn.unit_count + 1)
        return sum(1 << u for u in ffi.unpack(out, ask(self.view.fn, b, out)))

    def _loaded(self, b: int) -> list[Step]:
        """The steps of a block as the back end sees them."""
        fn = self.view.fn
        found = []
        for at in range(fn.block_first[b], fn.block_first[b + 1]):
            node = fn.nodes[at]
            reads = writes = kills = 0
            for k in range(node.access, node.access + node.access_count):
                access = fn.accesses[k]
                bits = opd.all_bits(access.count) << access.unit
                if access.flags & lib.ORIC_A_DEF:
                    writes |= bits
                else:
                    reads |= bits
                if access.flags & lib.ORIC_A_KILL:
                    kills |= bits
            copied = -1
            if node.flags & lib.ORIC_I_COPY and node.access_count > 1:
                copied = int(fn.accesses[node.access + 1].unit)
            found.append(Step(int(node.index), reads, writes, kills, copied, bool(node.flags & lib.ORIC_I_DRAIN)))
        return found


def members(mask: int) -> list[int]:
    """The numbers of the bits that are set, in order."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


def _words(f: Function) -> tuple[list[str], list[int]]:
    """Names and files of the words of virtual registers."""
    names, files = [""] * f.words, [-1] * f.words
    for r in range(f.registers()):
        letters, size, first = LETTERS[f.reg_type[r]], f.reg_size[r], f.reg_word[r]
        for word in range(size):
            names[first + word] = f"{letters}{r}" + (f".{word}" if size > 1 else "")
            files[first + word] = _FILE_OF_LETTERS.get(letters, -1)
    return names, files


def _steps(f: Function, b: int) -> list[Step]:
    """The steps of a block by Ori alone."""
    found = []
    i: int = f.head[b]
    while i != NONE:
        mask = OPS.writes[f.op[i]]
        reads = writes = 0
        for at in range(f.count[i]):
            operand = f.operand[f.first[i] + at]
            if opd.is_register(operand):
                bits = opd.all_bits(opd.count_of(operand)) << f.words_of(operand)
                if mask >> at & 1:
                    writes |= bits
                elif f.op[i] != MovPhi:  # what it reads is read at the ends of the blocks before
                    reads |= bits
        if f.guard[i] and opd.is_register(f.guard[i]):
            reads |= 1 << f.words_of(f.guard[i])
        found.append(Step(i, reads, writes, 0 if f.guard[i] else writes))
        i = f.next[i]
    return found


def _solve(f: Function, blocks: list[list[Step]]) -> tuple[list[int], list[int]]:
    """The units live at the beginnings and the ends of the blocks."""
    graph = control_flow(f)
    read, ended = [0] * len(blocks), [0] * len(blocks)
    for b, steps in enumerate(blocks):
        for step in reversed(steps):
            read[b] = read[b] & ~step.kills | step.reads
            ended[b] |= step.kills
    taken = [_read_by_phis(f, [int(graph.succ[e]) for e in range(graph.succ_start[b], graph.succ_start[b + 1])], b)
             for b in range(len(blocks))]  # fmt: skip
    live_in, live_out = [0] * len(blocks), [0] * len(blocks)
    changed = True
    while changed:
        changed = False
        for b in range(len(blocks) - 1, -1, -1):
            out = taken[b]
            for e in range(graph.succ_start[b], graph.succ_start[b + 1]):
                out |= live_in[graph.succ[e]]
            live_out[b] = out
            found = out & ~ended[b] | read[b]
            if found != live_in[b]:
                live_in[b] = found
                changed = True
    return live_in, live_out


def _read_by_phis(f: Function, successors: list[int], b: int) -> int:
    """The units that MovPhis behind a block read at its end."""
    mask = 0
    for to in successors:
        for i in phis_of(f, to):
            operand = value_from(f, i, b)
            if operand and opd.is_register(operand):
                mask |= opd.all_bits(opd.count_of(operand)) << f.words_of(operand)
    return mask
