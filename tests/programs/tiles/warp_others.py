"""Launches of warp_others.cu. Elements are small whole numbers where sums must be exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.programs.tiles.case import Array, Case, Close, out, program
from tests.programs.tiles.warp_products import grid, rows, whole


@program()
def product_f64(rng: Any) -> Case:
    m, n, k = 45, 38, 51
    a, b = rng.standard_normal((m, k)), rng.standard_normal((n, k))
    args = [*rows(a), *rows(b), out((m, n), np.float64), 0.75, m, n, k]
    want = Close(0.75 * (a @ b.T), rtol=1e-13, atol=1e-13)  # sums in another order
    return Case((-(-n // 32), -(-m // 32)), 128, args, {4: want}, shared=3 * 8192)


def thinned(rng: Any, m: int, k: int) -> tuple[Array, Array, Array]:
    """A matrix with two zeros in four, what is left of it, and where that was: 16 bits for 16 elements of a row."""
    dense = np.zeros((m, k), np.float16)
    packed = np.zeros((m, k // 2), np.float16)
    where = np.zeros((m, -(-k // 16)), np.uint16)
    for r in range(m):
        for four in range(k // 4):
            at = np.sort(rng.choice(4, 2, replace=False))
            packed[r, 2 * four : 2 * four + 2] = dense[r, 4 * four + at] = rng.integers(-4, 5, 2)
            where[r, four // 4] |= (int(at[0]) | int(at[1]) << 2) << 4 * (four % 4)
        for four in range(k // 4, where.shape[1] * 4):  # positions must differ also where only zeros are
            where[r, four // 4] |= 4 << 4 * (four % 4)
    return dense, packed, where


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
    wide = np.pad(images.astype(float), ((0, 0), (1, 1), (1, 1), (0, 0)))
    high, across = (height - 1) // stride + 1, (width - 1) // stride + 1
    want = np.zeros((count, high, across, amount))
    for y in range(high):
        for x in range(across):
            part = wide[:, stride * y : stride * y + 3, stride * x : stride * x + 3]
            want[:, y, x] = np.einsum("nijc,fijc->nf", part, filters.astype(float))
    args = [images, filters, out(want.shape, np.float32), count, height, width, channels, amount, stride]
    return Case(grid(count * high * across, amount), 128, args, {2: want}, shared=3 * 8192)


@program()
def attention(rng: Any) -> Case:
    heads, group, queries, keys, scale = 2, 2, 70, 83, 0.125 / np.log(2)
    q = rng.standard_normal((heads, queries, 64)).astype(np.float16)
    k, v = (rng.standard_normal((heads // group, keys, 64)).astype(np.float16) for _ in range(2))
    s = q.astype(float) @ np.repeat(k, group, axis=0).astype(float).transpose(0, 2, 1) * 0.125
    s[:, np.arange(keys)[None] > np.arange(queries)[:, None] + keys - queries] = -np.inf
    weights = np.exp(s - s.max(axis=2, keepdims=True))
    want = weights / weights.sum(axis=2, keepdims=True) @ np.repeat(v, group, axis=0).astype(float)
    args = [q, k, v, out(q.shape, np.float16), queries, keys, group, float(np.float32(scale)), 1]
    # Weights and results have 11 bits; exp2f is an approximation.
    return Case((-(-queries // 64), heads), 128, args, {3: Close(want, atol=3e-3, rtol=2e-3)}, shared=3 * 8192)
