"""Launch of tensor_experts.cu. Elements are small whole numbers, so that every sum is exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.programs.tiles.case import Case, Tensor, out, padded, program
from tests.programs.tiles.matrices import TILE, tensor, whole


@program(since="100a")
def tensor_experts(rng: Any) -> Case:
    tokens, n, k, experts = 150, 90, 136, 2
    a, b = whole(rng, (tokens, k), np.float16), whole(rng, (experts, n, k), np.float16)
    order = rng.permutation(tokens)
    rows, weights = np.full((experts, 128), tokens, np.int32), np.zeros((experts, 128), np.float32)
    want = padded(out((tokens, n), np.float16))
    for expert, chosen in enumerate((order[:100], order[100:140])):  # ten tokens go to nobody
        rows[expert, : len(chosen)] = chosen
        weights[expert, : len(chosen)] = np.exp2(rng.integers(-3, 2, len(chosen)))
        want[chosen, :n] = (a[chosen].astype(float) @ b[expert].T) * weights[expert, : len(chosen), None]
    maps = [tensor(a, 1), Tensor(b, {"box": [64, 64, 1], "swizzle": "128B"}), tensor(out((tokens, n), np.float16), 1)]
    return Case((2, experts), 160, [*maps, rows, weights, n, k], {2: want}, shared=8 * TILE)
