"""Kernels that need many registers, at every limit: proved, strict, and right."""

from __future__ import annotations

import numpy as np
import oric
import pytest
from oric.sass.check import check_cubin
from oric.sim import Modes
from oric.support import elf

from tests.regalloc.heavy import dgemm, fft64, interpreter, sha512

THREADS = 32
TARGETS = ("sm_80", "sm_90")
LIMITS = (None, 24, 32, 40, 64)


def image(text: str, arch: str, level: int, limit: int | None) -> bytes:
    done = oric.compile(text, arch=arch, opt_level=level, maxrregcount=limit)
    assert done.kernels["heavy"].registers <= (limit or 255)
    report = check_cubin(elf.read(done.image))
    assert (report.findings, report.unknown) == ([], [])
    made: bytes = done.image
    return made


def check_sha512(arch: str, level: int, limit: int | None) -> None:
    blocks, digests = sha512.data(THREADS)
    out = np.zeros_like(digests)
    modes = Modes(strict=True, memcheck=True)
    module = oric.sim.load(image(sha512.ptx(arch), arch, level, limit))
    module.launch("heavy", grid=(1, 1, 1), block=(THREADS, 1, 1), args=[blocks, out], modes=modes)
    assert np.array_equal(out, digests)


def check_fft64(arch: str, level: int, limit: int | None) -> None:
    given, made = fft64.data(THREADS)
    modes = Modes(strict=True, memcheck=True)
    module = oric.sim.load(image(fft64.ptx(arch), arch, level, limit))
    module.launch("heavy", grid=(1, 1, 1), block=(THREADS, 1, 1), args=[given], modes=modes)
    assert np.allclose(given, made, rtol=1e-4, atol=1e-4)


def check_dgemm(arch: str, level: int, limit: int | None) -> None:
    factors, product = dgemm.data(THREADS)
    out = np.zeros_like(product)
    modes = Modes(strict=True, memcheck=True)
    module = oric.sim.load(image(dgemm.ptx(arch), arch, level, limit))
    module.launch("heavy", grid=(1, 1, 1), block=(THREADS, 1, 1), args=[*factors, out], modes=modes)
    assert np.array_equal(out, product)


def check_interpreter(arch: str, level: int, limit: int | None) -> None:
    (programs, state), after = interpreter.data(THREADS)
    modes = Modes(strict=True, memcheck=True)
    module = oric.sim.load(image(interpreter.ptx(arch), arch, level, limit))
    module.launch("heavy", grid=(1, 1, 1), block=(THREADS, 1, 1), args=[programs, state], modes=modes)
    assert np.array_equal(state, after)


CHECKS = {"sha512": check_sha512, "fft64": check_fft64, "dgemm": check_dgemm, "interpreter": check_interpreter}


@pytest.mark.parametrize("name", CHECKS)
def test_a_heavy_kernel(name: str) -> None:
    CHECKS[name]("sm_90", 3, 40)


@pytest.mark.measure
@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("arch", TARGETS)
@pytest.mark.parametrize("name", CHECKS)
def test_heavy_kernels(name: str, arch: str, level: int, limit: int | None) -> None:
    CHECKS[name](arch, level, limit)
