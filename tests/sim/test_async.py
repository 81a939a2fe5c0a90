"""Copies of threads and mbarriers, in vendor-made cubins."""

from __future__ import annotations

from typing import Any

import numpy as np
import oric.sim
import pytest

from tests.sim.vendor_cubins import module

Array = np.ndarray[Any, Any]
targets = pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_120a"])


@targets
def test_bytes_left_out_are_zero(target: str) -> None:
    x = np.random.default_rng(1).integers(1, 256, (32, 16), dtype=np.uint8)
    out = np.zeros((32, 2, 16), np.uint8)
    module("async", target).launch("zeros", 1, 32, [x, out])
    for t in range(32):
        wide = x[t].copy()
        wide[16 - t % 17 :] = 0
        parts = np.full(16, 255, np.uint8)
        parts[:8] = np.where(np.arange(8) < 8 - t % 9, x[t, :8], 0)
        parts[8:12] = np.where(np.arange(4) < 4 - t % 5, x[t, 4:8], 0)
        if t & 1:
            parts[12:] = x[t, :4]
        assert out[t].tolist() == [wide.tolist(), parts.tolist()], t


@targets
def test_sources_that_are_ignored(target: str) -> None:
    x = np.random.default_rng(2).integers(1, 256, (32, 16), dtype=np.uint8)
    out = np.zeros((32, 16), np.uint8)
    which = 0x12345678
    module("async", target).launch("ignored", 1, 32, [x, out, which])
    assert (out == x * ((which >> np.arange(32) & 1) == 0)[:, None]).all()


@targets
def test_counts_of_an_mbarrier(target: str) -> None:
    out = np.zeros(16, np.int32)
    module("async", target).launch("counts", 1, 32, [out])
    assert out[:15].tolist() == [7, 6, 4, 0, 3, 1, 1, 1, 0, 4, 3, 2, 0, 1, 1]
    assert out[15] in {4, 5}  # the copies' arrival may be under way


@pytest.mark.parametrize(("kernel", "message"), [("twice", "more arrivals"), ("raw", "no mbarrier")])
def test_misuse_of_an_mbarrier(kernel: str, message: str) -> None:
    with pytest.raises(oric.sim.IllegalInstruction, match=message):
        module("async", "sm_90a").launch(kernel, 1, 32, [])


def test_transactions_of_an_mbarrier() -> None:
    out = np.zeros(6, np.int32)
    module("async", "sm_90a").launch("transactions", 1, 32, [out])
    assert out.tolist() == [0, 0, 0, 1, 0, 1]


@pytest.mark.parametrize("rounds", [1, 2, 9])
def test_waiting_warps_take_turns(rounds: int) -> None:
    out = np.zeros(128, np.int32)
    module("async", "sm_90a").launch("turns", 1, 128, [out, rounds])
    assert (out[:32] == 0).all()
    assert (out[32:] == np.arange(32, 128) * sum(r * r + 1 for r in range(rounds))).all()
