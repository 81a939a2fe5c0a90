"""Launches of atomics.cu; all results are exact and do not depend on the order."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any

import numpy as np
import oric.sim

from .case import Array, Case, kernel, longs, out, s32, words


def numbers(rng: Any, count: int) -> Array:
    return rng.integers(-1000, 1000, count).astype(np.int32)


def decremented(times: int, limit: int) -> int:
    value = 0
    for _ in range(times):
        value = limit if value == 0 or value > limit else value - 1
    return value


@kernel()
def atomic_integers(rng: Any) -> Case:
    n = 128
    x = numbers(rng, n)
    values = [int(v) for v in x]
    s = np.array([0, 5, 1 << 30, -(1 << 30), -1, 0, 0, 0, -7], np.int32)
    u, wide = np.array([0xFFFFFFFF, 0, 0, 0], np.uint32), np.array([0, 1 << 62, 1 << 63, 0, 0, (1 << 64) - 1], np.uint64)
    tickets = out(2 * n, np.int32)
    unsigned = [v & 0xFFFFFFFF for v in values]
    bits = reduce(or_, (1 << (v & 63) for v in values))
    xor = int(np.bitwise_xor.reduce(x))
    want_s = [sum(values), 5 - sum(values), min(values), max(values), np.bitwise_and.reduce(x), np.bitwise_or.reduce(x), xor, n]
    want_l = longs([sum(values), min(values), max(values), bits, xor, ~bits])

    def check(module: oric.sim.Module) -> None:
        assert sorted(tickets[:n].tolist()) == list(range(n))
        assert sorted([*tickets[n:].tolist(), int(s[8])]) == sorted([*range(n), -7])
        assert s[:8].tolist() == s32([int(v) for v in want_s]).tolist()

    case = Case(
        2,
        n // 2,
        [x, s, u, wide, tickets],
        {2: [min(unsigned), max(unsigned), n % 18, decremented(n, 9)], 3: want_l},
        check=check,
    )
    del case.before[1], case.before[4]
    return case


@kernel()
def atomic_floats(rng: Any) -> Case:
    x = rng.integers(-8, 9, 128).astype(np.float32)
    f = np.zeros(9, np.float32)
    want = np.zeros(9, np.float32)
    want[0], want[1:3], want[8] = x.sum(), x.reshape(2, 64).sum(1), max(x.max(), 0)
    return Case(2, 64, [x, f, np.zeros(1), np.zeros(2, np.float16)], {1: want, 2: [x.sum()], 3: [x.sum()] * 2})


@kernel()
def histogram_shared(rng: Any) -> Case:
    x = rng.binomial(255, 0.4, 2000).astype(np.uint8)
    return Case(3, 128, [x, np.zeros(256, np.uint32), x.size], {1: np.bincount(x, minlength=256)})


@kernel()
def hash_table(rng: Any) -> Case:
    keys = rng.choice(rng.integers(0, 1 << 31, 60), 256).astype(np.uint32)
    table, counts = np.full(128, 0xFFFFFFFF, np.uint32), np.zeros(128, np.uint32)

    def check(module: oric.sim.Module) -> None:
        found = {int(k): int(c) for k, c in zip(table, counts, strict=True) if k != 0xFFFFFFFF}
        values, number = np.unique(keys, return_counts=True)
        assert found == dict(zip(values.tolist(), number.tolist(), strict=True))

    case = Case(4, 64, [keys, table, counts, 128], {}, check=check)
    del case.before[1], case.before[2]
    return case


@kernel()
def spin_lock(rng: Any) -> Case:
    return Case(1, 16, [np.zeros(1, np.int32), np.ones(1, np.int32), 2], {1: [1 + 3 * 2 * 16]})


@kernel()
def last_block_sum(rng: Any) -> Case:
    x = numbers(rng, 1000)
    partial = [sum(int(x[k]) for k in range(1000) if k // 128 % 4 == b) for b in range(4)]
    args = [x, out(4, np.int32), out(1, np.int32), 1000]
    return Case(4, 128, args, {1: partial, 2: [x.sum()]}, setup=lambda m: m.write_global("blocks_done", bytes(4)))


@kernel()
def warp_aggregated(rng: Any) -> Case:
    x = numbers(rng, 256)
    kept, chosen = out(256, np.int32), np.sort(x[x % 3 == 0])

    def check(module: oric.sim.Module) -> None:
        assert np.array_equal(np.sort(kept[: chosen.size]), chosen)

    case = Case(2, 128, [x, kept, np.zeros(1, np.int32)], {2: [chosen.size]}, check=check)
    del case.before[1]
    return case


@kernel()
def work_queue(rng: Any) -> Case:
    items, block = 10, 64
    total = block * (block - 1) // 2
    return Case(
        3, block, [np.zeros(1, np.int32), np.zeros(items, np.int32), items], {0: [items + 3], 1: total + block * np.arange(items)}
    )


@kernel()
def grid_sync(rng: Any) -> Case:
    x, steps = numbers(rng, 64), 3
    states = [x.astype(np.int64)]
    for _ in range(steps):
        states.append(np.roll(states[-1], -1) + np.roll(states[-1], 1))

    def setup(module: oric.sim.Module) -> None:
        module.write_global("arrived", bytes(4))
        module.write_global("phase", bytes(4))

    return Case(2, 32, [x.copy(), out(64, np.int32), steps], {0: s32(states[2]), 1: s32(states[3])}, setup=setup)


@kernel()
def linked_lists(rng: Any) -> Case:
    keys, buckets = rng.integers(0, 1000, 128).astype(np.int32), 16
    heads, nodes = np.full(buckets, -1, np.int32), out((128, 2), np.int32)

    def check(module: oric.sim.Module) -> None:
        for bucket in range(buckets):
            at, found = int(heads[bucket]), []
            while at >= 0:
                found.append(int(nodes[at, 0]))
                at = int(nodes[at, 1])
            assert sorted(found) == sorted(keys[keys % buckets == bucket].tolist())

    case = Case(2, 64, [keys, heads, nodes, buckets], {}, setup=lambda m: m.write_global("free_list", bytes(4)), check=check)
    del case.before[1], case.before[2]
    return case


@kernel()
def scan_lookback(rng: Any) -> Case:
    x = numbers(rng, 512)
    state = np.zeros((4, 4), np.int32)
    sums = x.reshape(4, 128).sum(1)
    want = np.column_stack([np.full(4, 2), sums, np.cumsum(sums), np.zeros(4)])
    return Case(4, 128, [x, out(512, np.int32), state, np.zeros(1, np.uint32)], {1: np.cumsum(x), 2: want, 3: words([4])})
