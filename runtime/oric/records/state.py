"""Code Objects and what stands around them, as the sections of this project's own tags."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from oric_tables.named import NamedTuple
from oric_tables.record_tags import STATE

from oric.ir import machine
from oric.ir.attributes import FunctionAttributes, JumpTable, Param
from oric.ir.calls import CallSite, Formal, FrameMove, KeptCall, ParamVariable, Shape
from oric.ir.function import Function
from oric.ir.lineinfo import LineInfo, Loc, Mark, PtxRegister, SourceFile, Text
from oric.ir.links import Link
from oric.ir.machine import MachineFunction
from oric.ir.module import Module, Relocation, Symbol

if TYPE_CHECKING:
    from oric_tables.targets import Target


class Start(NamedTuple):
    """What all Code Objects of a file share: the index of the phase behind which they are, the ceiling of registers that the
    command line sets, the names of the kernels in their order, text and name of each input, and of each kernel the number of its
    input.
    """

    phase: int
    limit: int | None
    kernels: list[str]
    inputs: list[tuple[str, str]]
    sources: list[int]


class Head(NamedTuple):
    """Where a Code Object belongs: the number of its kernel, and its own among the functions of that, -1 for the kernel itself.

    ``ran``: index of the last phase that ran on it; ``recipes``: those of the NvOpt level, as phase 1 made them. ``pads``: of
    instructions, how many NOPs scheduling has put in front of them, which stands in the back end's view alone.
    """

    kernel: int
    unit: int
    ran: int
    recipes: dict[int, int] | None
    in_window: bool
    has_lines: bool
    pads: dict[int, int]


def pads_of(f: Function) -> dict[int, int]:
    """The NOPs in front of instructions in the back end's view of a function, where there is one."""
    view = f.analyses.machine
    if not isinstance(view, MachineFunction) or not view.physical or view.epoch != f.code_epoch:
        return {}
    nodes = view.fn.nodes
    return {int(nodes[at].index): int(nodes[at].pads) for at in range(view.fn.insn_count) if nodes[at].pads}


def put_pads(f: Function, target: Target, pads: Mapping[int, int]) -> None:
    """Give a function that was read the back end's view with these NOPs.

    Raises:
        InternalError: an instruction that the tables do not know, or a register without a number.
    """
    if pads:
        view = machine.on_registers(f, target.isa, target.uniform_regs)
        for at in range(view.fn.insn_count):
            view.fn.nodes[at].pads = pads.get(int(view.fn.nodes[at].index), 0)


class Symbols(NamedTuple):
    """The variables of a module."""

    symbols: list[Symbol]


class Lines(NamedTuple):
    """The line information of a module."""

    info: LineInfo | None


CLASSES: Final[Mapping[str, type[Any]]] = {
    cls.__name__: cls
    for cls in (
        CallSite, Formal, FrameMove, Function, FunctionAttributes, Head, JumpTable, KeptCall, LineInfo, Lines, Link, Loc, Mark,
        Module, Param, ParamVariable, PtxRegister, Relocation, Shape, SourceFile, Start, Symbol, Symbols, Text,
    )
}  # fmt: skip


class Part(NamedTuple):
    """A Code Object behind a phase, and the module as it was then."""

    head: Head
    function: Function
    module: Module


class Saved(NamedTuple):
    """What a file holds. ``options``: of the driver; ``module``: that of the first Code Object, or of a file without one."""

    start: Start
    options: Any
    parts: list[Part]
    flags: int
    module: Module


_MODULE: Final = tuple(
    name for row in STATE if row.name == Module.__name__ for name in (*dict(row.fields), *row.left_out) if name != "functions"
)


def restore(module: Module, known: Module) -> None:
    """Let a module be as another one, but for its functions."""
    for name in _MODULE:
        setattr(module, name, getattr(known, name))
