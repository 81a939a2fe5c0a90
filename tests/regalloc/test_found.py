"""Random kernels under pressure that were wrong once, or refused: the same results at every limit."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import oric
import pytest
from oric.sass.check import check_cubin
from oric.sim import Modes
from oric.support import elf

FOUND = sorted((Path(__file__).parent / "found").glob("*.ptx"))
THREADS = 32
WORDS = 256  # of a thread, room for what each of them writes
LIMITS = (24, 25, 27, 32, 40, 64)


def results(path: Path, arch: str, level: int, limit: int | None) -> npt.NDArray[np.uint32]:
    """What the kernel ``k(in, out)`` writes; its allocation is proved on the way as in all tests."""
    image = oric.compile(path.read_text(), arch=arch, opt_level=level, maxrregcount=limit).image
    report = check_cubin(elf.read(image))
    assert (report.findings, report.unknown) == ([], [])
    data = np.random.default_rng(16).integers(0, 1 << 32, (THREADS, WORDS), np.uint32)
    out = np.zeros((THREADS, WORDS), np.uint32)
    modes = Modes(strict=True, memcheck=True)
    done = oric.sim.load(image).launch("k", grid=(1, 1, 1), block=(THREADS, 1, 1), args=[data, out], modes=modes)
    assert not done.reports
    return out


@cache
def unlimited(path: Path) -> npt.NDArray[np.uint32]:
    return results(path, "sm_80", 0, None)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_a_kernel_at_few_limits(path: Path) -> None:
    for level, limit in ((0, 24), (0, 25), (2, 24), (3, 40)):
        assert np.array_equal(results(path, "sm_90", level, limit), unlimited(path))


@pytest.mark.measure
@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("level", range(4))
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_kernels_at_every_limit(path: Path, arch: str, level: int, limit: int) -> None:
    assert np.array_equal(results(path, arch, level, limit), unlimited(path))
