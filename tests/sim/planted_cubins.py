"""The cubins of tests/sim/planted, which nvcc 13.0 made from the sources there, and where in these the faults stand."""

from __future__ import annotations

import lzma
from functools import cache
from pathlib import Path
from typing import Any

import oric.sim
import pytest
from oric.sim import Kind, Modes, Report

PLANTED = Path(__file__).resolve().parent / "planted"
LIBRARY = ("sm_80", "sm_90")  # of what the tests take from other places
TARGETS = ("sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a")
_ALWAYS = {"sm_80", "sm_90a"}  # the others in `make measure`


def on(*names: str) -> pytest.MarkDecorator:
    """The test runs on these targets, on some of them in `make measure` only."""
    return pytest.mark.parametrize("target", [n if n in _ALWAYS else pytest.param(n, marks=pytest.mark.measure) for n in names])


@cache
def cubin(name: str, target: str) -> bytes:
    """The bytes of a cubin."""
    return lzma.decompress((PLANTED / f"{name}.{target}.cubin.xz").read_bytes())


def module(name: str, target: str) -> oric.sim.Module:
    """A cubin, freshly loaded."""
    return oric.sim.load(cubin(name, target))


@cache
def lines_with(name: str, text: str) -> frozenset[int]:
    """Numbers of the lines of a source that contain a text."""
    source = (PLANTED / f"{name}.cu").read_text(encoding="utf-8").splitlines()
    found = frozenset(number for number, line in enumerate(source, 1) if text in line)
    assert found, f"{name}.cu has no line with '{text}'"
    return found


def lines(report: Report, first: bool = False) -> set[int]:
    """The source lines of a report: of its instruction, or of the earlier one."""
    return {place.line for place in (report.first_sources if first else report.sources)}


def check(loaded: oric.sim.Module, kernel: str, args: list[Any], grid: Any = 1, block: Any = 64, shared: int = 0) -> list[Report]:
    """Reports of a launch with the memory checker, also when it ends with a deadlock."""
    try:
        done = loaded.launch(kernel, grid, block, args, shared_bytes=shared, modes=Modes(memcheck=True), max_steps=1 << 20)
    except oric.sim.Deadlock as error:
        return list(error.reports)
    return list(done.reports)


def of_kind(reports: list[Report], kind: Kind) -> list[Report]:
    """Those reports."""
    return [r for r in reports if r.kind == kind]
