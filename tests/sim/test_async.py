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
@pytest.mark.parametrize("tiles", [1, 2, 3, 8])
def test_stages_of_copies(target: str, tiles: int) -> None:
    x = np.random.default_rng(tiles).integers(-1000, 1000, (tiles, 64, 4), dtype=np.int32)
    out = np.zeros(64, np.int32)
    module("async", target).launch("stages", 1, 64, [x, out, tiles])
    weights = np.array([1, 3, 5, 7], np.int32)
    want = ((x @ weights)[:, ::-1] * np.arange(1, tiles + 1)[:, None]).sum(0)
    assert (out == want).all()


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
@pytest.mark.parametrize("rounds", [1, 2, 7])
def test_mbarrier_follows_copies(target: str, rounds: int) -> None:
    x = np.random.default_rng(rounds).integers(-1000, 1000, (rounds, 32), dtype=np.int32)
    out = np.zeros(64, np.int32)
    module("async", target).launch("follow", 1, 96, [x, out, rounds])
    lanes = np.arange(32)
    weights = np.arange(1, rounds + 1)[:, None]
    for warp in (1, 2):
        assert (out[32 * warp - 32 :][:32] == (x[:, (lanes + warp) & 31] * weights).sum(0)).all()


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


libraries = pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_100a"])


@libraries
def test_barriers_of_the_library(target: str) -> None:
    x = np.random.default_rng(3).integers(-100, 100, (6, 128), dtype=np.int32)
    out = np.zeros(128, np.int32)
    module("barrier", target).launch("rounds", 1, 128, [x, out, 6])
    total = np.zeros(128, np.int32)
    for r in range(6):
        total = total * 3 + r + np.roll(x[r], -37)
    assert (out == total).all()


@libraries
@pytest.mark.parametrize("batches", [1, 2, 5])
def test_pipelines_of_the_library(target: str, batches: int) -> None:
    x = np.random.default_rng(batches).integers(-100, 100, (batches, 128), dtype=np.int32)
    out = np.zeros(128, np.int32)
    module("barrier", target).launch("staged", 1, 128, [x, out, batches], max_steps=100000)
    places = (np.arange(128) * 5 + 1) % 128
    assert (out == (x[:, places] * np.arange(1, batches + 1)[:, None]).sum(0)).all()


@libraries
@pytest.mark.parametrize("batches", [1, 2, 5])
def test_producers_and_consumers_of_the_library(target: str, batches: int) -> None:
    x = np.random.default_rng(batches).integers(-100, 100, (batches, 64), dtype=np.int32)
    out = np.zeros(64, np.int32)
    module("barrier", target).launch("halves", 1, 128, [x, out, batches], max_steps=100000)
    total = np.zeros(64, np.int32)
    for row in x:
        total = total * 3 + row[::-1]
    assert (out == total).all()
