"""Launches of stacks.cu; exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from .case import Case, kernel, out, s32


def folded(a: list[int], n: int, seed: int) -> int:
    copy = [v ^ seed for v in a[:n]]
    for k in range(n):
        j = (copy[k] & 0xFFFFFFFF) % n
        copy[k], copy[j] = copy[j], copy[k]
    total = 0
    for v in copy:
        total = total * 3 + v
    return total + folded(a[1:], n - 4, seed + 1) if n > 4 else total


@kernel(since=100)
def variable_stack(rng: Any) -> Case:
    a = rng.integers(-1000, 1000, 24).astype(np.int32)
    want = [folded(a.tolist(), 2 + i % 13, i) for i in range(64)]
    return Case(1, 64, [a, out(64, np.int32)], {1: s32(want)}, stack=4096)
