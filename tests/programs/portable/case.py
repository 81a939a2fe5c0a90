"""The programs of this folder: NAME.cu holds kernels, NAME.ptx what nvcc makes of it for the oldest target, NAME.py the launches.

PTX without a CUDA source beside it is written by hand, or by the NAME.py that launches it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.ptx_text import kernels
from tests.sim.suite.case import Case, Close, Entry, longs, out, s32, words

__all__ = ("HERE", "TARGETS", "Case", "Close", "Entry", "head", "longs", "module", "out", "program", "programs", "s32", "words")

HERE = Path(__file__).resolve().parent
TARGETS = ("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")
_PROGRAMS: dict[str, Entry] = {}
_TEXTS: dict[str, Callable[[], str]] = {}
Build = Callable[[Any], Case]


def head(since: int = 75) -> str:
    """The first lines of a module."""
    return f".version 9.0\n.target sm_{since}\n.address_size 64\n"


def program(text: Callable[[], str] | None = None, since: int = 75) -> Callable[[Build], Build]:
    """Register the launch of the kernel with the function's name.

    Args:
        text: writes the module; without it the kernel is in NAME.ptx.
        since: the lowest SM number that has it.
    """

    def register(build: Build) -> Build:
        name = build.__name__
        assert name not in _PROGRAMS, name
        source = sys.modules[build.__module__].__name__.rsplit(".", 1)[-1]
        _PROGRAMS[name] = Entry(source, name, tuple(t for t in TARGETS if int(t[3:]) >= since), build)
        if text:
            _TEXTS[name] = text
        return build

    return register


@cache
def programs() -> dict[str, Entry]:
    """All of them by name."""
    for path in sorted(HERE.glob("*.py")):
        if path.stem not in ("__init__", "__main__", "case", "measure") and not path.stem.startswith("test_"):
            import_module(f"tests.programs.portable.{path.stem}")
    return _PROGRAMS


@cache
def _stored(source: str) -> dict[str, str]:
    return kernels((HERE / f"{source}.ptx").read_text(encoding="utf-8"))


def module(name: str, target: str) -> str:
    """The PTX of a program for a target."""
    text = _TEXTS[name]() if name in _TEXTS else _stored(programs()[name].source)[name]
    return re.sub(r"^\.target \w+", f".target {target}", text, count=1, flags=re.M)
