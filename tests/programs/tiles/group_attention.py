"""Launches of group_attention.cu."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.programs.tiles.case import Case, Close, Tensor, out, program
from tests.programs.tiles.matrices import TILE, attended, scale


@program(since="90a")
def group_attention_pair(rng: Any) -> Case:
    heads, queries, keys = 1, 150, 200
    q, k, v = (rng.standard_normal((heads, x, 128)).astype(np.float16) for x in (queries, keys, keys))
    maps = [Tensor(x, {"box": [64, 64, 1], "swizzle": "128B"}) for x in (q, k, v)]
    args = [*maps, out(q.shape, np.float16), queries, keys, scale(128), 1]
    want = Close(attended(q, k, v, causal=True), atol=2e-3, rtol=2e-3)  # weights and results have 11 bits
    return Case((-(-queries // 128), heads), 384, args, {3: want}, shared=12 * TILE)
