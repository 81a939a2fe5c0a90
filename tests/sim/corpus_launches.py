"""Launches of the corpus's ptxas-made kernels, which are made to be looked at and not to compute: pointers into one buffer, small
numbers. Many of them end; what they compute does not matter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import oric.sim
from oric.sim.errors import SimError
from oric.sim.modes import Modes
from oric.sim.reports import Report, reports_of
from oric.support import elf

from tests.corpus import golden, targets
from tests.kernels.cases import Step

THREADS = 64
MAX_STEPS = 5000
_WORDS = 1 << 14


def _arguments(function: elf.Function) -> list[Any]:
    buffer = np.arange(_WORDS, dtype=np.uint32) % 251
    return [
        buffer if p.size == 8 else 3 if p.size == 4 else bytes(p.size) for p in sorted(function.params, key=lambda p: p.ordinal)
    ]


def step(function: elf.Function) -> Step:
    """One launch of a kernel."""
    return Step(function.name, (1, 1, 1), (THREADS, 1, 1), _arguments(function), {})


@dataclass(frozen=True)
class Kernel:
    """A kernel of the corpus."""

    target: str
    image: bytes
    function: elf.Function

    def run(self, modes: Modes) -> tuple[bool, tuple[Report, ...]]:
        """Whether a launch comes to its end, and what it reports."""
        made = step(self.function)
        try:
            module = oric.sim.load(self.image)
        except SimError:
            return False, ()
        try:
            done = module.launch(made.kernel, made.grid, made.block, made.args, max_steps=MAX_STEPS, modes=modes)
        except SimError:
            return False, reports_of(module.image, made.kernel, [])
        return True, done.reports


def kernels(target: str, every: int = 1) -> Iterator[Kernel]:
    """Every n-th kernel of the corpus for a target."""
    found = [c for c in golden.cubins(targets.model_of(target)) if c.target == target]
    for number, cubin in enumerate(found):
        if number % every == 0:
            for function in elf.read(cubin.image).kernels.values():
                yield Kernel(target, cubin.image, function)
