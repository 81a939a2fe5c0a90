"""Kernels that need many registers, at every limit: proved, strict, and right."""

from __future__ import annotations

from typing import Any

import numpy as np
import oric
import pytest
from oric.sass.check import check_cubin
from oric.sim import Modes
from oric.support import elf

from tests.regalloc.heavy import aes, dgemm, fft64, interpreter, sha512

THREADS = 32
TARGETS = ("sm_80", "sm_90")
LIMITS = (None, 24, 32, 40, 64)
KERNELS: dict[str, Any] = {"aes": aes, "sha512": sha512, "fft64": fft64, "dgemm": dgemm, "interpreter": interpreter}


def image(text: str, arch: str, level: int, limit: int | None) -> bytes:
    done = oric.compile(text, arch=arch, opt_level=level, maxrregcount=limit)
    assert done.kernels["heavy"].registers <= (limit or 255)
    report = check_cubin(elf.read(done.image))
    assert (report.findings, report.unknown) == ([], [])
    made: bytes = done.image
    return made


def check(name: str, arch: str, level: int, limit: int | None) -> None:
    kernel = KERNELS[name]
    args, want = kernel.data(THREADS)
    modes = Modes(strict=True, memcheck=True)
    module = oric.sim.load(image(kernel.ptx(arch), arch, level, limit))
    module.launch("heavy", grid=(1, 1, 1), block=(THREADS, 1, 1), args=args, modes=modes)
    if want.dtype == np.float32:  # rounded otherwise on the other way
        assert np.allclose(args[-1], want, rtol=1e-4, atol=1e-4)
    else:
        assert np.array_equal(args[-1], want)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", KERNELS)
def test_a_heavy_kernel(name: str) -> None:
    check(name, "sm_90", 3, 40)


@pytest.mark.measure
@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("arch", TARGETS)
@pytest.mark.parametrize("name", KERNELS)
def test_heavy_kernels(name: str, arch: str, level: int, limit: int | None) -> None:
    check(name, arch, level, limit)
