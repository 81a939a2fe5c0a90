"""Launches of bulk.cu; all results are exact (sums of floats are of small whole numbers)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .case import Case, kernel, out, s32

PLAIN = ("sm_90a", "sm_100a")  # sm_120 has no multicast


@kernel(since=90)
def bulk_saxpy(rng: Any) -> Case:
    x, y = (rng.integers(-99, 99, (7, 96)).astype(np.float32) for _ in range(2))
    return Case(1, 128, [3.0, x, y, 7], {2: 3 * x + y})


@kernel(since=90)
def bulk_reduce(rng: Any) -> Case:
    x = rng.integers(-999, 999, (10, 64)).astype(np.int32)
    sums, lows = rng.integers(-99, 99, 64).astype(np.int32), np.full(64, -500, np.int32)
    want = {1: sums + x.sum(0), 2: np.minimum(lows, x.min(0))}
    return Case(3, 64, [x, sums, lows, x.size], want)


@kernel(since=90)
def bulk_exchange(rng: Any) -> Case:
    x = rng.integers(-999, 999, (2, 4, 128)).astype(np.int32)
    return Case(8, 128, [x, out(x.shape, np.int32)], {1: 3 * x[:, ::-1, ::-1]}, cluster=4)


@kernel(since=90)
def bulk_library(rng: Any) -> Case:
    x = rng.integers(-999, 999, (4, 64, 4)).astype(np.int32)
    total = np.zeros(64, object)
    for v in x[:, ::-1]:
        total = total * 3 + v[:, 0] + v[:, 1] * 5 + (v[:, 2] ^ v[:, 3])
    return Case(1, 64, [x, out(64, np.int32)], {1: s32(total)})


@kernel(only=PLAIN)
def bulk_multicast(rng: Any) -> Case:
    a, v = rng.integers(-9, 9, (8 * 32, 64)).astype(np.float32), rng.integers(-9, 9, 64).astype(np.float32)
    return Case(8, 32, [a, v, out(8 * 32, np.float32)], {2: a @ v}, cluster=4)


@kernel(only=PLAIN)
def bulk_gather(rng: Any) -> Case:
    x = rng.integers(0, 999, (2, 4, 32)).astype(np.uint32)
    return Case(8, 32, [x, out((2, 32), np.uint32)], {1: 1000 + x.sum(1)}, cluster=4)
