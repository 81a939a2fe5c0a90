"""Calls that stay calls: recursion, pointers to functions, the calling convention."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import oric
import pytest
from oric.sass.check import check_cubin
from oric.sim import Modes
from oric.support.elf import read

from . import call_programs
from .call_programs import PROGRAMS, THREADS

TARGETS = ("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")
LIMITS = (None, 24, 32, 64)


def text(name: str, target: str) -> str:
    return call_programs.HEAD.format(target=target) + PROGRAMS[name].text


@cache
def inputs() -> list[int]:
    return [int(x) for x in np.random.default_rng(3).integers(0, 1 << 16, THREADS)]


@cache
def wanted(name: str) -> list[int]:
    return [PROGRAMS[name].want(inputs(), t) for t in range(THREADS)]


def launch(image: bytes, modes: Modes) -> tuple[list[int], list[str]]:
    out, data = np.zeros(THREADS, np.uint32), np.array(inputs(), np.uint32)
    done = oric.sim.load(image).launch("k", grid=(1, 1, 1), block=(THREADS, 1, 1), args=[out, data], modes=modes)
    return [int(x) for x in out], [str(report) for report in done.reports]


@pytest.mark.parametrize("level", [0, 1, 3])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, target: str, level: int) -> None:
    """Right, without hazards, whatever limits the registers."""
    for limit in LIMITS:
        image = oric.compile(text(name, target), arch=target, opt_level=level, maxrregcount=limit, verify=True).image
        assert launch(image, Modes(strict=True, memcheck=True)) == (wanted(name), []), limit
        assert check_cubin(read(image)).findings == [], limit


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_120"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_ptxas_means_the_same(name: str, target: str, tmp_path: Path, ptxas: str) -> None:
    (tmp_path / "k.ptx").write_text(text(name, target))
    subprocess.run([ptxas, f"-arch={target}", "k.ptx", "-o", "k.cubin"], cwd=tmp_path, check=True)
    assert launch((tmp_path / "k.cubin").read_bytes(), Modes())[0] == wanted(name)
