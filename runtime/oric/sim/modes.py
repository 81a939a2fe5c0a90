"""What a launch does besides running."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from oric_tables.numbers import SIM_MEMCHECK, SIM_PERTURB, SIM_STEPS, SIM_STRICT, SIM_TIMING


@dataclass(frozen=True)
class Modes:
    """Modes of a launch (docs/simulator.md).

    Attributes:
        strict: results become visible as late as the scheduling bits allow; who is too early is reported and gets the old value.
        memcheck: memory faults, races, uninitialised reads and barrier errors are reported, and the launch goes on.
        timing: count cycles.
        perturb: a seed; moves every result that the hardware does not promise exactly within its tolerance. None: off.
        steps: keep what every warp executed (``Statistics.steps``).
        workers: host threads that run CTAs; 0: as many as the machine gives this process.
    """

    strict: bool = False
    memcheck: bool = False
    timing: bool = False
    perturb: int | None = None
    workers: int = 0
    steps: bool = False

    def fill(self, record: Any) -> None:
        """Set the fields of a launch record (``oric_sim_launch *``)."""
        record.modes = SIM_STRICT * self.strict | SIM_MEMCHECK * self.memcheck | SIM_TIMING * self.timing | SIM_STEPS * self.steps
        record.modes |= SIM_PERTURB * (self.perturb is not None)
        record.seed = (self.perturb or 0) & 0xFFFFFFFF
        record.workers = self.workers or len(os.sched_getaffinity(0))
