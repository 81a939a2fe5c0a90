"""Element codes of matrices and the numbers that they mean, by numpy and ml_dtypes."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, Any]
DTYPE: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "s32": np.int32,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
    "ue8m0": ml_dtypes.float8_e8m0fnu,
    "ue4m3": ml_dtypes.float8_e4m3fn,
}
CODE_BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "e3m2": 6, "e2m3": 6, "e2m1": 4, "ue8m0": 8, "ue4m3": 7}


def value(codes: Array, kind: str) -> Array:
    """The numbers that codes mean, as float64."""
    if kind == "tf32":
        return (codes & np.uint32(0xFFFFE000)).astype(np.uint32).view(np.float32).astype(np.float64)
    unsigned = np.uint16 if CODE_BITS[kind] == 16 else np.uint8
    with np.errstate(all="ignore"):
        return codes.astype(unsigned).view(DTYPE[kind]).astype(np.float64)


def codes_of(rng: Any, shape: tuple[int, ...], kind: str, how: str) -> Array:
    """Element codes: small integers, normal numbers, or any bits with few special values."""
    if kind[0] in "su" and kind[1:].isdigit():
        return rng.integers(0, 1 << int(kind[1:]), shape, dtype=np.uint32)
    if kind == "b1":
        return rng.integers(0, 2, shape, dtype=np.uint32)
    if how == "any":
        codes = rng.integers(0, 1 << CODE_BITS[kind], shape, dtype=np.uint64).astype(np.uint32)
        dull = ~np.isfinite(value(codes, kind)) & (rng.random(shape) < 0.97)
        return np.where(dull, np.uint32(1), codes)
    numbers = rng.integers(-3, 4, shape) if how == "integers" else rng.standard_normal(shape)
    if kind == "tf32":
        return numbers.astype(np.float32).view(np.uint32)
    if kind == "f64":
        return numbers.astype(np.float64).view(np.uint64)
    dtype = DTYPE[kind]
    return numbers.astype(dtype).view(np.uint16 if CODE_BITS[kind] == 16 else np.uint8).astype(np.uint32)


def integers_of(codes: Array, kind: str) -> Array:
    """The integers that codes of u4, s8, ... mean."""
    bits = int(kind[1:])
    signed = codes.astype(np.int64)
    return np.where((signed >> (bits - 1) == 1) & (kind[0] == "s"), signed - (1 << bits), signed)


def sparse_places(rng: Any, rows: int, k: int, width: int) -> tuple[Array, Array]:
    """The elements that a sparse matrix keeps: [row][kept] within its chunk, and as k.

    Two of four are kept; of TF32 one of two; of 4-bit elements two pairs of four.
    """
    chunk, unit = {32: (2, 1), 16: (4, 1), 8: (4, 1), 4: (8, 2)}[width]
    within = np.zeros((rows, k // 2), int)
    for row in range(rows):
        for group in range(k // chunk):
            chosen = np.sort(rng.permutation(chunk // unit)[: chunk // unit // 2]) * unit
            within[row, group * chunk // 2 : (group + 1) * chunk // 2] = (chosen[:, None] + np.arange(unit)).ravel()
    return within, within + np.arange(k // 2) // (chunk // 2) * chunk
