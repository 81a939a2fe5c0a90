"""The functional simulator: runs cubins, ours or the vendor's, from their machine words.

    mod = oric.sim.load(image)
    mod.launch("saxpy", grid=(4, 1, 1), block=(256, 1, 1), args=[n, 2.0, x, y])

numpy is imported here and nowhere else in the package.
"""

from __future__ import annotations

from .errors import (
    AssertionFailed,
    BadFree,
    Deadlock,
    ExecutionError,
    IllegalInstruction,
    LaunchError,
    LoadError,
    Misaligned,
    OutOfBounds,
    SimError,
    StepLimit,
    TimeLimit,
    Trap,
    Unsupported,
    WildBranch,
)
from .modes import Modes
from .module import Buffer, Module, load
from .reports import Kind, Report
from .tensor import tensor_map, tensor_map_im2col
from .texture import Sampling, Texture
from .timing import Stalls, Timing, WarpTime

__all__ = [
    "AssertionFailed",
    "BadFree",
    "Buffer",
    "Deadlock",
    "Event",
    "ExecutionError",
    "IllegalInstruction",
    "Kind",
    "LaunchError",
    "LoadError",
    "Misaligned",
    "Modes",
    "Module",
    "OutOfBounds",
    "Report",
    "Sampling",
    "SimError",
    "Stalls",
    "Statistics",
    "StepLimit",
    "Stream",
    "Texture",
    "TimeLimit",
    "Timing",
    "Traffic",
    "Trap",
    "Unsupported",
    "WarpTime",
    "WildBranch",
    "load",
    "tensor_map",
    "tensor_map_im2col",
]
