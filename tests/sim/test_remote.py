"""Asynchronous stores, reductions, atomics and copies into the shared memory of other CTAs of a cluster."""

from __future__ import annotations

import numpy as np
import pytest
from oric.sim import Modes

from tests.sim.vendor_cubins import module

both = pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
sizes = pytest.mark.parametrize("ranks", [1, 2, 4, 8])


@both
@sizes
def test_values_for_the_next_cta(target: str, ranks: int) -> None:
    x = np.random.default_rng(ranks).integers(-1000, 1000, (2, ranks, 64), dtype=np.int32)
    out = np.zeros((2, ranks, 64, 7), np.int32)
    module("remote", target).launch("send", 2 * ranks, 64, [x, out, ranks], cluster=ranks)
    assert (out == np.roll(x, 1, axis=1)[..., None] + np.arange(7)).all()


@both
@sizes
def test_reductions_into_the_first_cta(target: str, ranks: int) -> None:
    x = np.random.default_rng(ranks).integers(0, 200, (ranks, 32), dtype=np.int32)
    out = np.zeros((32, 2), np.uint64)
    module("remote", target).launch("gather", ranks, 32, [x, out, ranks], cluster=ranks)
    cells = np.full(32, 100)
    for row in x:
        for t in range(32):
            old, new = int(cells[t]), int(row[t])
            cells[t] = [old + new, min(old, new), max(old, new), old | new][t % 4]
    assert out[:, 0].tolist() == cells.tolist()
    assert out[:, 1].tolist() == ((1 << 40) + (x.sum(0).astype(np.int64) << 20)).tolist()


@both
@sizes
def test_each_way_into_other_ctas(target: str, ranks: int) -> None:
    x = np.random.default_rng(ranks).integers(-1000, 1000, (ranks, 32), dtype=np.int32)
    out = np.zeros((ranks, 32, 4), np.int32)
    module("remote", target).launch("mixed", ranks, 32, [x, out, ranks], cluster=ranks)
    assert (out[:, :, 0] == np.roll(x, -1, axis=0)[:, ::-1]).all()
    assert (out[:, :, 1] == np.roll(x, 1, axis=0)).all()
    assert (out[0, :, 2] == ranks * 496).all()
    assert (out[0, :, 3].view(np.float32) == ranks * 16).all()


@both
def test_the_memory_checker_finds_nothing(target: str) -> None:
    x = np.ones((4, 64), np.int32)
    for kernel, block, words in [("send", 64, 4 * 64 * 7), ("gather", 32, 128), ("mixed", 32, 4 * 32 * 4)]:
        out = np.zeros(words, np.int32)
        done = module("remote", target).launch(kernel, 4, block, [x, out, 4], cluster=4, modes=Modes(memcheck=True))
        assert [str(r) for r in done.reports] == []
