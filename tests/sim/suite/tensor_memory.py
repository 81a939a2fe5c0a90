"""Launches of tensor_memory.cu. Elements are small whole numbers, so that every sum is exact."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from .case import Array, Case, Tensor, kernel, out

ONLY = ("sm_100a",)
SIZES = (32 // 8) << 17 | (128 // 16) << 24
F32, S32 = 1 << 4, 2 << 4


def tensor(matrix: Array, rows: int) -> Tensor:
    """A matrix as bytes in tiles of 128."""
    return Tensor(matrix.view(np.uint8), {"box": [128, rows], "swizzle": "128B"})


def tiles(rng: Any, dtype: Any, other: Any, what: int, result: Any = np.float32) -> Case:
    k = 384 // np.dtype(dtype).itemsize
    a, b = rng.integers(-4, 5, (128, k)), rng.integers(0 if other == np.uint8 else -4, 5, (64, k))
    args = [tensor(a.astype(dtype), 128), tensor(b.astype(other), 32), out((128, 64), result), 64, 384, what | SIZES]
    return Case((2, 1), 128, args, {2: a @ b.T}, shared=2 * 160 * 128)


@kernel(only=ONLY)
def tensor_f16(rng: Any) -> Case:
    return tiles(rng, np.float16, np.float16, F32)


@kernel(only=ONLY)
def tensor_bf16(rng: Any) -> Case:
    return tiles(rng, ml_dtypes.bfloat16, ml_dtypes.bfloat16, F32 | 1 << 7 | 1 << 10)


@kernel(only=ONLY)
def tensor_tf32(rng: Any) -> Case:
    return tiles(rng, np.float32, np.float32, F32 | 2 << 7 | 2 << 10)


@kernel(only=ONLY)
def tensor_f8(rng: Any) -> Case:
    return tiles(rng, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, F32 | 1 << 10)


@kernel(only=ONLY)
def tensor_i8(rng: Any) -> Case:
    return tiles(rng, np.int8, np.uint8, S32 | 1 << 7, np.int32)


@kernel(only=ONLY)
def tensor_chain(rng: Any) -> Case:
    a, b, c = rng.integers(-3, 4, (128, 64)), rng.integers(-3, 4, (32, 64)), rng.integers(-3, 4, (32, 32))
    wide = np.zeros((32, 64), np.float16)  # rows of 128 bytes
    wide[:, :32] = c
    args = [tensor(a.astype(np.float16), 128), tensor(b.astype(np.float16), 32), tensor(wide, 32), out((128, 32), np.float32)]
    want = np.maximum(a @ b.T, 0) @ c.T
    return Case(1, 128, [*args, F32 | SIZES], {3: want}, shared=192 * 128)
