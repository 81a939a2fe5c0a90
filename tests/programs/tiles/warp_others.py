"""Launches of warp_others.cu. Elements are small whole numbers where sums must be exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.programs.tiles.case import Case, Close, out, program
from tests.programs.tiles.matrices import attended, convolved, grid, rows, scale, thinned, whole


@program()
def product_f64(rng: Any) -> Case:
    m, n, k = 45, 38, 51
    a, b = rng.standard_normal((m, k)), rng.standard_normal((n, k))
    args = [*rows(a), *rows(b), out((m, n), np.float64), 0.75, m, n, k]
    want = Close(0.75 * (a @ b.T), rtol=1e-13, atol=1e-13)  # sums in another order
    return Case((-(-n // 32), -(-m // 32)), 128, args, {4: want}, shared=3 * 8192)


@program()
def product_sparse(rng: Any) -> Case:
    m, n, k = 80, 70, 136
    dense, packed, where = thinned(rng, m, k)
    b = whole(rng, (n, k), np.float16)
    args = [*rows(packed), where, *rows(b), out((m, n), np.float32), m, n, k]
    return Case(grid(m, n), 128, args, {5: dense.astype(float) @ b.T}, shared=3 * 12288)


@program()
def convolution(rng: Any) -> Case:
    count, height, width, channels, amount, stride = 2, 9, 7, 8, 20, 2
    images = whole(rng, (count, height, width, channels), np.float16)
    filters = whole(rng, (amount, 3, 3, channels), np.float16)
    want = convolved(images, filters, stride)
    args = [images, filters, out(want.shape, np.float32), count, height, width, channels, amount, stride]
    return Case(grid(want[..., 0].size, amount), 128, args, {2: want}, shared=3 * 8192)


@program()
def attention(rng: Any) -> Case:
    heads, group, queries, keys = 2, 2, 70, 83
    q = rng.standard_normal((heads, queries, 64)).astype(np.float16)
    k, v = (rng.standard_normal((heads // group, keys, 64)).astype(np.float16) for _ in range(2))
    want = attended(q, *(np.repeat(x, group, axis=0) for x in (k, v)), causal=True)
    args = [q, k, v, out(q.shape, np.float16), queries, keys, group, scale(64), 1]
    # Weights and results have 11 bits; exp2f is an approximation.
    return Case((-(-queries // 64), heads), 128, args, {3: Close(want, atol=3e-3, rtol=2e-3)}, shared=3 * 8192)
