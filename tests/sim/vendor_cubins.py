"""The cubins of tests/sim/vendor, which nvcc and ptxas 13.0 made from the sources there."""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import Any

import oric.sim
from oric.sim import Modes

VENDOR = Path(__file__).resolve().parent / "vendor"
TARGETS = ("sm_80", "sm_90")


def cubin(name: str, target: str) -> bytes:
    """The bytes of a cubin."""
    return lzma.decompress((VENDOR / f"{name}.{target}.cubin.xz").read_bytes())


def module(name: str, target: str) -> oric.sim.Module:
    """A cubin, freshly loaded."""
    return oric.sim.load(cubin(name, target))


def run(
    loaded: oric.sim.Module, kernel: str, count: int, args: list[Any], block: int = 64, modes: Modes | None = None
) -> oric.sim.Statistics:
    """Launch a one-dimensional kernel over `count` threads."""
    return loaded.launch(kernel, -(-count // block), min(block, count), args, modes=modes or Modes())
