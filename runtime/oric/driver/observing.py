"""Looking at functions between phases."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from oric.inside.facts import Facts
from oric.ir.function import Function
from oric.ir.passes import PassContext
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
    """An observer at work on one compilation.

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
        self.manager: PhaseManager | None = None  # the one that runs the phases
        self._names = {index: name for index, name, _ in _listed(options)}
        self._times: dict[int, float] = {}

    def after(self, f: Function, context: PassContext, index: int) -> None:
        """Let the observer look at a function behind a phase."""
        assert self.manager is not None
        total = self.manager.times.get(index, 0.0)
        if index in self._wanted:
            facts = Facts(self._options.target, index, self._names[index], dict(context.stats))
            self._seen(f, facts, total - self._times.get(index, 0.0))
        self._times[index] = total


def _listed(options: CompileOptions) -> list[tuple[int, str, bool]]:
    return list_phases(options.opt_level, phase_functions(options.target), options.nvopt, options.disabled)
