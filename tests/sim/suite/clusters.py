"""Launches of clusters.cu; all results are exact (sums of floats are of small whole numbers)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .case import Case, kernel, out, s32


@kernel(since=90)
def cluster_histogram(rng: Any) -> Case:
    data = rng.normal(64, 40, 700).astype(np.int32)
    bins = np.bincount(np.clip(data, 0, 127), minlength=128).astype(np.int32)
    return Case(8, 64, [data, np.zeros(128, np.int32), 700, 32], {1: bins}, shared=128, cluster=4)


@kernel(since=90)
def cluster_reduce(rng: Any) -> Case:
    x = rng.integers(-99, 99, (3, 1000)).astype(np.float32)
    return Case(12, 128, [x, out((3, 2), np.float32), 1000], {1: np.column_stack([x.sum(1), x.max(1)])})


@kernel(since=90)
def cluster_scan(rng: Any) -> Case:
    x = rng.integers(-999, 999, (2, 512)).astype(np.int32)
    return Case(8, 128, [x, out(x.shape, np.int32)], {1: np.cumsum(x, axis=1)}, cluster=4)


@kernel(since=90)
def cluster_stencil(rng: Any) -> Case:
    x = rng.integers(-99, 99, (2, 256)).astype(np.int32)
    v = x.astype(object)
    for _ in range(5):
        padded = np.pad(v, ((0, 0), (1, 1)))
        v = 2 * v + padded[:, :-2] + padded[:, 2:]
    return Case(8, 64, [x, out(x.shape, np.int32), 5], {1: s32(v)}, cluster=(4, 1, 1))


@kernel(since=90)
def cluster_gemm(rng: Any) -> Case:
    a, b = (rng.integers(-9, 9, (32, 32)).astype(np.float32) for _ in range(2))
    return Case((4, 4), (8, 8), [a, b, out((32, 32), np.float32), 32], {2: a @ b})


@kernel(since=90)
def cluster_ring(rng: Any) -> Case:
    ranks = 4
    x = rng.integers(-999, 999, (2, ranks, 32, 4)).astype(np.int32)
    v = x.astype(object)
    for turn in range(1, ranks):
        before = np.roll(x, turn, axis=1)
        parts = [
            v[..., 0] + before[..., 0],
            v[..., 1] * 3 + before[..., 1],
            np.maximum(v[..., 2], before[..., 2]),
            v[..., 3] ^ before[..., 3],
        ]
        v = np.stack(parts, axis=-1)
    return Case(2 * ranks, 32, [x, out(x.shape, np.int32)], {1: s32(v)}, cluster=ranks)
