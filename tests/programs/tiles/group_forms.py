"""Launches of group_forms.cu. Elements are small whole numbers, so that every sum is exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.programs.tiles.case import Case, Tensor, out, program
from tests.programs.tiles.matrices import TILE, convolved, grid, tensor, thinned, whole


@program(since="90a")
def group_convolution(rng: Any) -> Case:
    count, height, width, amount = 2, 7, 6, 70
    images, filters = whole(rng, (count, height, width, 64), np.float16), whole(rng, (amount, 3, 3, 64), np.float16)
    bias = whole(rng, (amount,), np.float32)
    want = convolved(images, filters, 1) + bias
    columns = {"lower": [-1, -1], "upper": [-1, -1], "channels": 64, "pixels": 64, "swizzle": "128B"}
    args = [
        Tensor(images, columns),
        tensor(filters.reshape(amount, -1)),
        bias,
        out(want.shape, np.float32),
        count,
        height,
        width,
        amount,
    ]
    return Case(grid(count * height * width, amount), 160, args, {3: want}, shared=6 * TILE)


@program(since="90a")
def group_two_of_four(rng: Any) -> Case:
    m, n, k = 80, 70, 272
    dense, packed, where = thinned(rng, m, k)
    b = whole(rng, (n, k), np.float16)
    args = [tensor(packed), tensor(b), where, out((m, n), np.float32), m, n, k]
    return Case(grid(m, n), 160, args, {3: dense.astype(float) @ b.T}, shared=6 * TILE)
