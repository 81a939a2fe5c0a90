"""Operands of the launches and what comes of them: matrices and tensor maps of them, images, attention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import oric.sim

from tests.programs.tiles.case import Array, Tensor, padded

TILE = 64 * 128  # bytes
FLOAT4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float64)


def whole(rng: Any, shape: tuple[int, ...], dtype: Any, low: int = -4) -> Array:
    """Small whole numbers."""
    return rng.integers(low, 5, shape).astype(dtype)  # type: ignore[no-any-return]


def rows(matrix: Array) -> list[Any]:
    """A matrix as an argument, with the bytes of a row."""
    made = padded(matrix)
    return [made, made.strides[0]]


def grid(m: int, n: int, height: int = 64) -> tuple[int, int]:
    """Tiles of so many rows and 64 columns."""
    return -(-n // 64), -(-m // height)


def fours(rng: Any, m: int, k: int) -> tuple[Array, Array]:
    """E2M1 codes, two in a byte, and their values."""
    codes = rng.integers(0, 16, (m, k)).astype(np.uint8)
    return codes[:, ::2] | codes[:, 1::2] << 4, np.where(codes >= 8, -1, 1) * FLOAT4[codes % 8]


def thinned(rng: Any, m: int, k: int) -> tuple[Array, Array, Array]:
    """A matrix with two zeros in four, what is left of it, and where that was: 16 bits for 16 elements of a row."""
    dense = np.zeros((m, k), np.float16)
    packed = np.zeros((m, k // 2), np.float16)
    where = np.zeros((m, -(-k // 16)), np.uint16)
    for r in range(m):
        for four in range(k // 4):
            at = np.sort(rng.choice(4, 2, replace=False))
            packed[r, 2 * four : 2 * four + 2] = dense[r, 4 * four + at] = rng.integers(-4, 5, 2)
            where[r, four // 4] |= (int(at[0]) | int(at[1]) << 2) << 4 * (four % 4)
        for four in range(k // 4, where.shape[1] * 4):  # positions must differ also where only zeros are
            where[r, four // 4] |= 4 << 4 * (four % 4)
    return dense, packed, where


def convolved(images: Array, filters: Array, stride: int) -> Array:
    """Images [n][h][w][c] with filters [f][3][3][c], zeros around."""
    (count, height, width, _), amount = images.shape, len(filters)
    wide = np.pad(images.astype(float), ((0, 0), (1, 1), (1, 1), (0, 0)))
    high, across = (height - 1) // stride + 1, (width - 1) // stride + 1
    want = np.zeros((count, high, across, amount))
    for y in range(high):
        for x in range(across):
            part = wide[:, stride * y : stride * y + 3, stride * x : stride * x + 3]
            want[:, y, x] = np.einsum("nijc,fijc->nf", part, filters.astype(float))
    return want


def attended(q: Array, k: Array, v: Array, causal: bool = False) -> Array:
    """What attention is, in doubles; heads come first."""
    s = q.astype(float) @ k.astype(float).transpose(0, 2, 1) / np.sqrt(q.shape[2])
    if causal:
        queries, keys = s.shape[1:]
        s[:, np.arange(keys)[None] > np.arange(queries)[:, None] + keys - queries] = -np.inf
    weights = np.exp(s - s.max(axis=2, keepdims=True))
    made: Array = weights / weights.sum(axis=2, keepdims=True) @ v.astype(float)
    return made


def scale(size: int) -> float:
    """Of scores that become powers of two."""
    return float(np.float32(1 / np.sqrt(size) / np.log(2)))


@dataclass
class Columns(Tensor):
    """The first columns of a matrix: what is behind them is not of the tensor."""

    columns: int = 0

    def described(self, address: oric.sim.Buffer) -> bytes:
        """The argument."""
        array = self.array
        kind = "bfloat16" if array.dtype == ml_dtypes.bfloat16 else array.dtype if array.itemsize > 1 else np.uint8
        return oric.sim.tensor_map(kind, address, (self.columns, len(array)), array.strides[:1], **self.options)


def tensor(matrix: Array, rows: int = 64, wide: int = 128, swizzle: str = "128B") -> Tensor:
    """A matrix as tiles of so many rows with so many bytes each; its rows begin at multiples of 16 bytes."""
    return Columns(padded(matrix), {"box": [wide // matrix.itemsize, rows], "swizzle": swizzle}, matrix.shape[1])
