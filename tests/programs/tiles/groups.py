"""Launches of groups.cu. Elements are small whole numbers, so that every sum is exact."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.programs.tiles.case import Case, out, padded, program
from tests.programs.tiles.matrices import TILE, grid, tensor, whole


@program(since="90a")
def group_cooperative(rng: Any) -> Case:
    m, n, k = 150, 70, 200
    a, b = whole(rng, (m, k), np.float16), whole(rng, (n, k), np.float16)
    args = [tensor(a, 128), tensor(b), out((m, n), np.float32), m, n, k]
    return Case((-(-n // 64), -(-m // 128)), 384, args, {2: a.astype(float) @ b.T}, shared=9 * TILE)


@program(since="90a")
def group_pingpong(rng: Any) -> Case:
    m, n, k = 150, 120, 150  # six tiles: two blocks have three each
    a, b = whole(rng, (m, k), np.float16, -3), whole(rng, (n, k), np.float16, -3)
    args = [tensor(a), tensor(b), out((m, n), np.float16), m, n, k]
    return Case(2, 384, args, {2: np.maximum(a.astype(float) @ b.T, 0)}, shared=8 * TILE)


@program(since="90a")
def group_multicast(rng: Any) -> Case:
    m, n, k = 100, 80, 230
    a, b = whole(rng, (m, k), ml_dtypes.bfloat16), whole(rng, (k, n), ml_dtypes.bfloat16)
    args = [tensor(a), tensor(b, 32), out((m, n), np.float32), m, n, k]
    return Case(grid(n, m), 160, args, {2: a.astype(float) @ b.astype(float)}, shared=6 * TILE)


@program(since="90a")
def group_store(rng: Any) -> Case:
    m, n, k = 90, 100, 140
    a, b, c = whole(rng, (m, k), np.float16), whole(rng, (n, k), np.float16), whole(rng, (m, n), np.float16)
    want = (0.25 * (a.astype(float) @ b.T) - 2 * c.astype(float)).astype(np.float16)
    args = [tensor(a), tensor(b), tensor(c), tensor(out((m, n), np.float16)), 0.25, -2.0, k]
    return Case(grid(m, n), 160, args, {3: padded(want)}, shared=7 * TILE)
