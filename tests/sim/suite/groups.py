"""Launches of groups.cu. Elements are small whole numbers, so that every sum is exact."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from .case import Array, Case, Tensor, kernel, out

ONLY = ("sm_90a",)


def product(a: Array, b: Array, result: Any, want: Array) -> Case:
    """C from the rows of A and of B, as bytes in tiles of 128."""
    x, y = a.view(np.uint8), b.view(np.uint8)
    maps = [Tensor(x, {"box": [128, 64], "swizzle": "128B"}), Tensor(y, {"box": [128, 32], "swizzle": "128B"})]
    args = [*maps, out((len(a), len(b)), result), len(b), x.shape[1]]
    return Case((len(b) // 32, len(a) // 64), 160, args, {2: want}, shared=3 * 96 * 128)


def tiles(rng: Any, dtype: Any, other: Any, result: Any = np.float32, low: int = -4) -> Case:
    k = 512 // np.dtype(dtype).itemsize
    a, b = rng.integers(-4, 5, (128, k)), rng.integers(low, 5, (64, k))
    return product(a.astype(dtype), b.astype(other), result, a @ b.T)


TYPES: dict[str, tuple[Any, ...]] = {
    "f16": (np.float16, np.float16),
    "bf16": (ml_dtypes.bfloat16, ml_dtypes.bfloat16),
    "tf32": (np.float32, np.float32),
    "e4m3": (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2),
    "s8": (np.int8, np.uint8, np.int32, 0),
}


def register(name: str, types: tuple[Any, ...]) -> None:
    """The launch of the kernel for operands of some types."""

    def build(rng: Any) -> Case:
        return tiles(rng, *types)

    build.__name__ = f"group_{name}"
    kernel(only=ONLY)(build)


for name, types in TYPES.items():
    register(name, types)


@kernel(only=ONLY)
def group_registers(rng: Any) -> Case:
    a, b = rng.integers(-4, 5, (64, 256)), rng.integers(-4, 5, (64, 256))
    return product(a.astype(np.float16), b.astype(np.float16), np.float32, np.maximum(2 * a, 0) @ b.T)
