"""How long the stages of a compilation took, and how much memory the process had grown by at the end of each.

The documented timers are two: DAGgen, the construction of the code by the parser's actions up to the last operand, and OCG, all
that follows. Source: PTX-to-Ori, "Timing Boundary".
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from oric.support.memory import peak_memory

SETUP: Final = "CompileUnitSetup"
DAGGEN: Final = "DAGgen"
OCG: Final = "OCG"
ELF: Final = "ELF"


class Stages:
    """Seconds and kilobytes by stage; every moment from the start to the last call of :meth:`finished` belongs to one stage.

    ``inlining``: seconds of DAGgen in which bodies of functions took the place of their calls.
    """

    __slots__ = ("_clock", "_last", "_peak", "inlining", "kilobytes", "seconds")

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self.inlining = 0.0
        self.seconds: dict[str, float] = {}
        self.kilobytes: dict[str, float] = {}
        self._last = clock()
        self._peak = peak_memory()

    def finished(self, stage: str) -> float:
        """What happened since the last call was that stage; returns its seconds."""
        now, peak = self._clock(), peak_memory()
        took = now - self._last
        self.seconds[stage] = self.seconds.get(stage, 0.0) + took
        self.kilobytes[stage] = self.kilobytes.get(stage, 0.0) + peak - self._peak
        self._last, self._peak = now, peak
        return took
