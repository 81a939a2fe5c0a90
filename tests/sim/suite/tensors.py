"""Launches of tensors.cu; all results are exact (sums of floats are of small whole numbers)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .case import Array, Case, Tensor, kernel, out, s32

PLAIN = ("sm_90a", "sm_100a")  # sm_120 has no multicast


def whole(rng: Any, shape: Any, dtype: Any = np.float32, span: int = 99) -> Array:
    return rng.integers(-span, span, shape).astype(dtype)


@kernel(since=90)
def tensor_scale(rng: Any) -> Case:
    x = whole(rng, (44, 100))  # not whole tiles
    box = {"box": [32, 16]}
    return Case(3, 64, [Tensor(x, box), Tensor(out(x.shape, np.float32), box), 3.0, 4], {1: 3 * x})


@kernel(since=90)
def tensor_transpose(rng: Any) -> Case:
    x = rng.integers(0, 1 << 32, (64, 96), dtype=np.uint32)
    box = {"box": [32, 32], "swizzle": "128B"}
    return Case((3, 2), 64, [Tensor(x, box), Tensor(out((96, 64), np.uint32), box)], {1: x.T})


@kernel(since=90)
def tensor_gemm(rng: Any) -> Case:
    a, b = (whole(rng, (rows, 320), np.float16, 5) for rows in (64, 32))
    box = {"box": [64, 32], "swizzle": "128B"}
    want = a.astype(np.float32) @ b.astype(np.float32).T
    return Case((1, 2), 160, [Tensor(a, box), Tensor(b, box), out((64, 32), np.float32), 32, 320], {2: want}, shared=6 * 4096)


@kernel(since=90)
def tensor_stencil(rng: Any) -> Case:
    nz, ny, nx = 7, 9, 12
    x = whole(rng, (nz, ny, nx), np.int32)
    p = np.pad(x, 1)
    want = (
        -6 * x
        + p[1:-1, 1:-1, :-2]
        + p[1:-1, 1:-1, 2:]
        + p[1:-1, :-2, 1:-1]
        + p[1:-1, 2:, 1:-1]
        + p[:-2, 1:-1, 1:-1]
        + p[2:, 1:-1, 1:-1]
    )
    args = [Tensor(x, {"box": [16, 6, 6]}), out(x.shape, np.int32), nx, ny, nz]
    return Case((2, 3, 2), 128, args, {1: want})


@kernel(since=90)
def tensor_convolution(rng: Any) -> Case:
    count, height, width = 2, 6, 8
    image, weights = whole(rng, (count, height, width, 8), span=9), whole(rng, (4, 9, 8), span=9)
    padded = np.pad(image, ((0, 0), (1, 1), (1, 1), (0, 0)))
    want = np.zeros((count, height, width, 4))
    for dy in range(3):
        for dx in range(3):
            want += padded[:, dy : dy + height, dx : dx + width] @ weights[:, 3 * dy + dx].T
    columns = {"lower": [-1, -1], "upper": [-1, -1], "channels": 8, "pixels": 16}
    args = [Tensor(image, columns), weights, out(want.shape, np.float32), width, height]
    return Case(count * height * width // 16, 64, args, {2: want})


@kernel(since=90)
def tensor_dimensions(rng: Any) -> Case:
    five, four, one = whole(rng, (3, 2, 3, 3, 8), np.int32), whole(rng, (2, 3, 3, 20), np.int32), whole(rng, 128, np.int32)
    t = np.arange(128)
    want = []
    for k in range(2):
        a = five[k : k + 2, 0:2, 1:3, k : k + 2]
        b = np.zeros((2, 2, 2, 16), np.int64)
        b[: 1 + k] = four[1 - k : 3 - k, 0:2, k : k + 2, 4:20]
        c = np.pad(one, 32)[64 * k : 64 * k + 128]
        want.append(
            a[t & 1, t >> 1 & 1, t >> 2 & 1, t >> 3 & 1, t >> 4] + 1000 * b.ravel()[127 - t] + 1000000 * c.astype(np.int64)
        )
    maps = [Tensor(five, {"box": [8, 2, 2, 2, 2]}), Tensor(four, {"box": [16, 2, 2, 2]}), Tensor(one, {"box": [128]})]
    return Case(2, 128, [*maps, out((2, 128), np.int32)], {3: s32(want)})


@kernel(since=90)
def tensor_reduce(rng: Any) -> Case:
    x, y, total = whole(rng, (5, 32), span=9), whole(rng, (5, 16), span=9), whole(rng, (18, 40))
    want = total.copy()
    want[4:, 8:] += (y.T @ x)[:14]
    return Case(5, 64, [x, y, Tensor(total, {"box": [32, 16]})], {2: want})


@kernel(only=PLAIN)
def tensor_multicast(rng: Any) -> Case:
    a, b = whole(rng, (32, 80), np.int32), whole(rng, (80, 32), np.int32)
    args = [Tensor(a, {"box": [16, 16]}), Tensor(b, {"box": [16, 8]}), out((32, 32), np.int32), 32, 80]
    return Case((2, 2), (16, 16), args, {2: a @ b})


@kernel(only=("sm_100a",))
def tensor_gather(rng: Any) -> Case:
    table, which = whole(rng, (40, 32), np.int32), rng.integers(0, 40, 20).astype(np.int32)
    total = np.zeros(32, object)
    for row in table[which]:
        total = total * 3 + row
    return Case(1, 32, [Tensor(table, {"box": [32, 1]}), which, out(32, np.int32), 20], {2: s32(total)})
