"""Launches of group_inputs.cu. Elements are small whole numbers where sums must be exact."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.programs.tiles.case import Case, Close, Tensor, out, program
from tests.programs.tiles.matrices import TILE, attended, grid, scale, tensor, whole


@program(since="90a")
def group_mixed(rng: Any) -> Case:
    m, n, k = 70, 90, 110
    a, b = rng.integers(-128, 128, (m, k)).astype(np.int8), whole(rng, (n, k), np.float16)
    scales = np.exp2(rng.integers(-4, 3, m)).astype(np.float32)
    args = [tensor(a, wide=64, swizzle="none"), tensor(b), scales, out((m, n), np.float32), m, n, k]
    return Case(grid(m, n), 160, args, {3: a.astype(float) * scales[:, None] @ b.astype(float).T}, shared=6 * TILE)


@program(since="90a")
def group_e4m3_blocks(rng: Any) -> Case:
    m, n, k = 80, 100, 300
    a, b = (whole(rng, (x, k), ml_dtypes.float8_e4m3fn) for x in (m, n))
    down, across = (np.exp2(rng.integers(-2, 3, (x, 3))).astype(np.float32) for x in (m, 2))
    x = np.repeat(down, 128, axis=1)[:, :k] * a.astype(float)
    y = np.repeat(np.repeat(across, 64, axis=0)[:n], 128, axis=1)[:, :k] * b.astype(float)
    args = [tensor(a), tensor(b), down, across, out((m, n), np.float32), m, n, k]
    return Case(grid(m, n), 160, args, {4: x @ y.T}, shared=6 * TILE)


@program(since="90a")
def group_attention(rng: Any) -> Case:
    heads, queries, keys = 2, 70, 150
    q, k, v = (rng.standard_normal((heads, x, 64)).astype(np.float16) for x in (queries, keys, keys))
    maps = [Tensor(x, {"box": [64, 64, 1], "swizzle": "128B"}) for x in (q, k, v)]
    args = [*maps, out(q.shape, np.float16), queries, keys, scale(64)]
    # Weights and results have 11 bits; exp2f is an approximation.
    return Case((-(-queries // 64), heads), 160, args, {3: Close(attended(q, k, v), atol=2e-3, rtol=2e-3)}, shared=5 * TILE)
