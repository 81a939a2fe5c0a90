"""Launches of pipeline.cu; all results are exact (sums of floats are of small whole numbers)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .case import Array, Case, kernel, out, s32


def whole(rng: Any, shape: Any, span: int = 1000) -> Array:
    return rng.integers(-span, span, shape).astype(np.int32)


def folded(rows: Array) -> Array:
    """Three times what was before, plus the next row."""
    total = np.zeros(rows.shape[1:], object)
    for row in rows:
        total = total * 3 + row
    return s32(total)


@kernel()
def primitive_gemm(rng: Any) -> Case:
    a, b = (rng.integers(-9, 9, (48, 48)).astype(np.float32) for _ in range(2))
    return Case((3, 3), (16, 16), [a, b, out((48, 48), np.float32), 48], {2: a @ b})


@kernel()
def barrier_rounds(rng: Any) -> Case:
    x = whole(rng, (6, 128))
    return Case(1, 128, [x, out(128, np.int32), 6], {1: folded(np.array([r + np.roll(x[r], -37) for r in range(6)]))})


@kernel()
def unified_pipeline(rng: Any) -> Case:
    x = whole(rng, (5, 128))
    places = (np.arange(128) * 5 + 1) % 128
    return Case(1, 128, [x, out(128, np.int32), 5], {1: (x[:, places] * np.arange(1, 6)[:, None]).sum(0)})


@kernel()
def partitioned_pipeline(rng: Any) -> Case:
    x = whole(rng, (7, 96, 4))
    return Case(1, 128, [x, out(96, np.int32), 7], {1: folded((x @ [1, 5, 7, 9])[:, ::-1])})


@kernel()
def barrier_halves(rng: Any) -> Case:
    x = whole(rng, (5, 64))
    return Case(1, 128, [x, out(64, np.int32), 5], {1: folded(x[:, ::-1])})


@kernel()
def group_copies(rng: Any) -> Case:
    x, y, t = whole(rng, (2, 128)), whole(rng, (4, 32)), np.arange(128)
    return Case(1, 128, [x, y, out(128, np.int32)], {2: x[0, ::-1] + 3 * x[1, t ^ 5] + 5 * y[:, ::-1].ravel()})


@kernel(since=80)
def copy_stages(rng: Any) -> Case:
    x = whole(rng, (7, 64, 4))
    want = ((x @ [1, 3, 5, 7])[:, ::-1] * np.arange(1, 8)[:, None]).sum(0)
    return Case(1, 64, [x, out(64, np.int32), 7], {1: want})


@kernel(since=80)
def copy_stencil(rng: Any) -> Case:
    width, height = 27, 13
    image = whole(rng, (height, width))
    padded = np.pad(image, 2)
    want = sum(padded[v : v + height, u : u + width] * (1 + u + 5 * v) for v in range(5) for u in range(5))
    return Case((2, 2), (16, 8), [image, out(image.shape, np.int32), width, height], {1: want})


@kernel(since=80)
def copy_mbarrier(rng: Any) -> Case:
    x, lanes, weights = whole(rng, (7, 32)), np.arange(32), np.arange(1, 8)[:, None]
    want = [(x[:, (lanes + warp) & 31] * weights).sum(0) for warp in (1, 2)]
    return Case(1, 96, [x, out(64, np.int32), 7], {1: np.array(want)})


@kernel(since=80)
def copy_gather(rng: Any) -> Case:
    table, which = whole(rng, (10, 32, 2)), rng.integers(0, 10, 8).astype(np.int32)
    rows = table[which][:, ::-1]
    return Case(1, 32, [table, which, out(32, np.int32), 8], {2: folded(rows[..., 0] - rows[..., 1])})
