"""Code Objects and what stands around them, as the sections of this project's own tags."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from oric_tables.named import NamedTuple
from oric_tables.record_tags import STATE

from oric.ir.attributes import FunctionAttributes, JumpTable, Param
from oric.ir.calls import CallSite, Formal, FrameMove, KeptCall, ParamVariable, Shape
from oric.ir.function import Function
from oric.ir.lineinfo import LineInfo, Loc, Mark, PtxRegister, SourceFile, Text
from oric.ir.links import Link
from oric.ir.module import Module, Relocation, Symbol


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

    ``ran``: index of the last phase that ran on it; ``recipes``: those of the NvOpt level, as phase 1 made them.
    """

    kernel: int
    unit: int
    ran: int
    recipes: dict[int, int] | None
    in_window: bool
    has_lines: bool


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
