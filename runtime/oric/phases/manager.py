"""Runs the phases of the table on a function, in order.

The table (``spec/phases.yaml``) says which function runs where and from which level on; the driver says which callable
each function name means. Source: PTX-to-Ori, "Bridge Phases"; Ori IR, "Architecture Overview".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Final

from oric_tables import knobs
from oric_tables.phases import COMPLETE, PHASES, Phase

from oric.ir.function import Function
from oric.ir.knobs import UNSET
from oric.ir.passes import PassContext, PassFunction
from oric.ir.text import all_instructions

from . import contracts
from .recipes import recipes_of

UNDOCUMENTED = "undocumented"
END_LABEL = "__$endLabel$__%s"  # behind a function in a dump; Data Structures, "Symbol resolution" (it delimits functions)
_NO_OVERRIDES: Mapping[int, str] = {}
_BEFORE: Final = -1  # the first phase


@cache
def _with_function(overrides: tuple[tuple[int, str], ...]) -> tuple[Phase, ...]:
    """All phases that can run, where a target has functions of its own."""
    functions = dict(overrides)
    return tuple(phase for phase in PHASES if phase.index in functions or phase.function or phase.required)


def list_phases(
    opt_level: int,
    functions: Mapping[int, str] = _NO_OVERRIDES,
    nvopt: int | None = None,
    disabled: Collection[str] = (),
) -> list[tuple[int, str, bool]]:
    """(index, name, whether it runs at that level) of every phase of the table; ``functions`` and ``disabled`` as for
    :class:`PhaseManager`, ``nvopt``: the NvOpt level whose recipes count, None for none.

    Raises:
        ValueError: as :func:`switched_off`.
    """
    recipes, off = recipes_of(nvopt), switched_off(disabled)
    runs = {
        p.index: p.index not in off
        and bool(functions.get(p.index, p.function))
        and p.min_level <= opt_level
        and recipes.get(p.index, 1) > 0
        for p in PHASES
    }
    return [(p.index, _shown_name(p), runs[p.index]) for p in PHASES]


def select(names: Collection[str]) -> frozenset[int]:
    """Indices of the phases that are named by name, index or function; ``all`` names all.

    Raises:
        ValueError: a name that fits no phase.
    """
    chosen: set[int] = set()
    for name in names:
        if name == "all":
            chosen.update(p.index for p in PHASES)
        else:
            found = [p.index for p in PHASES if name in (p.name, str(p.index), p.function) and name not in ("", UNDOCUMENTED)]
            if not found:
                raise ValueError(f"there is no phase '{name}' (see --list-phases)")
            chosen.update(found)
    return frozenset(chosen)


def optional_phases(opt_level: int) -> list[int]:
    """Indices of the phases that run at a level and that can be switched off."""
    return [p.index for p in PHASES if p.function and not p.required and p.min_level <= opt_level]


def switched_off(names: Collection[str]) -> frozenset[int]:
    """Indices of the phases that are to be switched off, as :func:`select` takes them.

    Raises:
        ValueError: a name that fits no phase, or one without which no code can be made.
    """
    off = select(names)
    for phase in PHASES:
        if phase.required and phase.index in off:
            raise ValueError(f"phase {phase.index} {_named(phase)} is required: it cannot be switched off")
    return off


class PhaseManager:
    """Runs phases; one manager serves all functions of a compilation.

    Args:
        registry: function name of the table -> the pass. Required ones must be there; others that are missing do not run.
        opt_level: 0-3; rows above it do not run.
        functions: index -> the function that runs there in place of the table's, "" for none: what the target does its own
            way (:func:`oric.phases.backend.phase_functions`).
        disabled: phases switched off, as :func:`select` takes them.
        verify: called with the code and the phase name after every phase; it raises for code that is malformed. With it, what
            phases promise about analyses and partial SSA form is checked as well (:mod:`oric.phases.contracts`).
        dump: phases after which ``sink`` receives the text of the code.
        dump_text: makes that text.
        trace: ``sink`` receives a line for every phase that runs.
        after: each called with the code, the context and the index of every phase that has run.
        clock: gives the seconds for ``times`` (by phase index); None: they are not taken.

    Raises:
        ValueError: a required phase is disabled or has no pass, a function of the target has none, or a name fits no phase.
    """

    def __init__(
        self,
        registry: Mapping[str, PassFunction],
        opt_level: int = 3,
        *,
        functions: Mapping[int, str] = _NO_OVERRIDES,
        disabled: Collection[str] = (),
        verify: Callable[[Function, str], None] | None = None,
        dump: Collection[str] = (),
        dump_text: Callable[[Function], str] = repr,
        trace: bool = False,
        sink: Callable[[str], None] = print,
        clock: Callable[[], float] | None = None,
        after: Sequence[Callable[[Function, PassContext, int], None]] = (),
    ) -> None:
        off = switched_off(disabled)
        self._plan: list[tuple[Phase, PassFunction, int, int]] = []  # with masks of the analyses that it needs and keeps
        for phase in _with_function(tuple(functions.items())):
            function = functions.get(phase.index, phase.function)
            run = registry.get(function)
            if run is None and function and phase.index in functions:
                raise ValueError(
                    f"phase {phase.index} {_shown_name(phase)}: there is no pass '{function}' for this target to run"
                )
            if phase.required and run is None:
                raise ValueError(f"phase {phase.index} {_named(phase)} is required and missing")
            if run is not None and phase.min_level <= opt_level and phase.index not in off:
                self._plan.append((phase, run, *contracts.CONTRACTS.get(function, contracts.NO_CONTRACT)))
        self._verify = verify
        self._dump = select(dump)
        self._dump_text = dump_text
        self._trace = trace
        self._sink = sink
        self._clock = clock
        self._after = after
        self.times: dict[int, float] = {}
        self._begun: Phase | None = None
        self._started = time.monotonic()

    @property
    def phases(self) -> list[int]:
        """Indices of the phases that run, in order, where no recipe leaves them out."""
        return [phase.index for phase, *_ in self._plan]

    @property
    def running(self) -> str:
        """The phase that was begun last, as messages name it."""
        return f"phase {self._begun.index} {_shown_name(self._begun)}" if self._begun is not None else "no phase"

    def run(self, f: Function, ctx: PassContext, behind: int = -1) -> None:
        """Run all phases on a function; the counter of progress goes up as their rows say.

        ``behind``: the index of the phase behind which to begin, with code that has gone through it already, and the recipes
        that its phase 1 has made in the context; -1: with the first.

        Raises:
            InternalError: the counter of progress would go back.
            BrokenPromise: where phases are verified: one is not as its row says.
        """
        ctx.progress = PHASES[0].enters
        f.knobs = ctx.knobs.at(f.name, _BEFORE)
        if self._is_observed() or behind >= 0 or ctx.knobs is not UNSET:
            self._run_observed(f, ctx, behind)
            ctx.advance(COMPLETE)
            return
        for phase, run, needs, keeps in self._plan:
            if ctx.recipes is not None and not ctx.recipes.get(phase.index, 1):
                continue
            self._begun = phase
            ctx.advance(phase.enters)
            if needs:
                contracts.provide(f, ctx, needs)
            if run(f, ctx):
                contracts.forget(f, keeps)
        ctx.advance(COMPLETE)

    def time_rows(self) -> list[tuple[int, str, float]]:
        """(index, name, seconds in all functions) of the phases that ran."""
        if not self.times:
            return []
        names = {phase.index: _shown_name(phase) for phase, *_ in self._plan}
        return [(index, names[index], seconds) for index, seconds in sorted(self.times.items())]

    def _is_observed(self) -> bool:
        """Whether anybody looks at what phases do."""
        return bool(self._clock or self._verify or self._dump or self._trace or self._after)

    def _check_time(self, f: Function, ctx: PassContext) -> None:
        """Raises :class:`CompileError` when the time that compilation may take is over."""
        most = int(f.knobs.numbers[knobs.COMPILE_TIMEOUT_MS])
        if most and time.monotonic() - self._started > most / 1000:
            assert ctx.diag is not None
            ctx.diag.error(f"compilation has taken more than {most} ms; '{f.name}' is in {self.running}")
            ctx.diag.check()

    def _run_observed(self, f: Function, ctx: PassContext, behind: int) -> None:
        opened = False
        for phase, run, needs, keeps in self._plan:
            if ctx.recipes is not None and not ctx.recipes.get(phase.index, 1):
                continue
            f.knobs = ctx.knobs.at(f.name, phase.index)
            if f.knobs.conditions[knobs.SKIP_PHASES] and not phase.required:
                continue
            self._check_time(f, ctx)
            self._begun = phase
            ctx.advance(phase.enters)
            if phase.index <= behind:
                opened = opened or phase.ssa == contracts.OPENS
                ctx.advance(phase.leaves)
                continue
            if self._verify:
                contracts.forget_outdated(f)
                contracts.enter(f, self.running, phase.ssa, opened)
            opened = opened or phase.ssa == contracts.OPENS
            before = contracts.epochs(f)
            start = self._clock() if self._clock else 0.0
            contracts.provide(f, ctx, needs)
            changed = run(f, ctx)
            if changed:
                contracts.forget(f, keeps)
            if self._clock:
                self.times[phase.index] = self.times.get(phase.index, 0.0) + self._clock() - start
            ctx.advance(phase.leaves)
            if self._trace:
                self._sink(_traced(f, phase, changed, ctx.progress))
            if phase.index in self._dump:
                progress = f"// progress {ctx.progress}"
                heading = "\n".join([f"// {f.name} after phase {phase.index} {_shown_name(phase)}", *_markers(phase), progress])
                self._sink(f"{heading}\n{self._dump_text(f)}// {END_LABEL % f.name}\n")
            if self._verify:
                self._verify(f, self.running)
                contracts.leave(f, self.running, phase.ssa, opened)
                contracts.check(f, ctx, self.running, keeps, changed, before)
            for told in self._after:
                told(f, ctx, phase.index)


def _traced(f: Function, phase: Phase, changed: bool, progress: int) -> str:
    """The line of a phase that has run. Source: PTX-to-Ori, "Phase 9" (the switch)."""
    what = "changed" if changed else "the same"
    return (
        f"ftrace: {f.name}: phase {phase.index} {_shown_name(phase)}: {what}, {len(all_instructions(f))} instructions in "
        f"{f.blocks()} blocks, progress {progress}"
    )


def _markers(phase: Phase) -> list[str]:
    """The documented headings of a dump, as comments."""
    return [f"// {marker}" for marker in phase.markers]


def _named(phase: Phase) -> str:
    """The name and, where it has one of its own, the function."""
    name = _shown_name(phase)
    return name if phase.name == UNDOCUMENTED else f"{name} ({phase.function})"


def name_of(index: int) -> str:
    """How messages and lists call a phase."""
    return _shown_name(PHASES[index])


def _shown_name(phase: Phase) -> str:
    name: str = phase.name
    if name != UNDOCUMENTED:
        return name
    return f"({phase.function})" if phase.function else f"({UNDOCUMENTED})"
