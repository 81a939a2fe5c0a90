"""Kernels of :mod:`call_programs` in the simulator."""

from __future__ import annotations

from functools import cache

import numpy as np
import oric.sim
from oric.sim import Modes

from .call_programs import HEAD, THREADS, Program

STRICT = Modes(strict=True, memcheck=True)


def text(program: Program, target: str) -> str:
    return HEAD.format(target=target) + program.text


@cache
def inputs() -> list[int]:
    return [int(x) for x in np.random.default_rng(3).integers(0, 1 << 16, THREADS)]


@cache
def wanted(program: Program) -> list[int]:
    return [program.want(inputs(), t) for t in range(THREADS)]


def run(image: bytes, modes: Modes = STRICT, stack_bytes: int = 0) -> tuple[list[int], list[str], str]:
    """What the threads of ``k`` wrote, the reports of the simulator, what the kernel printed."""
    out, data = np.zeros(THREADS, np.uint32), np.array(inputs(), np.uint32)
    module = oric.sim.load(image)
    grid, block = (1, 1, 1), (THREADS, 1, 1)
    done = module.launch("k", grid=grid, block=block, args=[out, data], modes=modes, stack_bytes=stack_bytes)
    return [int(x) for x in out], [str(report) for report in done.reports], done.printed


def launch(image: bytes, modes: Modes = STRICT, stack_bytes: int = 0) -> tuple[list[int], list[str]]:
    """:func:`run` without what was printed."""
    return run(image, modes, stack_bytes)[:2]
