"""Launches of collectives.cu; all results are exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from .case import Case, kernel, out, s32


@kernel()
def block_exchange(rng: Any) -> Case:
    a = rng.integers(-30000, 30000, 480).astype(np.int16)
    scattered = np.zeros_like(a)
    scattered[np.arange(480) * 7 % 480] = a
    return Case(1, 96, [a, out(480, np.int16), out(480, np.int16)], {1: a, 2: scattered})


@kernel()
def block_run_lengths(rng: Any) -> Case:
    a = np.repeat(rng.integers(-5, 5, 256), rng.integers(1, 9, 256))[:256].astype(np.int32)
    starts = np.flatnonzero(np.concatenate([[True], a[1:] != a[:-1]]))
    values, lengths = out(256, np.int32), out(256, np.int32)
    want_values, want_lengths = values.copy(), lengths.copy()
    want_values[: starts.size], want_lengths[: starts.size] = a[starts], np.diff([*starts, 256])
    return Case(1, 128, [a, values, lengths, out(1, np.int32)], {1: want_values, 2: want_lengths, 3: [starts.size]})


@kernel()
def block_radix_keys(rng: Any) -> Case:
    a, b = rng.integers(0, 1 << 63, 192).astype(np.uint64), rng.standard_normal(128).astype(np.float32)
    a[50:60] = a[40] ^ np.arange(10, dtype=np.uint64)  # equal where it is looked at
    c = rng.integers(0, 256, 256).astype(np.uint8)
    part = (a >> np.uint64(8)) & np.uint64(0xFFFFFFFF)
    order = np.argsort(0xFFFFFFFF - part.astype(np.int64), kind="stable")
    b[3] = -np.inf
    args = [a, out(192, np.uint64), b, out(128, np.float32), c.copy()]
    return Case(1, 64, args, {1: a[order], 3: np.sort(b), 4: np.sort(c)})


@kernel()
def block_scan_functions(rng: Any) -> Case:
    a = rng.integers(-1000, 1000, (2, 96)).astype(np.int32)
    rows, sums = [], []
    for block in a.tolist():
        scale, add = 1, 0
        for x in block:
            scale, add = scale * (x | 1), (x | 1) * add + x
            rows.append((scale ^ add) & 0xFFFFFFFF)
        sums.append([sum(x * x for x in block[:90]), int(s32([add])[0])])
    return Case(2, 96, [a, out(192, np.int32), out((2, 2), np.int64)], {1: s32(rows), 2: sums})


@kernel()
def block_shuffle(rng: Any) -> Case:
    a = rng.integers(0, 1024, 64).astype(np.int32)
    turned = np.roll(a, -9)
    want = np.concatenate([np.zeros(5), a[:59]]) * 3 + turned
    want[:5] = turned[:5]
    bins = np.bincount(np.concatenate([a & 31, a >> 5]), minlength=32)
    return Case(1, 64, [a, out(96, np.int32)], {1: np.concatenate([want, bins])})


@kernel()
def warp_primitives(rng: Any) -> Case:
    a = rng.integers(-1000, 1000, 256).astype(np.int32)
    rows = np.zeros((64, 8), np.int64)
    for i in range(64):
        first = i // 16 * 16
        before = max([1 << 50, *(int(v) << 20 for v in a[first:i])])
        total = max(int(v) << 20 for v in a[first : first + 16])
        rows[i, :4] = [before >> 20 & 0xFFFFFFFF, total >> 20, before >> 50, 0 if i % 8 else a[i : i + 8].max()]
        ordered = np.sort(a[first * 4 :][:64])[::-1]
        rows[i, 4:] = ordered[i - first :: 16]
    return Case(1, 64, [a, out((64, 8), np.int32)], {1: s32(rows.tolist())})
