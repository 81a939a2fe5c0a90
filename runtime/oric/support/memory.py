"""The memory of the process."""

from __future__ import annotations

import resource
import sys
from typing import Final

_UNIT: Final = 1024 if sys.platform == "darwin" else 1  # of ru_maxrss, in KB
_STATUS: Final = "/proc/self/status"
_PEAK: Final = "VmHWM:"  # in KB


def peak_memory() -> float:
    """The most memory that the process has had so far, in KB.

    Linux hands what ``ru_maxrss`` tells on to the program that a process becomes: there the figure is that of ``/proc``, which
    begins anew with each program.
    """
    try:
        with open(_STATUS, encoding="ascii") as file:
            for line in file:
                if line.startswith(_PEAK):
                    return float(line.split()[1])
    except OSError:
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _UNIT
