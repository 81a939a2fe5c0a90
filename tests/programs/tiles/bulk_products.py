"""Launches of bulk_products.cu."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.programs.tiles.case import Case, Close, out, padded, program
from tests.programs.tiles.matrices import TILE, grid, tensor, whole


@program(since=90)
def bulk_product(rng: Any) -> Case:
    m, n, k = 70, 100, 230
    a, b = whole(rng, (m, k), np.float16), whole(rng, (k, n), np.float16)
    want = (a.astype(float) @ b).astype(np.float32)
    args = [tensor(a), tensor(b), tensor(out((m, n), np.float32)), k]
    return Case(grid(m, n), 160, args, {2: padded(want)}, shared=6 * TILE)


@program(since=90)
def bulk_softmax(rng: Any) -> Case:
    m, n, k = 75, 110, 150
    a, b = rng.standard_normal((m, k)).astype(np.float16), rng.standard_normal((k, n)).astype(np.float16) / np.float16(8)
    s = a.astype(float) @ b.astype(float)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    want = Close(e / e.sum(axis=1, keepdims=True), rtol=2e-5, atol=1e-6)  # sums in float; exp2f is an approximation
    args = [tensor(a, 32), tensor(b), out((m, n), np.float32), m, n, k]
    return Case((2, 2), 160, args, {2: want}, shared=4 * TILE)
