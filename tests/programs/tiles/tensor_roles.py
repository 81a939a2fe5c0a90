"""Launches of tensor_roles.cu. Elements are small whole numbers where sums must be exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.programs.tiles.case import Case, Close, Tensor, out, padded, program
from tests.programs.tiles.matrices import TILE, attended, grid, scale, tensor, whole


def biased(rng: Any, m: int, n: int, k: int, blocks: int) -> Case:
    """relu(A * B + bias)."""
    a, b = whole(rng, (m, k), np.float16), whole(rng, (n, k), np.float16)
    bias = whole(rng, (n,), np.float32)
    want = np.maximum(a.astype(float) @ b.T + bias, 0).astype(np.float16)
    args = [tensor(a, 128), tensor(b), tensor(out((m, n), np.float16), 128), bias, m, n, k]
    return Case(blocks, 256, args, {2: padded(want)}, shared=11 * TILE)


@program(since="100a")
def tensor_persistent(rng: Any) -> Case:
    return biased(rng, 200, 180, 150, 2)  # six tiles


@program(since="100a")
def tensor_asked(rng: Any) -> Case:
    m, n = 250, 130
    return biased(rng, m, n, 100, int(np.prod(grid(m, n, 128))))


@program(since="100a")
def tensor_attention(rng: Any) -> Case:
    heads, queries, keys = 2, 100, 150
    q, k, v = (rng.standard_normal((heads, x, 64)).astype(np.float16) for x in (queries, keys, keys))
    maps = [Tensor(x, {"box": [64, rows, 1], "swizzle": "128B"}) for x, rows in ((q, 128), (k, 64), (v, 64))]
    args = [*maps, out(q.shape, np.float16), queries, keys, scale(64)]
    # Weights and results have 11 bits; exp2f is an approximation.
    return Case((-(-queries // 128), heads), 160, args, {3: Close(attended(q, k, v), atol=2e-3, rtol=2e-3)}, shared=6 * TILE)
