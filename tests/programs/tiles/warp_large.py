"""Launches of warp_large.cu. Elements are small whole numbers where sums must be exact."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.programs.tiles.case import Case, Close, out, program
from tests.programs.tiles.matrices import rows, whole


@program()
def large_f16(rng: Any) -> Case:
    m, n, k = 140, 100, 75
    a, b = whole(rng, (m, k), np.float16), whole(rng, (n, k), np.float16)
    want = a.astype(float) @ b.T
    bits = want.max(axis=1).astype(np.float32).view(np.int32)
    args = [*rows(a), *rows(b), out((m, n), np.float32), np.full(m, -(1 << 31), np.int32), m, n, k]
    return Case((1, 2), 128, args, {4: want, 5: np.where(bits < 0, bits ^ 0x7FFFFFFF, bits)}, shared=3 * 16384)


@program()
def large_bf16_tight(rng: Any) -> Case:
    m, n, k = 100, 190, 70
    a, b = whole(rng, (m, k), ml_dtypes.bfloat16), whole(rng, (n, k), ml_dtypes.bfloat16)
    args = [*rows(a), *rows(b), out((m, n), np.float32), m, n, k]
    return Case((2, 1), 128, args, {4: a.astype(float) @ b.astype(float).T}, shared=3 * 16384)


@program()
def large_tf32_thrice(rng: Any) -> Case:
    m, n, k = 60, 110, 45
    a, b = (rng.standard_normal((x, k)).astype(np.float32) for x in (m, n))
    want = Close(a.astype(float) @ b.astype(float).T, atol=2e-5)  # 2^-22 is left out of each product, sums are of 24 bits
    args = [*rows(a), *rows(b), out((m, n), np.float32), m, n, k]
    return Case((1, 1), 128, args, {4: want}, shared=3 * 12288)


@program()
def weights_of_four_bits(rng: Any) -> Case:
    m, n, k = 70, 90, 128
    a, codes = whole(rng, (m, k), np.float16), rng.integers(0, 16, (n, k)).astype(np.uint32)
    scale = np.exp2(rng.integers(-3, 1, (n, k // 32)))
    zero = rng.integers(4, 12, (n, k // 32))
    # Which of 32 of k are in which four bits of the word of a lane: pairs at 2t and 2t + 8 of both halves of 16.
    words = np.zeros((n, k // 32, 4), np.uint32)
    for lane in range(4):
        for pair in range(4):
            at = pair // 2 * 16 + pair % 2 * 8 + 2 * lane
            for e in range(2):
                words[:, :, lane] |= codes.reshape(n, -1, 32)[:, :, at + e] << np.uint32(16 * e + 4 * pair)
    factors = np.stack([scale, zero], axis=2).astype(np.float16)
    b = (codes.astype(float) - np.repeat(zero, 32, axis=1)) * np.repeat(scale, 32, axis=1)
    want = (a.astype(float) @ b.T).astype(np.float16)
    args = [*rows(a), words, factors, out((m, n), np.float16), m, n, k]
    return Case((2, 2), 128, args, {4: want}, shared=4 * 5120)
