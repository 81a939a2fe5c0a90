"""Launch of tensor_attention.cu."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.programs.tiles.case import Case, Close, Tensor, out, program
from tests.programs.tiles.matrices import TILE, attended, scale


@program(since="100a")
def tensor_attention_roles(rng: Any) -> Case:
    heads, queries, keys = 1, 200, 210
    q, k, v = (rng.standard_normal((heads, x, 64)).astype(np.float16) for x in (queries, keys, keys))
    maps = [Tensor(x, {"box": [64, rows, 1], "swizzle": "128B"}) for x, rows in ((q, 128), (k, 64), (v, 64))]
    args = [*maps, out(q.shape, np.float16), queries, keys, scale(64)]
    want = Close(attended(q, k, v), atol=2e-3, rtol=2e-3)  # weights and results have 11 bits
    return Case((-(-queries // 256), heads), 512, args, {3: want}, shared=8 * TILE)
