"""Launches of warp_products.cu. Elements are small whole numbers where sums must be exact."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.programs.tiles.case import Case, Close, out, padded, program
from tests.programs.tiles.matrices import grid, rows, whole


@program()
def product_f16(rng: Any) -> Case:
    m, n, k = 100, 75, 90
    a, b = whole(rng, (m, k), np.float16), whole(rng, (k, n), np.float16)
    args = [*rows(a), *rows(b), out((m, n), np.float32), m, n, k]
    return Case(grid(m, n), 128, args, {4: a.astype(float) @ b}, shared=3 * 8192)


@program()
def product_bf16_bias_relu(rng: Any) -> Case:
    m, n, k = 70, 109, 75
    a, b = whole(rng, (m, k), ml_dtypes.bfloat16), whole(rng, (n, k), ml_dtypes.bfloat16)
    bias = whole(rng, (n,), np.float32) / 4
    c = out((m, 112), ml_dtypes.bfloat16)
    want = c.copy()
    want[:, :n] = np.maximum(a.astype(float) @ b.astype(float).T + bias, 0).astype(ml_dtypes.bfloat16)
    return Case(grid(m, n), 128, [*rows(a), *rows(b), bias, c, 112, m, n, k], {5: want}, shared=4 * 8192)


@program()
def product_tf32(rng: Any) -> Case:
    m, n, k = 67, 90, 45
    a, b, c = whole(rng, (m, k), np.float32), whole(rng, (n, k), np.float32), whole(rng, (m, n), np.float32)
    # Behind the 11 bits of TF32: elements are rounded to the nearest, halves away from zero, before they are multiplied.
    a[(a != 0) & (rng.random(a.shape) < 0.3)] += np.float32(2**-20)
    want = 0.5 * (np.round(a).astype(float) @ b.T) + 2 * c
    args = [*rows(a), *rows(b), c, out((m, n), np.float32), 0.5, 2.0, m, n, k]
    return Case(grid(m, n), 128, args, {5: want}, shared=3 * 8192)


@program()
def product_s8_scaled(rng: Any) -> Case:
    m, n, k = 90, 70, 145
    a, b = (rng.integers(-128, 128, (x, k)).astype(np.int8) for x in (m, n))
    down, across = (np.exp2(rng.integers(-6, -3, x)).astype(np.float32) for x in (m, n))
    want = np.clip(np.rint(a.astype(int) @ b.T * down[:, None] * across), -128, 127)
    args = [*rows(a), *rows(b), down, across, out((m, n), np.int8), m, n, k]
    return Case(grid(m, n), 128, args, {6: want}, shared=4 * 8192)


@program()
def product_batched_half(rng: Any) -> Case:
    batch, m, n, k = 3, 50, 66, 40
    a, b = whole(rng, (batch, k, m), np.float16), whole(rng, (batch, k, n), np.float16)
    wide_a, wide_b = (padded(x.reshape(batch * k, -1)) for x in (a, b))
    args = [wide_a, wide_a.strides[0], k * wide_a.strides[0], wide_b, wide_b.strides[0], k * wide_b.strides[0]]
    want = a.transpose(0, 2, 1).astype(float) @ b
    return Case((*grid(m, n), batch), 128, [*args, out((batch, m, n), np.float16), m, n, k], {6: want}, shared=3 * 8192)


@program()
def product_gated(rng: Any) -> Case:
    m, n, k = 65, 60, 72
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((m, k), (2 * n, k)))
    x, y = (a.astype(float) @ half.astype(float).T for half in (b[:n], b[n:]))
    # Sums of about 72 terms of up to 10 in float, and ex2.approx and a fast division.
    want = Close(x / (1 + np.exp(-x)) * y, rtol=1e-4, atol=1e-3)
    return Case(grid(m, n), 128, [*rows(a), *rows(b), out((m, n), np.float32), m, n, k], {4: want}, shared=3 * 8192)
