"""Launches of warps.cu; all results are exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from .case import Array, Case, kernel, out, s32, words

COUNT = 128


def data(rng: Any, low: int = -1000, high: int = 1000) -> Array:
    return rng.integers(low, high, COUNT).astype(np.int32)


@kernel()
def shuffles(rng: Any) -> Case:
    x, d = data(rng), rng.standard_normal(COUNT)
    rows = []
    for i in range(COUNT):
        lane, warp = i % 32, x[i // 32 * 32 :][:32]
        rows.append(
            [
                warp[i * 7 & 31],
                warp[lane - 3 if lane >= 3 else lane],
                warp[lane + 5 if lane + 5 < 32 else lane],
                warp[lane ^ 9],
                warp[(lane & 24) | (i & 3)],
                warp[lane - 2 if lane % 8 >= 2 else lane],
                warp[lane + 3 if lane % 16 + 3 < 16 else lane],
                warp[lane ^ 1],
            ]
        )
    args = [x, d, out((COUNT, 8), np.int32), out(COUNT, np.float64)]
    return Case(2, 64, args, {2: rows, 3: d[np.arange(COUNT) ^ 21]})


def mask(lanes: Any) -> int:
    return sum(1 << k for k, member in enumerate(lanes) if member)


@kernel()
def votes(rng: Any) -> Case:
    x = data(rng)
    x[40], x[64:96] = 5, 1 << 21
    rows = []
    for i in range(COUNT):
        warp = x[i // 32 * 32 :][:32]
        same = mask(warp >> 20 == x[i] >> 20)
        everyone = same == 0xFFFFFFFF
        simple = int(5 in warp) | int((warp > -1000).all()) << 1
        rows.append(
            [mask(warp & 1), simple, mask(warp & 7 == x[i] & 7), mask(warp & 3 == x[i] & 3), same * everyone, int(everyone)]
        )
    return Case(2, 64, [x, out((COUNT, 6), np.uint32)], {1: words(rows)})


@kernel()
def warp_reductions(rng: Any) -> Case:
    x = data(rng)
    rows = []
    for i, v in enumerate(x.tolist()):
        warp = x[i // 32 * 32 :][:32]
        odd = warp[warp & 1 == 1]
        part = [3 * odd.sum(), odd.size] if v & 1 else [-warp[warp & 1 == 0].sum(), -1]
        u = warp.view(np.uint32)
        bits = np.bitwise_and.reduce(u | 7) ^ np.bitwise_or.reduce(u & 0xFF00) ^ np.bitwise_xor.reduce(u)
        rows.append([int(warp.sum()), *map(int, part), int(warp.max()) ^ int(u.min()), int(bits)])
    return Case(2, 64, [x, out((COUNT, 5), np.int32)], {1: s32(rows)})


@kernel()
def bitonic_warp(rng: Any) -> Case:
    x = data(rng)
    return Case(1, COUNT, [x, out(COUNT, np.int32)], {1: np.sort(x.reshape(-1, 32), axis=1)})


@kernel()
def segmented_scan(rng: Any) -> Case:
    x, flags = data(rng, -50, 50).astype(np.float32), (rng.random(COUNT) < 0.2).astype(np.int32)
    want, total = [], 0.0
    for i in range(COUNT):
        total = float(x[i]) + (0 if i % 32 == 0 or flags[i] else total)
        want.append(total)
    return Case(2, 64, [x, flags, out(COUNT, np.float32)], {2: want})


@kernel()
def group_tiles(rng: Any) -> Case:
    x = data(rng)
    x[9] = 3
    rows = []
    for i in range(COUNT):
        at, warp = i % 8, x[i // 32 * 32 :][:32]
        tile = x[i - at :][:8]
        xors = np.bitwise_xor.reduce(tile[:at]) if at else 0
        ballot = mask(warp > 0) + int(3 in tile)
        rows.append(
            [
                tile.sum(),
                tile.max(),
                tile[: at + 1].sum(),
                xors,
                tile[3] + i // 8 * 100 + at,
                0,
                ballot,
                mask(tile & 1 == x[i] & 1),
            ]
        )
    want = s32([[int(v) for v in row] for row in rows])
    return Case(1, COUNT, [x, out((COUNT, 8), np.int32)], {1: want})


@kernel()
def group_parts(rng: Any) -> Case:
    x = data(rng)
    rows = []
    for i, v in enumerate(x.tolist()):
        lane, warp = i % 32, x[i // 32 * 32 :][:32]
        part, half = np.flatnonzero(warp & 3 == v & 3), np.flatnonzero((warp > 0) == (v > 0))
        row = [part.size * 100 + int((part < lane).sum()), int(warp[part].sum()), int(warp[half[0]]) + half.size]
        active = np.flatnonzero(warp & 4)
        place = int((active < lane).sum())
        after = active[min(place + 1, active.size - 1)] if active.size else 0
        rows.append([*row, place + 64 * active.size + int(warp[after] & 15) * 4096 if v & 4 else -1])
    return Case(2, 64, [x, out((COUNT, 4), np.int32)], {1: rows})


def remainder(a: Array, b: int) -> Array:
    return np.sign(a) * (np.abs(a) % b)


@kernel()
def cub_warp(rng: Any) -> Case:
    x = data(rng)[:64].copy()
    rows = np.zeros((64, 6), np.int64)
    for w in range(2):
        warp, at = x[32 * w :][:32].astype(np.int64), slice(32 * w, 32 * w + 32)
        rows[at, 0], rows[at, 1] = np.cumsum(warp) - warp, warp.sum()
        rows[32 * w, 2] = warp.max()
        rows[at, 3:] = np.sort(np.column_stack([warp, remainder(warp * 7, 101), -warp]).ravel()).reshape(32, 3)
    return Case(1, 64, [x, out((64, 6), np.int32)], {1: rows})
