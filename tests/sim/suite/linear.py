"""Launches of linear.cu.

Data of small whole numbers make products and sums exact; elsewhere the bound is a few roundings of the longest sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .case import Array, Case, Close, kernel, out


def small(rng: Any, shape: Any, dtype: Any, span: int = 8) -> Array:
    return rng.integers(-span, span + 1, shape).astype(dtype)


def product(rng: Any, n: int, dtype: Any, span: int) -> Case:
    a, b = small(rng, (n, n), dtype, span), small(rng, (n, n), dtype, span)
    return Case((n // 16, n // 16), (16, 16), [a, b, out((n, n), dtype), n], {2: a @ b})


@kernel()
def sgemm(rng: Any) -> Case:
    return product(rng, 32, np.float32, 99)


@kernel()
def dgemm(rng: Any) -> Case:
    return product(rng, 32, np.float64, 1 << 20)


@kernel()
def igemm(rng: Any) -> Case:
    return product(rng, 16, np.int64, 1 << 28)


@kernel()
def hgemm(rng: Any) -> Case:
    a, b = small(rng, (8, 32), np.float16, 4), small(rng, (8, 32), np.float16, 4)
    return Case(1, (8, 8), [a, b, out((8, 8), np.float16), 8, 16], {2: a.astype(int) @ b.astype(int).T})


@kernel()
def spmv(rng: Any) -> Case:
    n, width = 10, 100
    dense = small(rng, (n, width), np.float32) * (rng.random((n, width)) < 0.4)
    x = small(rng, width, np.float32)
    starts = np.concatenate([[0], np.cumsum((dense != 0).sum(1))]).astype(np.int32)
    args = [starts, np.nonzero(dense)[1].astype(np.int32), dense[dense != 0].astype(np.float32), x, out(n, np.float32), n]
    return Case(3, 128, args, {4: dense @ x})


@kernel()
def lu_solve(rng: Any) -> Case:
    a, x = rng.standard_normal((32, 8, 8)), small(rng, (32, 8), np.float64)
    b = (a @ x[..., None])[..., 0]
    want = np.linalg.solve(a, b[..., None])[..., 0]
    worst = np.linalg.cond(a).max()
    return Case(
        1, 32, [a, b, out((32, 8), np.float64)], {2: Close(want, atol=1e-14 * worst)}
    )  # the error grows with the condition


@kernel()
def softmax_rows(rng: Any) -> Case:
    x = (rng.standard_normal((3, 100)) * 5).astype(np.float32)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    return Case(3, 64, [x, out(x.shape, np.float32), 100], {1: Close(e / e.sum(1, keepdims=True), rtol=2e-6)})


@kernel()
def layer_norm(rng: Any) -> Case:
    x = (rng.standard_normal((3, 100)) * 5 + 2).astype(np.float32)
    gain, bias = rng.random(100, np.float32), rng.random(100, np.float32)
    w = x.astype(np.float64)
    want = (w - w.mean(1, keepdims=True)) / np.sqrt(w.var(1, keepdims=True) + 1e-5) * gain + bias
    return Case(3, 64, [x, gain, bias, out(x.shape, np.float32), 100], {3: Close(want, rtol=2e-6, atol=2e-6)})


@kernel()
def attention(rng: Any) -> Case:
    n = 40
    q, k, v = (rng.standard_normal((m, 16)).astype(np.float32) for m in (32, n, n))
    e = np.exp(q.astype(np.float64) @ k.T.astype(np.float64) / 4)
    want = e @ v / e.sum(1, keepdims=True)
    return Case(1, 32, [q, k, v, out((32, 16), np.float32), n], {3: Close(want, atol=3e-6)})


@kernel()
def convolution(rng: Any) -> Case:
    width, height = 20, 13
    image, weights = small(rng, (height, width), np.float32, 99), small(rng, (5, 5), np.float32)
    padded = np.pad(image, 2, mode="edge")
    want = sum(padded[dy : dy + height, dx : dx + width] * weights[dy, dx] for dy in range(5) for dx in range(5))
    args = [image, out(image.shape, np.float32), width, height]
    return Case((3, 2), (8, 8), args, {1: want}, setup=lambda m: m.write_global("filter", weights))
