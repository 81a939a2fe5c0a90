"""Looking at functions between phases."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from oric.inside.facts import Facts
from oric.ir.function import Function
from oric.ir.passes import PassContext
from oric.ir.text import write_with_notes
from oric.phases.backend import phase_functions
from oric.phases.manager import PhaseManager, list_phases, select

from .options import CompileOptions


class Observer(NamedTuple):
    """Who wants to look: ``seen`` is called with every function behind each of ``phases`` (names or numbers, ``all``; none: the
    last one that runs), and with the seconds that the phase took, 0 where they are not taken (``CompileOptions.time_phases``).

    What is looked at stays as it is.
    """

    phases: tuple[str, ...]
    seen: Callable[[Function, Facts, float], None]


class Observation:
    """An observer at work on one compilation: what the phase manager gets for its dumps.

    Raises:
        ValueError: a phase that there is not, or that does not run with these options.
    """

    def __init__(self, options: CompileOptions, observer: Observer) -> None:
        self._options = options
        self._seen = observer.seen
        runs = [index for index, _, running in _listed(options) if running]
        self._wanted = select(observer.phases) if observer.phases else frozenset(runs[-1:])
        for index in sorted(self._wanted):
            if "all" not in observer.phases and index not in runs:
                name = next(name for number, name, _ in _listed(options) if number == index)
                raise ValueError(f"phase {index} {name} does not run with these options (see --list-phases)")
        self._dumped = select(options.dump)
        self._manager: PhaseManager | None = None
        self._context: PassContext | None = None
        self._silent = False
        self._times: dict[int, float] = {}

    @property
    def phases(self) -> Collection[str]:
        """The phases behind which the manager is to call :meth:`text`."""
        return [str(index) for index in sorted(self._wanted | self._dumped)]

    def begin(self, manager: PhaseManager) -> None:
        """The manager that runs the phases."""
        self._manager = manager

    def enter(self, context: PassContext) -> None:
        """What the phases get that run next."""
        self._context = context

    def text(self, f: Function) -> str:
        """Let the observer look; returns the text of a dump that was asked for besides."""
        assert self._manager is not None and self._context is not None
        _, number, name = self._manager.running.split(" ", 2)
        index = int(number)
        total = self._manager.times.get(index, 0.0)
        if index in self._wanted:
            facts = Facts(self._options.target, index, name, dict(self._context.stats))
            self._seen(f, facts, total - self._times.get(index, 0.0))
        self._times[index] = total
        self._silent = index not in self._dumped
        return "" if self._silent else write_with_notes(f)

    def sink(self, text: str) -> None:
        """Pass on what was asked for besides."""
        if not self._silent:
            self._options.dump_sink(text)
        self._silent = False


def _listed(options: CompileOptions) -> list[tuple[int, str, bool]]:
    return list_phases(options.opt_level, phase_functions(options.target), options.nvopt, options.disabled)
