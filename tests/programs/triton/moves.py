"""Launches of the kernels that move elements between threads."""

from __future__ import annotations

from functools import reduce
from typing import Any

import ml_dtypes
import numpy as np

from tests.programs.triton.case import Array, Close, Launch, out, register

Random = np.random.Generator
BF16 = ml_dtypes.bfloat16


def _some(rng: Random, *shape: int) -> Array:
    return rng.standard_normal(shape, np.float32)


def _sums(reverse: bool, n: int) -> Any:
    def build(rng: Random) -> Launch:
        x = rng.integers(-9, 9, (5, n)).astype(np.float16)
        want = x[:, ::-1].astype(int).cumsum(1)[:, ::-1] if reverse else x.astype(int).cumsum(1)
        return Launch(2, [x, out(x.shape, np.float32), 5, n], {1: want})

    return build


register("sums_forward", "shuffles.sums_of_rows", "*fp16 *fp32 i32 i32", _sums(False, 300), REVERSE=False, BM=4, BN=128)
register("sums_backward", "shuffles.sums_of_rows", "*fp16 *fp32 i32 i32", _sums(True, 100), REVERSE=True, BM=4, BN=128)


def recurrence(rng: Random) -> Launch:
    n, columns = 50, 20
    a, b = rng.uniform(0.5, 1, (n, columns)).astype(np.float32), _some(rng, n, columns)
    h, rows = np.zeros(columns), []
    for t in range(n):
        h = a[t] * h + b[t].astype(np.float64)
        rows.append(h)
    return Launch(2, [a, b, out(a.shape, np.float32), n, columns], {2: Close(np.stack(rows), rtol=1e-5, atol=3e-6)})


register("recurrence", "shuffles.recurrence", "*fp32 *fp32 *fp32 i32 i32", recurrence, BN=64, BC=16)


def histogram(rng: Random) -> Launch:
    n = 700
    x = np.minimum(rng.geometric(0.05, n), 128).astype(np.int32) - 1
    return Launch(3, [x, np.zeros(128, np.int32), n], {1: np.bincount(x, minlength=128)})


register("histogram", "shuffles.histogram", "*i32 *i32 i32", histogram, BINS=128, BLOCK=256)


def _sorted(dtype: Any, descending: bool, n: int, k: int) -> Any:
    def build(rng: Random) -> Launch:
        x = rng.integers(-999, 999, (2, n)).astype(dtype)
        s = np.sort(x, 1)
        padded = np.concatenate([s, np.full((2, 256 - n), -1000000 if descending else 1000000).astype(dtype)], 1)
        best = np.sort(padded, 1)[:, ::-1][:, :k]
        return Launch(2, [x, out(x.shape, dtype), out((2, k), dtype), n], {1: s[:, ::-1] if descending else s, 2: best})

    return build


register(
    "sort_i32", "shuffles.sort_rows", "*i32 *i32 *i32 i32", _sorted(np.int32, False, 200, 8), DESCENDING=False, BLOCK=256, K=8
)
register(
    "sort_f32",
    "shuffles.sort_rows",
    "*fp32 *fp32 *fp32 i32",
    _sorted(np.float32, True, 256, 16),
    DESCENDING=True,
    BLOCK=256,
    K=16,
)


def lookup(rng: Random) -> Launch:
    n, width = 21, 100
    table = _some(rng, 40, width).astype(BF16)
    index = rng.integers(-3, 40, n).astype(np.int64)
    want = np.where((index >= 0)[:, None], table[np.maximum(index, 0)], BF16(0))
    return Launch((2, 2), [table, index, out((n, width), BF16), n, width], {2: want})


register("lookup", "shuffles.lookup", "*bf16 *i64 *bf16 i32 i32", lookup, BM=16, BN=64)


def scatter_add(rng: Random) -> Launch:
    n, width = 30, 50
    x = rng.integers(-9, 9, (n, width)).astype(np.float32)
    index = rng.integers(0, 6, n).astype(np.int32)
    y = rng.integers(-9, 9, (6, width)).astype(np.float32)
    want = y.copy()
    np.add.at(want, index, x)
    return Launch(2, [x, index, y, n, width], {2: want})


register("scatter_add", "shuffles.scatter_add", "*fp32 *i32 *fp32 i32 i32", scatter_add, BM=16, BN=64)


def gather_in_block(rng: Random) -> Launch:
    n, m = 32, 16
    x, index = _some(rng, n, m), rng.integers(0, n, (n, m)).astype(np.int32)
    want = np.stack([np.take_along_axis(x, index, 0), np.take_along_axis(x, index % m, 1)])
    return Launch(1, [x, index, out((2, n, m), np.float32)], {2: want})


register("gather_in_block", "shuffles.gather_in_block", "*fp32 *i32 *fp32", gather_in_block, N=32, M=16)


def _transpose(dtype: Any) -> Any:
    def build(rng: Random) -> Launch:
        rows, columns = 50, 70
        x = rng.integers(-100, 100, (rows, columns)).astype(dtype)
        return Launch((2, 2), [x, out((columns, rows), dtype), rows, columns], {1: x.T})

    return build


register("transpose_f32", "shuffles.transpose", "*fp32 *fp32 i32 i32", _transpose(np.float32), BM=32, BN=64)
register("transpose_i8", "shuffles.transpose", "*i8 *i8 i32 i32", _transpose(np.int8), BM=64, BN=64)
register("transpose_f64", "shuffles.transpose", "*fp64 *fp64 i32 i32", _transpose(np.float64), BM=32, BN=64)


def shapes(rng: Random) -> Launch:
    n = 256
    x = _some(rng, n)
    w = np.stack([x, x * 2], -1)
    ab = w.reshape(2, n // 2, 2).transpose(1, 0, 2).reshape(n, 2)
    z = np.stack([ab[:, 0], ab[:, 1]], -1).ravel()
    m = x.reshape(n // 16, 16)
    last = np.broadcast_to(m.astype(np.float64).sum(1, keepdims=True), m.shape).ravel() + x[::-1]
    return Launch(1, [x, out(4 * n, np.float32)], {1: Close(np.concatenate([z, m.T.ravel(), last]), atol=4e-6)})


register("shapes", "shuffles.shapes", "*fp32 *fp32", shapes, BLOCK=256)


def _atomics(dtype: Any) -> Any:
    def build(rng: Random) -> Launch:
        n = 200
        x = rng.integers(-500, 500, n).astype(dtype)
        y = np.zeros(96 + n, dtype)
        y[48:64] = -1 if np.dtype(dtype).kind == "i" else 0
        y[96:] = np.arange(n)
        want = y.copy()
        for i in range(16):
            part = x[i::16]
            want[i], want[16 + i], want[32 + i] = part.sum(), max(part.max(), 0), min(part.min(), 0)
            if np.dtype(dtype).kind == "i":
                want[48 + i], want[64 + i], want[80 + i] = (
                    reduce(f, part) for f in (np.bitwise_and, np.bitwise_or, np.bitwise_xor)
                )
        want[96:] = x
        return Launch(2, [x, y, out(n, dtype), n], {1: want, 2: np.arange(n)})

    return build


register("atomics_i32", "shuffles.atomics", "*i32 *i32 *i32 i32", _atomics(np.int32), BLOCK=128)
register("atomics_i64", "shuffles.atomics", "*i64 *i64 *i64 i32", _atomics(np.int64), BLOCK=128)
register("atomics_f32", "shuffles.atomics", "*fp32 *fp32 *fp32 i32", _atomics(np.float32), BLOCK=128)


def _spread(dtype: Any) -> Any:
    def build(rng: Random) -> Launch:
        n = 400
        x = rng.integers(-9, 9, n).astype(dtype)
        want = np.zeros(64)
        np.add.at(want, np.arange(n) % 64, x.astype(np.float64))
        return Launch(2, [x, np.zeros(64, dtype), n], {1: want})

    return build


register("spread_f16", "shuffles.spread_half", "*fp16 *fp16 i32", _spread(np.float16), BLOCK=256)
register("spread_bf16", "shuffles.spread_half", "*bf16 *bf16 i32", _spread(BF16), BLOCK=256)


def largest_pool(rng: Random) -> Launch:
    c, h, w = 2, 21, 18
    x = rng.permutation(c * h * w).astype(np.float32).reshape(c, h, w)
    oh, ow = (h - 1) // 2, (w - 1) // 2
    parts = np.stack([x[:, i : i + 2 * oh : 2, j : j + 2 * ow : 2] for i in range(3) for j in range(3)])
    which = parts.argmax(0)
    place = (2 * np.arange(oh)[:, None] + which // 3) * w + 2 * np.arange(ow) + which % 3
    return Launch((2, c), [x, out((c, oh, ow), np.float32), out((c, oh, ow), np.int32), h, w], {1: parts.max(0), 2: place})


register("largest_pool", "shuffles.largest_pool", "*fp32 *fp32 *i32 i32 i32", largest_pool, BLOCK=64)


def convolution_rows(rng: Random) -> Launch:
    c, t, width = 10, 90, 4
    x, w = _some(rng, c, t).astype(BF16), _some(rng, c, width).astype(BF16)
    padded = np.concatenate([np.zeros((c, width - 1)), x.astype(np.float64)], 1)
    v = sum(padded[:, i : i + t] * w[:, i : i + 1].astype(np.float64) for i in range(width))
    return Launch((2, 2), [x, w, out((c, t), BF16), c, t], {2: Close(v / (1 + np.exp(-v)), ulp=1, atol=1e-5)})


register("convolution_rows", "shuffles.convolution_rows", "*bf16 *bf16 *bf16 i32 i32", convolution_rows, WIDTH=4, BT=64, BC=8)
