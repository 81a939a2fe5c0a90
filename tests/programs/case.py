"""The programs of the folder ``sources``: NAME.cu holds kernels, NAME.py the launch of each, as in tests/sim/suite."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.sim.suite.case import TARGETS, Array, Case, Close, Entry, longs, out, s32, words

__all__ = ("PROGRAMS", "SOURCES", "TARGETS", "Array", "Case", "Close", "Entry", "longs", "out", "program", "s32", "words")

SOURCES = Path(__file__).resolve().with_name("sources")
PROGRAMS: dict[str, Entry] = {}
Build = Callable[[Any], Case]


def program(since: int = 75, name: str = "") -> Callable[[Build], Build]:
    """Register the launch of the kernel with the function's name, or ``name``; ``since``: the lowest SM number that has it."""

    def register(build: Build) -> Build:
        targets = tuple(t for t in TARGETS if int(t[3:].rstrip("a")) >= since)
        source = sys.modules[build.__module__].__name__.rsplit(".", 1)[-1]
        kernel = name or build.__name__
        assert kernel not in PROGRAMS, kernel
        PROGRAMS[kernel] = Entry(source, kernel, targets, build)
        return build

    return register
