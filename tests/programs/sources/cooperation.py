"""Launches of cooperation.cu; sums of floats are of small whole numbers, so exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.programs.case import Case, out, program, s32


def tile_case(rng: Any, size: int) -> Case:
    n = 64
    a = rng.integers(-100, 100, n).astype(np.int32)
    rows, ranks, want = a.reshape(-1, size).astype(np.int64), np.arange(n) % size, []
    want.append((rows @ (np.arange(size) + 1)).repeat(size) + np.arange(n) // size * 1000 + ranks)
    want.append(rows.sum(1).repeat(size))
    want.append(rows.min(1).repeat(size))
    want.append(rows.cumsum(1).ravel())
    scans = np.bitwise_xor.accumulate(rows, axis=1)
    want.append(np.concatenate([np.zeros((len(rows), 1), np.int64), scans[:, :-1]], 1).ravel())
    votes = ((rows & 1) << np.arange(size)).sum(1)
    want.append((votes + 2 * (rows > 90).any(1) + 4 * (rows > -90).all(1)).repeat(size))
    own = a.astype(np.int64)
    other = own[np.arange(n) ^ size // 2]
    down = own[np.where(ranks + 1 < size, np.arange(n) + 1, np.arange(n))]
    up = own[np.where(ranks > 0, np.arange(n) - 1, np.arange(n))]
    want.append(other - down + up * 3)
    return Case(1, n, [a, out((7, n), np.int32)], {1: s32(np.concatenate(want))})


def register(name: str, size: int) -> None:
    def build(rng: Any) -> Case:
        return tile_case(rng, size)

    program(name=name)(build)


for kernel_name, tile_size in (("two", 2), ("four", 4), ("eight", 8), ("sixteen", 16)):
    register(f"tile_of_{kernel_name}", tile_size)
register("tile_of_warp", 32)


@program()
def tiles_wide(rng: Any) -> Case:
    a = rng.integers(-99, 99, 64).astype(np.float32)
    rows = a.reshape(-1, 16).astype(np.float64)
    want = {1: rows.sum(1).repeat(16), 2: rows.cumsum(1).ravel(), 3: rows.max(1).repeat(16).astype(np.int64) << 33}
    return Case(1, 64, [a, out(64, np.float32), out(64, np.float64), out(64, np.int64)], want)


def grouped(labels: Any) -> list[list[int]]:
    """For each thread those of its warp with its label."""
    return [[u for u in range(t // 32 * 32, t // 32 * 32 + 32) if labels[u] == labels[t]] for t in range(len(labels))]


@program()
def by_label(rng: Any) -> Case:
    labels = rng.integers(0, 4, 64).astype(np.int32)
    groups = grouped(labels)
    want = {1: [len(g) for g in groups], 2: [g.index(t) for t, g in enumerate(groups)], 3: [sum(g) for g in groups]}
    return Case(1, 64, [labels, *(out(64, np.int32) for _ in range(3))], want)


@program()
def by_truth(rng: Any) -> Case:
    a = rng.integers(-50, 50, 64).astype(np.int32)
    groups = grouped(a > 0)
    ranks = [g.index(t) * 100 + len(g) for t, g in enumerate(groups)]
    sums = [int(a[g].sum()) - int(a[g[: g.index(t)]].sum()) for t, g in enumerate(groups)]
    return Case(1, 64, [a, out(64, np.int32), out(64, np.int32)], {1: ranks, 2: sums})


@program()
def compact(rng: Any) -> Case:
    a = rng.integers(0, 1000, 120).astype(np.int32)
    kept = a[a % 3 == 0]
    case = Case(2, 64, [a, out(120, np.int32), np.zeros(1, np.int32), 120], {2: [kept.size]})
    case.check = lambda _: np.testing.assert_array_equal(np.sort(case.args[1][: kept.size]), np.sort(kept))
    case.free = (1,)
    return case


@program()
def coalesced_work(rng: Any) -> Case:
    a = rng.integers(0, 1000, 64).astype(np.int32)
    want = []
    for t, x in enumerate(a.tolist()):
        warp = range(t // 32 * 32, t // 32 * 32 + 32)
        odd = [u for u in warp if a[u] & 1]
        same = [u for u in odd if (a[u] & 2) == (x & 2)]
        if not x & 1:
            want.append(-1)
        elif x & 2:
            place = same.index(t)
            after = int(a[same[min(place + 1, len(same) - 1)]])
            want.append(int(a[odd].sum()) * 64 + len(same) + (after - x) * 4096)
        else:
            want.append(int(a[odd].sum()) * 64 + same.index(t) + (same.index(t) + 1) * 4096)
    return Case(1, 64, [a, out(64, np.int32)], {1: want})


@program()
def block_copies(rng: Any) -> Case:
    a = rng.integers(-999, 999, (5, 64)).astype(np.int32)
    return Case(1, 64, [a, out((5, 64), np.int32), 320], {1: a[:, ::-1] + np.arange(5)[:, None]}, shared=512)


@program()
def halves_meet(rng: Any) -> Case:
    t = np.arange(128)
    return Case(1, 128, [out(128, np.int32)], {0: (127 - t) * 3 + t // 32 * 7})


@program()
def grid_steps(rng: Any) -> Case:
    n = 150
    a = rng.integers(-99, 99, n).astype(np.int32)
    states = [a.astype(np.int64)]
    for step in (1, 2, 4, 8, 16, 32, 64, 128):
        before = states[-1]
        states.append(before + np.concatenate([np.zeros(step, np.int64), before[:-step]]))
    return Case(2, 64, [a, out(n, np.int32), n], {0: states[8], 1: states[7]}, cooperative=True)


@program()
def one_of_many(rng: Any) -> Case:
    o = np.zeros(97, np.int32)
    return Case(1, 96, [o], {0: [3, *(40 + t // 32 for t in range(96))]})


@program()
def tile_matches(rng: Any) -> Case:
    a = rng.integers(0, 5, 64).astype(np.int32)
    a[40] += 256
    equal = [sum(1 << u for u in range(32) if a[t // 32 * 32 + u] == a[t]) for t in range(64)]
    every = [0 if t >= 32 else 0xFFFFFFFF + 1 for t in range(64)]
    args = [a, out(64, np.uint32), out(64, np.uint32)]
    return Case(1, 64, args, {1: equal, 2: np.array(every, np.int64) & 0xFFFFFFFF})


@program()
def tile_products(rng: Any) -> Case:
    a, b = (rng.integers(-9, 9, (8, 4, 4)).astype(np.float32) for _ in range(2))
    return Case(2, 64, [a, b, out((8, 4, 4), np.float32)], {2: a @ b})
