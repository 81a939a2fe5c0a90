"""What a phase gets besides the function that it works on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from oric_tables.phases import COMPLETE

from oric.support.diagnostics import InternalError

from .function import Function
from .knobs import UNSET, KnobSettings
from .module import Module

if TYPE_CHECKING:
    from oric_tables.targets import Target

    from oric.support.diagnostics import Diagnostics


class PassContext:
    """The surroundings of a phase.

    ``maxrregcount`` is the ceiling of registers per thread that the command line asks for, None without one. ``stats``
    collects counts that phases report, by name. ``verify``: phases prove what they do, as far as they can. ``register_usage``:
    how freely registers may be used, 0 to 10. ``reports``: registers that may be read before they are written are named.
    ``contract``: products and sums are fused. ``nvopt``: the NvOpt level that is asked for, None for none; ``recipes``: what
    phase 1 has made of it, by index of the phase: 0 for those that do not run, else how much they may do; None: none count.
    ``knobs``: what the phase manager gives functions their values from. ``progress``: the counter of pipeline progress, which the
    phase manager keeps; outside of a pipeline it is complete.
    """

    __slots__ = (
        "contract",
        "diag",
        "knobs",
        "maxrregcount",
        "module",
        "nvopt",
        "opt_level",
        "progress",
        "recipes",
        "register_usage",
        "reports",
        "stats",
        "target",
        "verify",
    )

    def __init__(
        self,
        target: Target,
        module: Module,
        opt_level: int = 3,
        diag: Diagnostics | None = None,
        maxrregcount: int | None = None,
        verify: bool = False,
        register_usage: int = 5,
        reports: bool = False,
        contract: bool = False,
        nvopt: int | None = None,
        knobs: KnobSettings = UNSET,
    ) -> None:
        self.target = target
        self.module = module
        self.opt_level = opt_level
        self.diag = diag
        self.maxrregcount = maxrregcount
        self.verify = verify
        self.register_usage = register_usage
        self.reports = reports
        self.contract = contract
        self.nvopt = nvopt
        self.knobs = knobs
        self.recipes: Mapping[int, int] | None = None
        self.progress = COMPLETE
        self.stats: dict[str, int] = {}

    def has_own_bank(self, f: Function) -> bool:
        """Whether a function has a constant bank for what the compiler wants there: bank 2 is that of the kernel."""
        return self.module.own_bank and f.is_entry and not f.subroutine

    def advance(self, value: int) -> None:
        """Set the counter of progress. Source: Data Structures, "Pipeline Progress Counter".

        Raises:
            InternalError: it would go back.
        """
        if value < self.progress:
            raise InternalError(f"the progress of the pipeline would go back from {self.progress} to {value}")
        self.progress = value

    def past(self, gate: int) -> bool:
        """Whether the counter has passed a gate of ``spec/progress.yaml``."""
        return self.progress > gate

    def count(self, name: str, number: int = 1) -> None:
        """Add to a statistic."""
        self.stats[name] = self.stats.get(name, 0) + number


# A phase returns whether it changed the code.
PassFunction = Callable[[Function, PassContext], bool]
