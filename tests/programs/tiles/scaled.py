"""Launches of scaled.cu. Elements and scales have few bits, so that every sum is exact."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.programs.tiles.case import Array, Case, out, program
from tests.programs.tiles.matrices import fours, grid, rows


def eights(rng: Any, m: int, k: int, dtype: Any) -> tuple[Array, Array]:
    """Small whole numbers as floats of eight bits, and their values."""
    values = rng.integers(-4, 5, (m, k))
    return values.astype(dtype).view(np.uint8), values.astype(float)


def scales(rng: Any, m: int, k: int, block: int, words: int, dtype: Any) -> tuple[Array, Array]:
    """Codes in rows of whole words for steps of 128 bytes, and a factor for each element."""
    powers = rng.integers(-1, 2, (m, words * 4))
    codes = np.exp2(powers).astype(dtype).view(np.uint8)
    codes[:, -(-k // block) :] = 0
    return codes.view(np.uint32), np.repeat(np.exp2(powers.astype(float)), block, axis=1)[:, :k]


@program(since="120a")
def scaled_mxf8(rng: Any) -> Case:
    m, n, k = 70, 90, 160
    (a, x), (b, y) = eights(rng, m, k, ml_dtypes.float8_e4m3fn), eights(rng, n, k, ml_dtypes.float8_e5m2)
    (down, s), (across, t) = (scales(rng, size, k, 32, 2, ml_dtypes.float8_e8m0fnu) for size in (m, n))
    args = [*rows(a), down, *rows(b), across, 2, out((m, n), np.float32), m, n, k]
    return Case(grid(m, n), 128, args, {7: (x * s) @ (y * t).T}, shared=4 * 8192)


@program(since="120a")
def scaled_mxf4(rng: Any) -> Case:
    m, n, k = 90, 65, 384
    (a, x), (b, y) = fours(rng, m, k), fours(rng, n, k)
    (down, s), (across, t) = (scales(rng, size, k, 32, 4, ml_dtypes.float8_e8m0fnu) for size in (m, n))
    args = [*rows(a), down, *rows(b), across, 4, out((m, n), np.float32), m, n, k // 2]
    return Case(grid(m, n), 128, args, {7: (x * s) @ (y * t).T}, shared=4 * 8192)


@program(since="120a")
def scaled_nvf4_again(rng: Any) -> Case:
    m, n, k = 75, 80, 320
    (a, x), (b, y) = fours(rng, m, k), fours(rng, n, k)
    (down, s), (across, t) = (scales(rng, size, k, 16, 8, ml_dtypes.float8_e4m3fn) for size in (m, n))
    sums = ((x * s) @ (y * t).T).astype(np.float32).reshape(m, n // 16, 16)
    codes = (np.abs(sums).max(axis=2) / np.float32(6)).astype(ml_dtypes.float8_e4m3fn)
    again = sums * (np.float32(1) / codes.astype(np.float32))[:, :, None]
    nibbles = np.clip(again, -6, 6).astype(ml_dtypes.float4_e2m1fn).view(np.uint8).reshape(m, n) & 15
    args = [*rows(a), down, *rows(b), across, 8, out((m, n // 2), np.uint8), out(codes.shape, np.uint8), m, n, k // 2]
    want = {7: nibbles[:, ::2] | nibbles[:, 1::2] << 4, 8: codes.view(np.uint8)}
    return Case(grid(m, n), 128, args, want, shared=4 * 8192)
