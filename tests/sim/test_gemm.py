"""Tiled matrix products of nvcc-made cubins: mma.sync with cp.async and ldmatrix, wgmma, tcgen05; one of them large."""

from __future__ import annotations

import time

import numpy as np
import oric.sim
import pytest
from oric.sim import Modes

from tests.sim.vendor_cubins import cubin

KERNELS = [
    ("gemm_warp", "sm_80", 32), ("gemm_warp", "sm_90a", 32), ("gemm_warp", "sm_100a", 32), ("gemm_warp", "sm_120a", 32),
    ("gemm_group", "sm_90a", 64), ("gemm_tensor", "sm_100a", 128),
]  # fmt: skip


def run(kernel: str, target: str, rows: int, shape: tuple[int, int, int], modes: Modes | None = None) -> float:
    """Launch and compare; returns the seconds of the launch."""
    m, n, k = shape
    rng = np.random.default_rng(m)
    a, b = (rng.integers(-4, 5, (size, k)).astype(np.float16) for size in (m, n))
    c = np.zeros((m, n), np.float32)
    module = oric.sim.load(cubin("gemm", target))
    begin = time.perf_counter()
    module.launch(kernel, (n // 64, m // rows), 128, [a.view(np.uint16), b.view(np.uint16), c, n, k], modes=modes)
    seconds = time.perf_counter() - begin
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T)
    return seconds


@pytest.mark.parametrize(("kernel", "target", "rows"), KERNELS)
def test_small(kernel: str, target: str, rows: int) -> None:
    """Strict mode, without a hazard."""
    run(kernel, target, rows, (128, 64, 128))


@pytest.mark.parametrize(("kernel", "target", "rows"), KERNELS)
def test_checked_memory(kernel: str, target: str, rows: int) -> None:
    """No report of the memory checker."""
    m, n, k = 128, 64, 128
    a, b, c = np.ones((m, k), np.float16), np.ones((n, k), np.float16), np.zeros((m, n), np.float32)
    module = oric.sim.load(cubin("gemm", target))
    arguments = [a.view(np.uint16), b.view(np.uint16), c, n, k]
    done = module.launch(kernel, (n // 64, m // rows), 128, arguments, modes=Modes(memcheck=True))
    assert [str(r) for r in done.reports] == []
    assert (c == k).all()


@pytest.mark.measure
@pytest.mark.parametrize(("kernel", "target", "rows"), KERNELS)
def test_large(kernel: str, target: str, rows: int) -> None:
    """256 x 256 x 256 within five seconds."""
    assert run(kernel, target, rows, (256, 256, 256), Modes()) < 5
