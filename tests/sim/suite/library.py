"""Launches of library.cu."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .case import Case, Close, kernel, out, s32


@kernel()
def barrier_pipeline(rng: Any) -> Case:
    rounds = 6
    a = rng.integers(-1000, 1000, (rounds, 64)).astype(np.int32)
    want = np.zeros(64, np.int64)
    for r in range(rounds):
        want = want * 3 + a[r, ::-1] + r
    return Case(1, 128, [a, out(64, np.int32), rounds], {1: s32(want)})


@kernel()
def atomic_refs(rng: Any) -> Case:
    a = rng.integers(-1000, 1000, 96).astype(np.int32)
    flags, sums = np.zeros(2, np.int32), a.reshape(3, 32).astype(np.int64).sum(1)
    cells = np.zeros(11, np.int32)
    cells[9] = -1
    want = cells.copy()
    want[0] = 4 * a.sum() + 96  # five additions, one of them negative, and one more
    want[1:4] = 4 * sums + 32
    want[6:] = [
        a.min(),
        max(a.max(), 0),
        np.bitwise_or.reduce(np.int32(1) << (a & 31)),
        np.bitwise_and.reduce(~(1 << (a & 15))),
        np.bitwise_xor.reduce(a),
    ]
    args = [a, cells, np.zeros(1, np.uint64), np.zeros(1, np.float32), np.zeros(1), flags]
    wide, small = 4 * int((a.astype(np.int64) + 5000).sum()) + 96, 4 * int((a & 7).sum()) + 96
    return Case(3, 32, args, {1: want, 2: [wide], 3: [small], 4: [4 * int(a.sum()) + 96], 5: [3, 123]})


@kernel()
def semaphores(rng: Any) -> Case:
    count = 7
    for _ in range(4):
        count = count * 3 + 1
    return Case(1, 128, [out(128, np.int32)], {0: [count] * 128})


@kernel()
def complex_numbers(rng: Any) -> Case:
    z = (rng.standard_normal(64) + 1j * rng.standard_normal(64)).astype(np.complex64)
    w = rng.standard_normal(64) + 1j * rng.standard_normal(64)
    x, y = z.astype(np.complex128), np.roll(z, -1).astype(np.complex128)
    floats = np.stack([x * x + x.conj(), x / y, np.exp(x), np.sqrt(x)], axis=1)
    doubles = np.stack([w * w - w / np.roll(w, -1), np.log(w), w, w**3], axis=1)

    def pair(values: Any, rtol: float, atol: float) -> Close:
        return Close(np.stack([values.real, values.imag], axis=-1), rtol=rtol, atol=atol)

    # a few roundings, and cancellation in sums of products of up to 10
    args = [z.view(np.float32), w.view(np.float64), out((64, 4, 2), np.float32), out((64, 4, 2), np.float64)]
    size = float(np.abs(floats).max()), float(np.abs(doubles).max())
    return Case(1, 64, args, {2: pair(floats, 1e-6, 1e-6 * size[0]), 3: pair(doubles, 1e-14, 1e-14 * size[1])})


@kernel()
def standard_types(rng: Any) -> Case:
    n = 50
    a = rng.integers(-(1 << 31), 1 << 31, n).astype(np.int32)
    rows = []
    for i in range(64):
        parts = [0] * 6
        for v in a[i % (n - 8) :][:8].tolist():
            parts[(v & 0x7FFFFFFF) % 6] += v
        p = [v & 0xFFFFFFFF for v in parts]
        value = [p[0], int(np.float32(0.5 * i).view(np.int32)), p[1] * 100 + i][i % 3]
        low = p[4] | 1 << 20
        counts = p[2].bit_count() + 100 * (32 - p[3].bit_length()) + 10000 * ((low & -low).bit_length() - 1)
        turned = (p[5] << i % 32 | p[5] >> (32 - i % 32)) & 0xFFFFFFFF
        rows.append([value, math.isqrt(i) if math.isqrt(i) ** 2 == i else -1, counts, turned ^ 0x7FFFFFFF])
    return Case(1, 64, [a, out((64, 4), np.int32), n], {1: s32(rows)})
