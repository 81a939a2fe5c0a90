"""What phases promise about analyses: they get what they need, the rest is forgotten.

The promises are columns of ``spec/phases.yaml``. Twice over: an analysis is only handed out at the epoch at which it
was made, and :func:`check`, which runs where phases are verified, makes every analysis anew that a phase says it keeps.
There, :func:`enter` and :func:`leave` hold each phase to its place in partial SSA form as well (column ``ssa``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, final

from oric_tables.phases import ALL_ANALYSES, ANALYSES, CONTROL_FLOW, DOMINATORS, LOOPS, MACHINE, PHASES, USES

from oric.ir import machine
from oric.ir.function import Function, control_flow, edges_of
from oric.ir.machine import MachineFunction
from oric.ir.passes import PassContext
from oric.support.diagnostics import InternalError

from .makers import Makers, makers_of


@final
class BrokenPromise(InternalError):
    """A phase does not do what its row says; the text names the phase, and the analysis or the form."""


# By the name of a pass: masks of the analyses that it needs and of those that it keeps. Nothing is known of other passes.
CONTRACTS: Final[dict[str, tuple[int, int]]] = {p.function: (p.needs, p.keeps) for p in PHASES if p.function}
NO_CONTRACT: Final = (0, 0)
OPENS: Final = "opens"  # a place in partial SSA form: the phase that enters it ...
_WINDOW: Final = "window"  # ... those inside ...
_CLOSES: Final = "closes"  # ... and the one that leaves it


def provide(f: Function, ctx: PassContext, needs: int) -> None:
    """Make the analyses of a mask that are not there or not current."""
    if needs & (CONTROL_FLOW | DOMINATORS | LOOPS):
        graph = control_flow(f)
        if needs & DOMINATORS:
            graph.dominators()
        if needs & LOOPS:
            graph.loops()
    if needs & MACHINE:
        machine.on_registers(f, ctx.target.isa, ctx.target.uniform_regs)
    if needs & USES:
        makers_of(f)


def forget(f: Function, keeps: int) -> None:
    """Drop what a phase that has changed something does not keep."""
    if keeps != ALL_ANALYSES:
        f.analyses.forget(ALL_ANALYSES & ~keeps)


def epochs(f: Function) -> tuple[int, int]:
    """The state of a function, as analyses note it."""
    return f.flow_epoch, f.code_epoch


def forget_outdated(f: Function) -> None:
    """Drop what is not current, so that what :func:`check` finds afterwards is the phase's."""
    graph, view = f.analyses.cfg, f.analyses.machine
    if graph is not None and graph.epoch != f.flow_epoch:
        f.analyses.forget(CONTROL_FLOW)
    if isinstance(view, MachineFunction) and view.epoch != f.code_epoch:
        f.analyses.forget(MACHINE)
    if isinstance(f.analyses.uses, Makers) and not f.analyses.uses.is_current():
        f.analyses.forget(USES)


def check(f: Function, ctx: PassContext, phase: str, keeps: int, changed: bool, before: tuple[int, int]) -> None:
    """Check what a phase promises that has just run on a function without outdated analyses.

    Args:
        f: the function.
        ctx: the context of the phase.
        phase: its name, for the message.
        keeps: the analyses that it keeps when it changes something.
        changed: whether it says that it has changed something.
        before: the epochs before it.

    Raises:
        BrokenPromise: it says that it has changed nothing, and it has; or an analysis that it keeps is not right any more.
    """
    if not changed and epochs(f) != before:
        raise BrokenPromise(f"{phase} says that it has changed nothing in '{f.name}', but it has")
    kept = (keeps if changed else ALL_ANALYSES) & f.analyses.held()
    for analysis in ANALYSES:
        if kept & analysis.bit and not _RIGHT[analysis.name](f, ctx):
            raise BrokenPromise(f"{phase} keeps the analysis '{analysis.name}' of '{f.name}', but made anew that is another one")


def enter(f: Function, phase: str, place: str, opened: bool) -> None:
    """Check that a function has the form that a phase is made for, before it runs.

    Args:
        f: the function.
        phase: the name of the phase, for the message.
        place: its place in partial SSA form.
        opened: whether a phase has entered the form. It stays closed where none has, at -O1 for one.

    Raises:
        BrokenPromise: the function has not.
    """
    inside = opened and place in (_WINDOW, _CLOSES)
    if f.in_window != inside:
        wants, has = ("in", "not") if inside else ("outside of", "")
        raise BrokenPromise(f"{phase} runs {wants} partial SSA form, but '{f.name}' is {has + ' ' if has else ''}in it")


def leave(f: Function, phase: str, place: str, opened: bool) -> None:
    """Check that a phase has left a function in the form that its place says; as :func:`enter`.

    Raises:
        BrokenPromise: it has not.
    """
    if f.in_window != (opened and place in (OPENS, _WINDOW)):
        raise BrokenPromise(f"{phase} leaves '{f.name}' {'in' if f.in_window else 'outside of'} partial SSA form")


def _control_flow(f: Function, ctx: PassContext) -> bool:
    known = f.analyses.cfg
    return known is not None and known.epoch == f.flow_epoch and known.same(edges_of(f))


def _dominators(f: Function, ctx: PassContext) -> bool:
    known = f.analyses.cfg
    return known is not None and known.dominators().same(edges_of(f).dominators())


def _loops(f: Function, ctx: PassContext) -> bool:
    known = f.analyses.cfg
    return known is not None and known.loops().same(edges_of(f).loops())


def _machine(f: Function, ctx: PassContext) -> bool:
    known = f.analyses.machine
    if not isinstance(known, MachineFunction) or known.epoch != f.code_epoch:
        return False
    return known.same(machine.load(f, ctx.target.isa, ctx.target.uniform_regs, physical=True))


def _uses(f: Function, ctx: PassContext) -> bool:
    known = f.analyses.uses
    return isinstance(known, Makers) and known.is_current() and known.same(Makers(f))


# Whether an analysis that is there is current and equals one that is made anew, by its name in the table.
_RIGHT: Final[dict[str, Callable[[Function, PassContext], bool]]] = {
    "control_flow": _control_flow,
    "dominators": _dominators,
    "loops": _loops,
    "machine": _machine,
    "uses": _uses,
}
