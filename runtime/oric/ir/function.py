"""A function under compilation: a struct of arrays.

Instructions, blocks and registers are numbers; their fields stand in arrays, the operands of all instructions in one pool.
The order of the code is a linked list of numbers (``prev``, ``next``), so nothing moves when something is inserted. Blocks
are in order of their numbers: block ``b`` falls through to ``b + 1``.

Arrays move when they grow: no local variable holds one, and only cursors (:mod:`oric.ir.cursor`) append.

Source: Ori IR, "The Code Object", "Basic Blocks", "Instructions"; Register Model, "Virtual Register Descriptor". The
documented layouts are a projection of these arrays (:mod:`oric.ir.image`).
"""

from __future__ import annotations

from typing import Final, final

from librt.vecs import append, vec
from mypy_extensions import i64
from oric_tables import registers

from . import operand as opd
from .analyses import Analyses
from .attributes import FunctionAttributes
from .calls import CallSite, Formal, FrameMove, KeptCall
from .cfg import Cfg
from .knobs import DEFAULTS, Knobs
from .lineinfo import LineInfo, PtxRegister
from .links import Link

# Register file types (Register Model, "Register File Type Enum").
R: Final = registers.R
UR: Final = registers.UR
P: Final = registers.P
UP: Final = registers.UP  # this project's use of the "alternate predicate" value: uniform predicates
B: Final = registers.B
R2: Final = registers.R2
R4: Final = registers.R4
NO_TYPE: Final = registers.UNIFIED  # of the ids that no register has
NONE: Final = -1  # no instruction, no block, no physical register

# Marks stand above the numbers that ``aux`` is of calls, their words and jump tables.
# ``aux`` of a WARPSYNC that is a barrier by itself: what stands behind it is not what its mask is for; of what the threads of a
# warp do together: it is of those that come there together, whoever they are; of a NOP in place of such a WARPSYNC: it waits for
# nothing, but no access moves across it.
AUX_ALONE: Final = 1 << 20
# ``aux`` of a barrier of the block, or of what the threads of a mask do: they may come to it, and to others like it, one by one.
AUX_APART: Final = 1 << 21
# ``aux`` of a memory access that is volatile: never removed, merged or moved across another one; of an atomic: an acquire, which
# reads whether its result is wanted or not; of a NOP: what stands behind it waits for what stands in front of it. (Bit 5 of the
# documented special flags.)
AUX_VOLATILE: Final = 1 << 22
# ``aux`` of an atomic in a loop that lowering made: the loop ends although other threads do nothing more.
AUX_LOCK_FREE: Final = 1 << 23
# ``aux`` of a product or a sum whose rounding nobody has asked for: both may become one fused operation. Phase ContractProducts
# takes the mark away.
AUX_CONTRACT: Final = 1 << 24
# ``aux`` of an instruction on an mbarrier: which one the container calls it (:mod:`oric.ir.mbarriers`).
AUX_MBARRIER: Final = 0xF << 25

# ``flags`` of a block: no loop of which it is the header is unrolled (``.pragma "nounroll"``).
BLOCK_NOUNROLL: Final = 1

_MASK64: Final = 0xFFFFFFFFFFFFFFFF
_INITIAL_FLAGS: Final = vec[i64](registers.INITIAL_FLAGS)


@final
class Function:
    """Everything known about one function.

    Instructions (by number ``i``; ``NONE`` ends lists):

    * ``op[i]``: operation (:mod:`oric_tables.op`); ``mods[i]``: packed modifier values in the layout of ``oric_tables.ops``;
    * ``guard[i]``: predicate operand, 0 when there is none; ``line[i]``: its origin, of which
      :func:`oric.ir.lineinfo.line_of` is the PTX line; ``control[i]``: 21 scheduling bits;
    * ``aux[i]``: 0 but for an indirect branch, where it is the number of its jump table, and ``AUX_*`` marks;
    * ``first[i]``, ``count[i]``: its operands in ``operand``; ``room[i]``: places that it has there;
    * ``prev[i]``, ``next[i]``: neighbours in the block; ``block[i]``: the block, ``NONE`` once removed.

    ``flow_epoch`` and ``code_epoch`` tell whether what an analysis has seen is still there: cursors and the setters here raise
    them.

    Blocks (by number ``b``): ``head[b]``, ``tail[b]``: first and last instruction; ``succ_first[b]``, ``succ_count[b]``: its
    successors in ``succ``, the fall-through one last; ``flags[b]``; ``labels[b]``: a name for dumps. ``final_flow``: control
    flow is last in its block (phase 6 has run); ``merged``: blocks were merged or macro operations expanded since the last
    general optimization; ``expanded``: index of the last phase that has expanded macro operations, whose macros are gone.

    Registers (by id ``r``): ``reg_type[r]``; ``reg_size[r]``: words (1 for predicates); ``reg_word[r]``: number of its first
    word among all words of all registers, of which there are ``words``; ``reg_flags[r]``; ``physical[r]``: hardware register
    or ``NONE``; ``hint[r]``; ``parent[r]``: the register that it is coalesced with.

    ``descriptor``, ``stack``, ``top``, ``shared``: operands of the registers with the descriptor of global memory, the frame's
    address, the address below which the stack is free and that of the block's shared memory within its cluster's, 0 before
    their first use, as is ``sp``, the stack pointer of the calling convention; ``needs``: which of them the entry must load, in
    order of first use. ``formals``: results and parameters of a function that is no entry; ``calls``: call sites by number,
    which is ``aux`` of an INVOKE; ``kept``: those that stay calls, by ``aux`` of a CALL_SITE. ``given``, ``returned``: words of
    the arguments and of the results of a function that is called; ``functions``: those that a kernel has behind its own code,
    in their order. ``links``: immediates that a linker puts something into, what that is;
    ``returns_to``: those of the place behind a call, the number of the call. ``own_shared``: symbols of the shared variables
    declared inside of a kernel; ``shared_code``: the macro operations whose code a kernel calls, ``subroutine``: whether this
    is such code; ``realigned``: the instruction that aligns the stack pointer of a function, NONE where none does;
    ``frame_moves``: what instructions change of the frame that a debugger sees. ``for_debugger``: copies stay, and registers of
    the PTX have registers of their own: ``ptx_registers``, the operands that they are; ``watched``: of those that debug data
    name, the operand, and from which line of the PTX to in front of which one its value is wanted.
    """

    def __init__(self, name: str, target: str, is_entry: bool = True) -> None:
        self.name = name
        self.target = target
        self.is_entry = is_entry
        self.knobs: Knobs = DEFAULTS
        self.op = vec[i64]()
        self.mods = vec[i64]()
        self.guard = vec[i64]()
        self.line = vec[i64]()
        self.aux = vec[i64]()
        self.control = vec[i64]()
        self.first = vec[i64]()
        self.count = vec[i64]()
        self.room = vec[i64]()
        self.prev = vec[i64]()
        self.next = vec[i64]()
        self.block = vec[i64]()
        self.operand = vec[i64]()
        self.head = vec[i64]()
        self.tail = vec[i64]()
        self.flags = vec[i64]()
        self.succ_first = vec[i64]()
        self.succ_count = vec[i64]()
        self.succ = vec[i64]()
        self.labels: list[str] = []
        self.flow_epoch: int = 0  # raised with every change of blocks and edges
        self.code_epoch: int = 0  # raised with every change of instructions, of their places and of their registers
        self.reg_type = vec[i64]()
        self.reg_size = vec[i64]()
        self.reg_word = vec[i64]()
        self.reg_flags = vec[i64]()
        self.physical = vec[i64]()
        self.hint = vec[i64]()
        self.parent = vec[i64]()
        self.words: int = 0
        self.immediates = vec[i64]()  # 64-bit patterns, as signed numbers
        self._immediate_ids: dict[int, int] = {}
        self.descriptor = 0
        self.stack = 0
        self.top = 0
        self.shared = 0
        self.needs: list[str] = []
        self.formals: list[Formal] = []
        self.calls: list[CallSite] = []
        self.sp = 0
        self.kept: list[KeptCall] = []
        self.given: int = 0
        self.returned: int = 0
        self.outgoing: list[tuple[int, int]] = []  # immediates for places of arguments on the stack, and the bytes there
        self.links: dict[int, Link] = {}
        self.returns_to: dict[int, int] = {}
        self.own_shared: list[int] = []
        self.local_bytes: int = 0  # of local variables, as they are declared
        self.taken: list[str] = []  # in position independent objects: functions and kernels whose addresses the code has
        self.realigned: int = NONE
        self.frame_moves: list[FrameMove] = []
        self.stack_moves: list[tuple[int, int, int]] = []  # around calls below what is taken from the stack: down, up, from where
        self.for_debugger = False
        self.marks: list[int] = []  # instructions that are there for the allocator alone ...
        self.watching: list[int] = []  # ... and those that it may do without
        self.ptx_registers: list[PtxRegister] = []
        self.intrinsics: list[object] = []  # calls of intrinsics that were lowered here (oric.lower.ocg.Matched), for dumps
        self.watched: list[tuple[int, int, int]] = []
        self.below_frame: list[int] = []  # immediates for how far free stack begins below the stack pointer
        self.below_free: list[int] = []  # ... and for how much of it the arguments of a call take
        self.functions: list[Function] = []
        self.addressed: list[int] = []  # of a kernel: the functions that bank 2 has the places of, by their numbers
        self.shared_code: list[int] = []
        self.subroutine = False
        self.sources: LineInfo | None = None  # what origins are of, where somebody wants to know
        self.callee: int = -1  # id in the module's symbols of the function that this is a copy of
        self.window: set[int] = set()  # the registers that have one definition in partial SSA form
        self.homes: dict[int, int] = {}  # registers that a MovPhi names -> the register whose values they were
        self.final_flow = False
        self.merged = False
        self.expanded: int = 0
        self.attributes = FunctionAttributes()
        self.analyses = Analyses()

    # -- sizes -------------------------------------------------------------------------------------------

    def blocks(self) -> i64:
        """Number of blocks."""
        return len(self.head)

    def instructions(self) -> i64:
        """Number of instructions ever made: their numbers are below."""
        return len(self.op)

    def length(self) -> i64:
        """Number of instructions in its blocks."""
        found: i64 = 0
        b: i64 = 0
        while b < len(self.head):
            i = self.head[b]
            while i != NONE:
                found += 1
                i = self.next[i]
            b += 1
        return found

    def registers(self) -> i64:
        """Number of register ids."""
        return len(self.reg_type)

    # -- operands ----------------------------------------------------------------------------------------

    def get(self, i: i64, at: i64) -> i64:
        """Operand ``at`` of an instruction; 0 when it has fewer."""
        if at >= self.count[i]:
            return 0
        return self.operand[self.first[i] + at]

    def set(self, i: i64, at: i64, operand: i64) -> None:
        """Change an operand that an instruction has."""
        if not 0 <= at < self.count[i]:
            raise IndexError("an operand that the instruction does not have")
        self.operand[self.first[i] + at] = operand
        self.code_epoch += 1

    @property
    def in_window(self) -> bool:
        """Whether it is in partial SSA form, between phases 23 and 73."""
        return not self.analyses.tracker.ssa

    @in_window.setter
    def in_window(self, inside: bool) -> None:
        self.analyses.tracker.ssa = not inside

    def set_guard(self, i: i64, guard: i64) -> None:
        """Change the guard of an instruction; 0: none."""
        self.guard[i] = guard
        self.code_epoch += 1

    def set_mods(self, i: i64, mods: i64) -> None:
        """Change the modifiers of an instruction."""
        self.mods[i] = mods
        self.code_epoch += 1

    def words_of(self, operand: i64) -> i64:
        """First word of a register operand that :func:`oric.ir.operand.is_register`."""
        return self.reg_word[operand & opd.INDEX] + opd.first_of(operand)

    def is_predicate(self, operand: i64) -> bool:
        """True for a register operand of a predicate file."""
        if operand & opd.TYPE != opd.IS_REG:
            return False
        index = operand & opd.INDEX
        if index == opd.PT:
            return True
        if index == opd.RZ:
            return False
        kind = self.reg_type[index]
        return kind == P or kind == UP

    # -- registers and immediates ------------------------------------------------------------------------

    def new_reg(self, reg_type: i64, size: i64 = 1) -> i64:
        """Make a virtual register and return its id; ids 31 and 1023 are kept for PT and RZ."""
        while len(self.reg_type) == opd.PT or len(self.reg_type) == opd.RZ:
            self._add_reg(NO_TYPE, 0)
        self._add_reg(reg_type, size)
        return len(self.reg_type) - 1

    def _add_reg(self, reg_type: i64, size: i64) -> None:
        self.reg_type = append(self.reg_type, reg_type)
        self.reg_size = append(self.reg_size, size)
        self.reg_word = append(self.reg_word, self.words)
        self.reg_flags = append(self.reg_flags, _INITIAL_FLAGS[reg_type])
        self.physical = append(self.physical, NONE)
        self.hint = append(self.hint, NONE)
        self.parent = append(self.parent, NONE)
        self.words += size

    def imm(self, value: i64) -> i64:
        """An immediate operand for a 64-bit pattern, given as a signed number."""
        if 0 <= value <= opd.INDEX:
            return opd.IS_IMM | value
        index = self._immediate_ids.get(value)
        if index is None:
            index = self._immediate_ids[value] = len(self.immediates)
            self.immediates = append(self.immediates, value)
        return opd.IS_POOL | index

    def own_imm(self) -> i64:
        """An immediate of the pool that stands for 0 until something else is put there; returns its place."""
        self.immediates = append(self.immediates, 0)
        return len(self.immediates) - 1

    def imm_value(self, operand: i64) -> i64:
        """The 64-bit pattern of an immediate operand, as a signed number."""
        index = operand & opd.INDEX
        return self.immediates[index] if operand & opd.TYPE == opd.IS_POOL else index

    # -- edges -------------------------------------------------------------------------------------------

    def successor(self, b: i64, at: i64) -> i64:
        """Successor ``at`` of a block."""
        return self.succ[self.succ_first[b] + at]

    def goes_to(self, b: i64, target: i64) -> bool:
        """Whether there is an edge."""
        at: i64 = 0
        while at < self.succ_count[b]:
            if self.succ[self.succ_first[b] + at] == target:
                return True
            at += 1
        return False


def signed64(pattern: int) -> int:
    """A 64-bit pattern as the signed number that arrays hold."""
    pattern &= _MASK64
    return pattern - (1 << 64) if pattern >> 63 else pattern


def control_flow(f: Function) -> Cfg:
    """The control flow of a function; made anew when blocks or edges have changed since the last time."""
    known = f.analyses.cfg
    if known is not None and known.epoch == f.flow_epoch:
        return known
    made = edges_of(f)
    made.epoch = f.flow_epoch
    f.analyses.cfg = made
    return made


def edges_of(f: Function) -> Cfg:
    """The control flow of a function as its edges say, made anew."""
    start = vec[i64](capacity=f.blocks() + 1)
    flat = vec[i64](capacity=len(f.succ))
    b: i64 = 0
    while b < f.blocks():
        start = append(start, len(flat))
        at: i64 = 0
        while at < f.succ_count[b]:
            flat = append(flat, f.successor(b, at))
            at += 1
        b += 1
    start = append(start, len(flat))
    return Cfg(f.blocks(), start, flat)
