"""How long the stages of a compilation took, and how much memory the process had grown by at the end of each.

The documented timers are two: DAGgen, the construction of the code by the parser's actions up to the last operand, and OCG, all
that follows. Source: PTX-to-Ori, "Timing Boundary".
"""

from __future__ import annotations

import time
from typing import Final

from oric.support.memory import peak_memory

SETUP: Final = "CompileUnitSetup"
DAGGEN: Final = "DAGgen"
OCG: Final = "OCG"
ELF: Final = "ELF"


class Stages:
    """Seconds and kilobytes by stage; every moment between the start and :attr:`end` belongs to one stage."""

    __slots__ = ("_last", "_peak", "kilobytes", "seconds")

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.kilobytes: dict[str, float] = {}
        self._last = time.perf_counter()
        self._peak = peak_memory()

    def finished(self, stage: str) -> float:
        """What happened since the last call was that stage; returns its seconds."""
        now, peak = time.perf_counter(), peak_memory()
        took = now - self._last
        self.seconds[stage] = self.seconds.get(stage, 0.0) + took
        self.kilobytes[stage] = self.kilobytes.get(stage, 0.0) + peak - self._peak
        self._last, self._peak = now, peak
        return took
