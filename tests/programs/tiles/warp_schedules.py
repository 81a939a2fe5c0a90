"""Launches of warp_schedules.cu. Elements are small whole numbers, so that every sum is exact in any order."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.programs.tiles.case import Case, Close, out, padded, program
from tests.programs.tiles.matrices import grid, rows, whole


@program()
def split_in_turn(rng: Any) -> Case:
    m, n, k, parts = 70, 100, 200, 3
    a, b = whole(rng, (m, k), np.float16), whole(rng, (n, k), np.float16)
    across, down = grid(m, n)
    args = [*rows(a), *rows(b), out((m, n), np.float32), np.zeros(across * down, np.int32), m, n, k]
    return Case((across, down, parts), 128, args, {4: a.astype(float) @ b.T}, shared=3 * 8192)


@program()
def split_atomic(rng: Any) -> Case:
    m, n, k, parts = 60, 90, 150, 3
    a, b = whole(rng, (m, k), np.float16), whole(rng, (n, k), np.float16)
    sums = a.astype(float) @ b.T
    across, down = grid(m, n)
    args = [*rows(a), *rows(b), np.zeros((m, n), np.float32), np.zeros(across * down, np.int32), out((m, n), np.float16), m, n, k]
    want = {4: sums, 6: Close(np.sqrt(np.abs(sums)), ulp=1)}  # the root is an approximation in float
    return Case((across, down, parts), 128, args, want, shared=3 * 8192)


@program()
def stream_k(rng: Any) -> Case:
    m, n, k, blocks = 70, 130, 140, 4  # 6 tiles of 5 steps: blocks have 8 each, the last one 6
    a, b = whole(rng, (m, k), np.float16), whole(rng, (n, k), np.float16)
    flags, partial = np.zeros(blocks, np.int32), out((blocks, 4096), np.float32)
    args = [*rows(a), *rows(b), out((m, n), np.float32), partial, flags, m, n, k]
    return Case(blocks, 128, args, {4: a.astype(float) @ b.T, 6: [0, 1, 1, 1]}, shared=4 * 8192, free=(5,))


@program()
def grouped(rng: Any) -> Case:
    sizes = [(65, 30, 40), (10, 100, 90), (64, 64, 32), (1, 1, 200)]
    kind = np.dtype([*((name, np.int32) for name in ("m", "n", "k", "lda", "ldb", "ldc")), *((name, np.int64) for name in "abc")])
    problems, operands, results, want = np.zeros(len(sizes), kind), b"", 0, []
    for problem, (m, n, k) in zip(problems, sizes, strict=True):
        a, b = whole(rng, (m, k), ml_dtypes.bfloat16), whole(rng, (k, n), ml_dtypes.bfloat16)
        wide = [padded(x) for x in (a, b)]
        problem["m"], problem["n"], problem["k"], problem["ldc"] = m, n, k, n
        problem["lda"], problem["ldb"] = (x.strides[0] for x in wide)
        problem["a"], problem["b"], problem["c"] = len(operands), len(operands) + wide[0].nbytes, results
        operands += b"".join(x.tobytes() for x in wide)
        results += m * n
        want.append((a.astype(float) @ b.astype(float)).ravel())
    args = [problems.view(np.uint8), len(sizes), np.frombuffer(operands, np.uint8).copy(), out(results, np.float32)]
    return Case(3, 128, args, {3: np.concatenate(want)}, shared=3 * 8192)
