"""Launch of attention_backward.cu."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.programs.tiles.case import Case, Close, out, program
from tests.programs.tiles.matrices import scale


@program()
def attention_backward(rng: Any) -> Case:
    heads, queries, keys = 1, 50, 90
    q, k, v, g = (rng.standard_normal((heads, x, 64)).astype(np.float16) for x in (queries, keys, keys, queries))
    x, y, z, h = (matrix.astype(float) for matrix in (q, k, v, g))
    s = x @ y.transpose(0, 2, 1) / 8
    total = np.exp(s).sum(axis=2, keepdims=True)
    p = np.exp(s) / total
    delta = (p @ z * h).sum(axis=2)
    change = p * (h @ z.transpose(0, 2, 1) - delta[:, :, None])
    want = [change @ y / 8, change.transpose(0, 2, 1) @ x / 8, p.transpose(0, 2, 1) @ h]
    sums = [np.log2(total[:, :, 0]).astype(np.float32), delta.astype(np.float32)]
    results = [np.zeros(q.shape, np.float32), out(k.shape, np.float16), out(v.shape, np.float16)]
    near = {6 + i: Close(w, atol=4e-3, rtol=4e-3) for i, w in enumerate(want)}  # weights and their changes have 11 bits
    args = [q, k, v, g, *sums, *results, queries, keys, scale(64)]
    return Case((-(-keys // 64), heads), 128, args, near, shared=2 * 8192 + 4 * 4096 + 4096)
