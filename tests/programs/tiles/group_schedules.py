"""Launches of group_schedules.cu. Elements are small whole numbers, so that every sum is exact in any order."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.programs.tiles.case import Case, out, padded, program
from tests.programs.tiles.matrices import TILE, grid, tensor, whole


@program(since="90a")
def group_problems(rng: Any) -> Case:
    sizes = [(65, 30, 140), (10, 100, 90), (64, 64, 64), (1, 8, 200)]
    kind = np.dtype([*((n, np.int32) for n in ("m", "n", "k", "ldc")), *((n, np.int64) for n in ("a", "b", "c", "lda", "ldb"))])
    problems, operands, results, want = np.zeros(len(sizes), kind), b"", 0, []
    for problem, (m, n, k) in zip(problems, sizes, strict=True):
        a, b = whole(rng, (m, k), np.float16), whole(rng, (n, k), np.float16)
        wide = [padded(x) for x in (a, b)]
        problem["m"], problem["n"], problem["k"], problem["ldc"] = m, n, k, n
        problem["lda"], problem["ldb"] = (x.strides[0] for x in wide)
        problem["a"], problem["b"], problem["c"] = len(operands), len(operands) + wide[0].nbytes, results
        operands += b"".join(x.tobytes() for x in wide)
        results += m * n
        want.append((a.astype(float) @ b.T).ravel())
    like = [tensor(np.zeros((64, 64), np.float16)) for _ in range(2)]
    blocks = 2
    maps = out(blocks * 2 * 128, np.uint8)
    rest = [maps, problems.view(np.uint8), len(sizes), np.frombuffer(operands, np.uint8).copy(), out(results, np.float32)]
    return Case(blocks, 160, [*like, *rest], {6: np.concatenate(want)}, shared=6 * TILE, free=(2,))


@program(since="90a")
def group_cluster_sum(rng: Any) -> Case:
    m, n, k = 50, 110, 300  # five steps for four blocks
    a, b = whole(rng, (m, k), np.float16), whole(rng, (n, k), np.float16)
    across, down = grid(m, n)
    args = [tensor(a), tensor(b), out((m, n), np.float32), m, n, k]
    return Case((4 * across, down), 160, args, {2: a.astype(float) @ b.T}, shared=8 * TILE)


@program(since="90a")
def group_reduce(rng: Any) -> Case:
    m, n, k = 70, 90, 250
    a, b, c = whole(rng, (m, k), np.float16), whole(rng, (n, k), np.float16), whole(rng, (m, n), np.float32)
    args = [tensor(a), tensor(b), tensor(c), k]
    return Case((*grid(m, n), 2), 160, args, {2: padded((c + a.astype(float) @ b.T).astype(np.float32))}, shared=8 * TILE)
