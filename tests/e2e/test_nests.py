"""Nests of loops and branches in which every thread takes its own way: threads meet again as early as in ptxas's code."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import oric
import pytest
from oric.cli import main
from oric.sim import Modes

from tests.kernels import cases

KERNELS = (
    "nested_break",
    "break_two",
    "with_continue",
    "return_inside",
    "fallthrough",
    "collatz_nest",
    "shared_tail",
    "short_circuit",
    "deep6_goto",
    "deep20",
)
TURNS = 12


@cache
def image(target: str, level: int) -> bytes:
    return oric.compile(cases.ptx("nests", target), arch=target, opt_level=level, verify=True).image


def launch(image: bytes, kernel: str, modes: Modes) -> tuple[Any, Any]:
    """The results of two blocks, and what the launch did."""
    data = np.random.default_rng(5).integers(0, 1 << 20, 1024, dtype=np.int32)
    out = np.zeros(2048, np.int32)
    args = [out, data, np.int32(TURNS)]
    done = oric.sim.load(image).launch(kernel, grid=(2, 1, 1), block=(128, 1, 1), args=args, modes=modes)
    return out, done


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("target", cases.TARGETS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_threads_meet_as_in_the_code_of_ptxas(kernel: str, target: str, level: int) -> None:
    """The same results, in at most a tenth more cycles, by warps that are as full; also without optimization."""
    want, theirs = launch(cases.golden_cubin("nests", target), kernel, Modes(timing=True))
    got, ours = launch(image(target, level), kernel, Modes(timing=True))
    assert (got == want).all()
    assert ours.active_share >= 0.95 * theirs.active_share
    if level:
        assert ours.timing.cycles <= 1.1 * theirs.timing.cycles


@pytest.mark.parametrize("target", cases.TARGETS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_without_hazards(kernel: str, target: str) -> None:
    """Barriers that move through registers are waited for."""
    _, done = launch(image(target, 3), kernel, Modes(strict=True))
    assert [str(report) for report in done.reports] == []


def test_a_barrier_kept_in_a_register(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """More than 16 regions nest: the outermost ones are kept in registers, and the last barrier serves them all."""
    path = tmp_path / "nests.cubin"
    path.write_bytes(image("sm_90", 3))
    assert main(["disasm", str(path)]) == 0
    text = capsys.readouterr().out
    inside = text[text.index(".text.deep20:") :]
    assert "BMOV.32.CLEAR" in inside and "BMOV.32 B15" in inside
