"""Launches of since_80.cu."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.programs.portable.case import Case, out, program, s32


@program(since=80)
def pipeline_copies(rng: Any) -> Case:
    a = rng.integers(-99, 99, (7, 64, 4)).astype(np.int32)
    total = np.zeros(64, np.int64)
    for x, y, z, w in (rows[::-1].T for rows in a):
        total = total * 3 + x - y * 2 + (z ^ w)
    return Case(1, 64, [a, out(64, np.int32), 7], {1: s32(total)})


@program(since=80)
def pipeline_products(rng: Any) -> Case:
    a, b = (rng.integers(-9, 9, (64, 32)).astype(np.float32) for _ in range(2))
    return Case(1, (8, 8), [a, b, out((32, 32), np.float32), 64], {2: a.T @ b})


@program(since=80)
def reductions_at_once(rng: Any) -> Case:
    a = rng.integers(-999, 999, 32).astype(np.int32)
    want = [(a.sum(), a.max(), np.bitwise_xor.reduce(a), a[a & 3 == v & 3].min()) for v in a]
    return Case(1, 32, [a, out((32, 4), np.int32)], {1: want})


@program(since=80)
def brain_floats(rng: Any) -> Case:
    a, b = (rng.integers(-4, 5, (32, 5, 2)).astype(ml_dtypes.bfloat16) for _ in range(2))  # whole numbers: all is exact
    x, y = a.astype(float), b.astype(float)
    want = np.stack([(x * y).sum(axis=1), np.maximum(x, y).min(axis=1)], axis=1)
    args = [a.view(np.uint16), b.view(np.uint16), out((32, 2, 2), np.uint16), 5]
    return Case(1, 32, args, {2: want.astype(ml_dtypes.bfloat16).view(np.uint16)})


@program(since=80)
def arrivals(rng: Any) -> Case:
    a = rng.integers(-99, 99, (6, 32)).astype(np.int32)
    total = np.zeros(32, np.int64)
    for row in a:
        total = total * 5 + row[::-1]
    return Case(1, 64, [a, out(32, np.int32), 6], {1: s32(total)})
