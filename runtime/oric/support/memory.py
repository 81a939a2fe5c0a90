"""The memory of the process."""

from __future__ import annotations

import resource
import sys
from typing import Final

_UNIT: Final = 1024 if sys.platform == "darwin" else 1  # of ru_maxrss, in KB


def peak_memory() -> float:
    """The most memory that the process has had so far, in KB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _UNIT
