"""The back end's view of a function: lists of register accesses, shared by allocation, scheduling and encoding.

The kernels read the arrays of the function in place (``oric_function``); what they index, the accesses of every instruction,
is kept in an ``oric_fn`` that allocation makes and leaves in ``Analyses.machine`` for scheduling and encoding, which get it as
long as no instruction has changed since (``Function.code_epoch``).
"""

from __future__ import annotations

from typing import Any, Final, final

from librt.vecs import vec
from mypy_extensions import i64
from oric_tables import knobs, registers
from oric_tables._native import ffi, lib

from oric.support.arrays import zeros
from oric.support.diagnostics import InternalError
from oric.support.lend import lend

from .apart import stretches_apart
from .function import Function, control_flow
from .lineinfo import line_of
from .optable import OPS

# Register files in the order of ORIC_FILE_*, as the kernels number them.
FILES: Final[tuple[str, ...]] = registers.UNITS
NO_LIMIT: Final = 0x7FFFFFFF
_LOAD_ERRORS: Final = {
    lib.ORIC_LOAD_NO_FACTS: "there are no scheduling facts for",
    lib.ORIC_LOAD_NO_REGISTER: "an operand is no register of the machine in",
    lib.ORIC_LOAD_BAD_OPERATION: "there is no operation with the number of",
    lib.ORIC_LOAD_BAD_RESULT: "a result has no latency in",
}


@final
class Lent:
    """The arrays of a function as the kernels take them, for as long as no array grows."""

    def __init__(self, f: Function, isa: int, uniform_registers: int) -> None:
        c = self.c = ffi.new("oric_function *")
        graph = control_flow(f)
        depth = graph.loops().depth if graph.blocks > 1 else zeros(graph.blocks)
        self._keep: list[Any] = []
        c.op = self._lend(f.op)
        c.mods = self._lend(f.mods)
        c.guard = self._lend(f.guard)
        c.line = self._lend(f.line)
        c.aux = self._lend(f.aux)
        c.control = self._lend(f.control)
        c.first = self._lend(f.first)
        c.count = self._lend(f.count)
        c.prev = self._lend(f.prev)
        c.next = self._lend(f.next)
        c.block = self._lend(f.block)
        c.operand = self._lend(f.operand)
        c.head = self._lend(f.head)
        c.tail = self._lend(f.tail)
        c.succ_start = self._lend(graph.succ_start)
        c.succ = self._lend(graph.succ)
        c.depth = self._lend(depth)
        c.apart = self._lend(stretches_apart(f))
        c.reg_type = self._lend(f.reg_type)
        c.reg_size = self._lend(f.reg_size)
        c.reg_word = self._lend(f.reg_word)
        c.physical = self._lend(f.physical)
        c.parent = self._lend(f.parent)
        c.immediates = self._lend(f.immediates)
        c.instruction_count = f.instructions()
        c.operand_count = len(f.operand)
        c.block_count = graph.blocks
        c.succ_count = graph.edges
        c.register_count = f.registers()
        c.word_count = f.words
        c.immediate_count = len(f.immediates)
        c.isa = isa
        c.uniform_registers = uniform_registers

    def _lend(self, array: vec[i64]) -> Any:
        view = lend(array)
        self._keep.append(view)
        return view


@final
class MachineFunction:
    """The accesses of a function, freed with this object. ``physical``: they are those of hardware registers; ``epoch``: the
    ``code_epoch`` of the function that they describe.
    """

    def __init__(self, f: Function, lent: Lent, fn: Any, physical: bool) -> None:
        if fn == ffi.NULL:
            raise MemoryError("no memory for the back end")
        self.f = f
        self.lent = lent
        self.fn = ffi.gc(fn, lib.oric_fn_free)
        self.physical = physical
        self.epoch: int = f.code_epoch
        self.take_knobs()
        if fn.error:
            raise InternalError(f"{_LOAD_ERRORS[fn.error]} {self.describe(fn.error_at)}")

    def take_knobs(self) -> None:
        """Let the kernels have the numbers of the knobs that the function has now."""
        self.numbers = self.f.knobs.numbers  # C has no copy
        self.fn.knobs = lend(self.numbers)
        extra = self.f.knobs.pairs[knobs.EXTRA_LATENCY]
        self.extra = ffi.new("int32_t[]", [extra.get(op, 0) for op in range(len(OPS.flags))]) if extra else ffi.NULL
        self.fn.extra = self.extra

    def describe(self, i: int) -> str:
        """An instruction as Ori text, with its place in the PTX."""
        from .text import format_instruction

        return f"'{format_instruction(self.f, i)}' from line {line_of(self.f.line[i])} of the PTX, in '{self.f.name}'"

    def reload(self) -> MachineFunction:
        """The same function on virtual registers, in the original order."""
        return MachineFunction(self.f, self.lent, lib.oric_fn_load(self.lent.c, 0), False)

    def on_registers(self) -> MachineFunction:
        """This order on the hardware registers that the function has, without copies of a register to itself."""
        return MachineFunction(self.f, self.lent, lib.oric_fn_on_registers(self.lent.c, self.fn), True)

    def link(self) -> None:
        """Link the blocks of the function in this order, with these control bits; what is not in it is taken out."""
        lib.oric_fn_link(self.lent.c, self.fn)
        self.f.code_epoch += 1
        self.epoch = self.f.code_epoch

    def publish(self, assigned: Any, leader: Any) -> None:
        """Enter an allocation, the unit of every unit and the one that it is coalesced with, into the function."""
        lib.oric_fn_publish(self.lent.c, self.fn, assigned, leader)
        self.f.code_epoch += 1

    def same(self, other: MachineFunction) -> bool:
        """Whether both describe the same instructions in the same order, with the same accesses and control bits."""
        a, b = self.fn, other.fn
        if (a.insn_count, a.block_count, a.isa) != (b.insn_count, b.block_count, b.isa):
            return False
        if ffi.unpack(a.block_first, a.block_count + 1) != ffi.unpack(b.block_first, b.block_count + 1):
            return False
        return all(_node(a, a.nodes[k]) == _node(b, b.nodes[k]) for k in range(a.insn_count))


def _node(fn: Any, node: Any) -> tuple[Any, ...]:
    """What a node says of its instruction: no results of liveness (``ORIC_A_KILL``), no places in the pool of accesses."""
    found = [fn.accesses[node.access + at] for at in range(node.access_count)]
    accesses = [(a.unit, a.count, a.flags & ~lib.ORIC_A_KILL, a.slot, a.group) for a in found]
    return node.index, node.op, node.flags, node.klass, node.space, node.control, node.offset, node.bytes, accesses


def load(f: Function, isa: int, uniform_registers: int, physical: bool = False) -> MachineFunction:
    """Index the accesses of a function.

    Raises:
        InternalError: an instruction that the tables do not know, or a register without a number.
    """
    lent = Lent(f, isa, uniform_registers)
    return MachineFunction(f, lent, lib.oric_fn_load(lent.c, int(physical)), physical)


def on_registers(f: Function, isa: int, uniform_registers: int) -> MachineFunction:
    """The view of an allocated function: the one that allocation left, or a new one."""
    view = f.analyses.machine
    if isinstance(view, MachineFunction) and view.physical and view.epoch == f.code_epoch:
        return view
    made = load(f, isa, uniform_registers, physical=True)
    f.analyses.machine = made
    return made
