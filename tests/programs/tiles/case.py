"""The kernels of this folder: NAME.cu holds them, tests/data/programs/tiles.tar.xz their PTX, NAME.py the launches."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.programs import archive
from tests.ptx_text import kernels
from tests.sim.suite.case import Array, Case, Close, Entry, Tensor, out

__all__ = (
    "FILE",
    "HERE",
    "TARGETS",
    "Array",
    "Case",
    "Close",
    "Entry",
    "Tensor",
    "module",
    "out",
    "padded",
    "program",
    "programs",
)

HERE = Path(__file__).resolve().parent
FILE = archive.DATA / "tiles.tar.xz"
TARGETS = ("sm_80", "sm_89", "sm_90", "sm_100", "sm_120")
OWN = {"90a": ("sm_90a",), "100a": ("sm_100a", "sm_103a", "sm_110a"), "120a": ("sm_120a", "sm_121a")}  # what only these have
_PROGRAMS: dict[str, Entry] = {}
Build = Callable[[Any], Case]


def program(since: int | str = 80) -> Callable[[Build], Build]:
    """Register the launch of the kernel with the function's name.

    Args:
        since: the lowest SM number that has it, or the name of what only some have ("90a").
    """

    def register(build: Build) -> Build:
        name = build.__name__
        assert name not in _PROGRAMS, name
        source = sys.modules[build.__module__].__name__.rsplit(".", 1)[-1]
        targets = OWN[since] if isinstance(since, str) else tuple(t for t in TARGETS if int(t[3:]) >= since)
        _PROGRAMS[name] = Entry(source, name, targets, build)
        return build

    return register


@cache
def programs() -> dict[str, Entry]:
    """All of them by name."""
    for path in sorted(HERE.glob("*.cu")):
        import_module(f"tests.programs.tiles.{path.stem}")
    return _PROGRAMS


@cache
def _stored(source: str) -> dict[str, str]:
    return kernels(archive.read(FILE)[f"{source}.ptx"])


def module(name: str, target: str) -> str:
    """The PTX of a kernel for a target."""
    return re.sub(r"^\.target \w+", f".target {target}", _stored(programs()[name].source)[name], count=1, flags=re.M)


def padded(matrix: Array, pieces: int = 16) -> Array:
    """A matrix whose rows are whole pieces of 16 bytes; what is behind their ends no kernel may use."""
    wide = -(-matrix.shape[1] * matrix.itemsize // pieces) * pieces // matrix.itemsize
    made = out((len(matrix), wide), matrix.dtype)
    made[:, : matrix.shape[1]] = matrix
    return made
