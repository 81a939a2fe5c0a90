"""Launches of tensor_memory.cu. Elements are small whole numbers, so that every sum is exact."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.programs.tiles.case import Array, Case, out, program
from tests.programs.tiles.matrices import TILE, grid, tensor, whole

F32, BF16, E5M2_FIRST = 1 << 4, 1 << 7 | 1 << 10, 1 << 7  # bits of the descriptor of a product


@program(since="100a")
def tensor_single(rng: Any) -> Case:
    m, n, k = 140, 90, 200
    a, b = whole(rng, (m, k), ml_dtypes.bfloat16), whole(rng, (n, k), ml_dtypes.bfloat16)
    args = [tensor(a, 128), tensor(b), out((m, n), np.float32), m, n, k, F32 | BF16]
    return Case(grid(m, n, 128), 128, args, {2: a.astype(float) @ b.astype(float).T}, shared=9 * TILE)


@program(since="100a")
def tensor_eight(rng: Any) -> Case:
    m, n, k = 130, 70, 300
    a, b = whole(rng, (m, k), ml_dtypes.float8_e5m2), whole(rng, (n, k), ml_dtypes.float8_e4m3fn)
    args = [tensor(a, 128), tensor(b), out((m, n), np.float32), m, n, k, F32 | E5M2_FIRST]
    return Case(grid(m, n, 128), 128, args, {2: a.astype(float) @ b.astype(float).T}, shared=9 * TILE)


@program(since="100a")
def tensor_turned_both(rng: Any) -> Case:
    m, n, k = 150, 75, 140
    a, b = whole(rng, (k, m), np.float16), whole(rng, (k, n), np.float16)
    args = [tensor(a), tensor(b), out((m, n), np.float32), m, n, k, F32]
    return Case(grid(m, n, 128), 128, args, {2: a.astype(float).T @ b}, shared=9 * TILE)


@program(since="100a")
def tensor_pair(rng: Any) -> Case:
    m, n, k = 230, 150, 260
    a, b = whole(rng, (m, k), np.float16), whole(rng, (n, k), np.float16)
    args = [tensor(a, 128), tensor(b), out((m, n), np.float32), m, n, k]
    return Case((2, 2), 128, args, {2: a.astype(float) @ b.T}, shared=9 * TILE)


def scaled(rng: Any, rows: int, k: int, height: int) -> tuple[Array, Array, Array]:
    """A matrix, its scales for tensor memory, and both multiplied: tiles of `height` rows have 512 bytes for 128 of k."""
    matrix = whole(rng, (rows, k), ml_dtypes.float8_e4m3fn)
    tiles, steps = -(-rows // height), -(-k // 128)
    scales = rng.integers(125, 130, (tiles * height, steps * 4)).astype(np.uint8)
    placed = np.full((tiles, steps, 32, 4, 4), 127, np.uint8)
    for r, row in enumerate(scales):
        placed[r // height, :, r % height % 32, r % height // 32] = row.reshape(steps, 4)
    times = np.exp2(np.repeat(scales.astype(float) - 127, 32, axis=1)[:rows, :k])
    return matrix, placed, matrix.astype(float) * times


@program(since="100a")
def tensor_scaled(rng: Any) -> Case:
    m, n, k = 140, 70, 270
    (a, rows, x), (b, columns, y) = scaled(rng, m, k, 128), scaled(rng, n, k, 64)
    args = [tensor(a, 128), tensor(b), rows, columns, out((m, n), np.float32), m, n, k]
    return Case(grid(m, n, 128), 128, args, {4: x @ y.T}, shared=8 * TILE)
