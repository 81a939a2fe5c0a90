"""Launches of tensor_forms.cu. Elements and scales have few bits, so that every sum is exact."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.programs.tiles.case import Array, Case, out, program
from tests.programs.tiles.matrices import TILE, fours, grid, tensor, thinned, whole


def scaled(rng: Any, rows: int, k: int, height: int) -> tuple[Array, Array, Array]:
    """E2M1 codes, their scales for tensor memory (512 bytes for `height` rows and 64 of k), and both multiplied."""
    codes, values = fours(rng, rows, k)
    tiles, steps = -(-rows // height), -(-k // 256)
    powers = rng.integers(-1, 2, (tiles * height, steps * 16))
    placed = np.zeros((tiles, steps, 4, 32, 4, 4), np.uint8)
    for r, row in enumerate(np.exp2(powers).astype(ml_dtypes.float8_e4m3fn).view(np.uint8)):
        placed[r // height, :, :, r % height % 32, r % height // 32] = row.reshape(steps, 4, 4)
    return codes, placed, values * np.repeat(np.exp2(powers.astype(float)), 16, axis=1)[:rows, :k]


@program(since="100a")
def tensor_four_bits(rng: Any) -> Case:
    m, n, k = 140, 70, 544
    (a, rows, x), (b, columns, y) = scaled(rng, m, k, 128), scaled(rng, n, k, 64)
    args = [tensor(a, 128), tensor(b), rows, columns, 0.5, out((m, n), np.float32), m, n, k]
    return Case(grid(m, n, 128), 128, args, {5: 0.5 * (x @ y.T)}, shared=8 * TILE)


@program(since="100a")
def tensor_two_of_four(rng: Any) -> Case:
    m, n, k = 150, 70, 272
    dense, packed, where = thinned(rng, m, k)
    b = whole(rng, (n, k), np.float16)
    args = [tensor(packed, 128), tensor(b), where, out((m, n), np.float32), m, n, k]
    return Case(grid(m, n, 128), 128, args, {3: dense.astype(float) @ b.T}, shared=8 * TILE)
