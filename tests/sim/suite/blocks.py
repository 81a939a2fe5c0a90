"""Launches of blocks.cu; all results are exact (sums of floats are of small whole numbers)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .case import Case, kernel, out


@kernel()
def block_scan(rng: Any) -> Case:
    x = rng.integers(-1000, 1000, 256).astype(np.int32)
    high = np.maximum.accumulate(np.concatenate([[-5], x[:127]]))
    want = np.column_stack([np.cumsum(x).reshape(128, 2), high])
    return Case(1, 128, [x, out((128, 3), np.int32), out(1, np.int32)], {1: want, 2: [x.sum()]})


@kernel()
def block_reduce(rng: Any) -> Case:
    x = rng.integers(-100, 100, (2, 128)).astype(np.float32)
    return Case(2, 128, [x, out((2, 2), np.float32)], {1: np.column_stack([x.sum(1), x.min(1)])})


@kernel()
def block_radix_sort(rng: Any) -> Case:
    keys, values = rng.integers(-(1 << 20), 1 << 20, 256).astype(np.int32), np.arange(256, dtype=np.int32)
    keys[100:140] = keys[50]
    order = np.argsort(keys, kind="stable")
    return Case(1, 64, [keys, values, out(256, np.int32), out(256, np.int32)], {2: keys[order], 3: order})


@kernel()
def block_merge_sort(rng: Any) -> Case:
    keys = rng.standard_normal(192)
    return Case(1, 64, [keys, out(192, np.float64)], {1: np.sort(keys)[::-1]})


@kernel()
def block_moves(rng: Any) -> Case:
    x = rng.integers(-500, 500, 256).astype(np.int32)
    heads = np.concatenate([[1], (x[1:] & 1) != (x[:-1] & 1)])
    change = np.concatenate([x[:1], np.diff(x)])
    return Case(1, 64, [x, out(256, np.int32), out(64, np.uint32)], {1: change * 2 + heads, 2: np.bincount(x & 63, minlength=64)})
