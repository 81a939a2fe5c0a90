"""Launches of warp_fp8.cu. Elements are small whole numbers, so that every sum is exact."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.programs.tiles.case import Case, out, program
from tests.programs.tiles.matrices import grid, rows, whole


@program(since=89)
def product_e4m3(rng: Any) -> Case:
    m, n, k = 75, 66, 150
    a, b = whole(rng, (m, k), ml_dtypes.float8_e4m3fn), whole(rng, (n, k), ml_dtypes.float8_e4m3fn)
    sums = a.astype(float) @ b.astype(float).T
    c = out((m, 66), np.uint8)
    want = np.clip(sums * 4, -448, 448).astype(ml_dtypes.float8_e4m3fn).view(np.uint8)
    args = [*rows(a), *rows(b), 4.0, c, 66, np.zeros(1, np.float32), m, n, k]
    return Case(grid(m, n), 128, args, {5: want, 7: [np.abs(sums).max()]}, shared=4 * 8192)


@program(since=89)
def product_e5m2_blocks(rng: Any) -> Case:
    m, n, k = 40, 90, 140
    a, b = whole(rng, (m, k), ml_dtypes.float8_e5m2), whole(rng, (n, k), ml_dtypes.float8_e4m3fn)
    down, across = (np.exp2(rng.integers(-2, 3, (x, 3))).astype(np.float32) for x in (m, n))
    x, y = (np.repeat(s, 64, axis=1)[:, :k] * v.astype(float) for s, v in ((down, a), (across, b)))
    args = [*rows(a), *rows(b), down, across, out((m, n), np.float32), m, n, k]
    return Case(grid(m, n), 128, args, {6: x @ y.T}, shared=3 * 8192)
