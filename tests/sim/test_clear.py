"""Shared memory that ptxas's code clears."""

from __future__ import annotations

import numpy as np
import pytest
from oric.sim import Modes

from tests.sim import vendor_cubins

targets = pytest.mark.parametrize("target", ["sm_100a", "sm_120a"])
modes = pytest.mark.parametrize("mode", [Modes(), Modes(strict=True), Modes(memcheck=True)], ids=["plain", "strict", "memcheck"])
THREADS, WORDS = 64, 1024


@targets
@modes
def test_every_thread_clears_its_part(target: str, mode: Modes) -> None:
    """In a loop over the different values."""
    out = np.zeros(WORDS, np.uint32)
    sizes = 8 * np.arange(THREADS) % 56
    rows = np.stack([64 * np.arange(THREADS), sizes], 1).astype(np.uint32)
    done = vendor_cubins.module("clear", target).launch("parts", 1, THREADS, [out, rows], modes=mode)
    want = np.arange(1, WORDS + 1)
    for start, size in rows.tolist():
        want[start // 4 : (start + size) // 4] = 0
    assert out.tolist() == want.tolist()
    assert not done.reports


@targets
@modes
def test_order_with_other_accesses(target: str, mode: Modes) -> None:
    out = np.zeros(8, np.uint32)
    done = vendor_cubins.module("clear", target).launch("order", 1, 1, [out, np.uint64(16)], modes=mode)
    assert out.tolist() == [2, 0, 0, 0, 9, 7, 0, 0]
    assert not done.reports
