"""Launches of recursion.cu; what is wanted is computed without recursion where Python has a better way."""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import numpy as np

from tests.programs.portable.case import Case, Close, out, program, s32

M32 = 0xFFFFFFFF


@program()
def quicksort(rng: Any) -> Case:
    a = rng.integers(-50, 50, (32, 17)).astype(np.int32)
    return Case(1, 32, [a, 17], {0: np.sort(a, axis=1)})


@program()
def mergesort(rng: Any) -> Case:
    a = rng.integers(-9, 9, (32, 13)).astype(np.int32)
    return Case(1, 32, [a, out(a.shape, np.int32), 13], {0: np.sort(a, axis=1)}, free=(1,))


@program()
def queens(rng: Any) -> Case:
    def count(n: int) -> int:
        lines = itertools.permutations(range(n))
        return sum(len({x + y for y, x in enumerate(p)}) == len({x - y for y, x in enumerate(p)}) == n for p in lines)

    counts = {n: count(n) for n in range(1, 8)}
    return Case(1, 32, [out(32, np.int32)], {0: [counts[1 + (t & 7) % 7] for t in range(32)]})


@program()
def search_tree(rng: Any) -> Case:
    keys, depths = rng.integers(-99, 99, (32, 11)).astype(np.int32), []
    for row in keys.tolist():
        deep: list[tuple[int, int, int]] = []  # keys, numbers, and how deep: right below the deeper neighbour that came before
        for number, key in enumerate(row):
            below = max((e for e in deep if e[:2] <= (key, number)), default=(0, 0, 0))
            above = min((e for e in deep if e[:2] > (key, number)), default=(0, 0, 0))
            deep.append((key, number, 1 + max(below[2], above[2])))
        depths.append(max(d for *_, d in deep))
    return Case(1, 32, [keys, out(keys.shape, np.int32), out(32, np.int32), 11], {1: np.sort(keys, axis=1), 2: depths})


@program()
def hofstadter(rng: Any) -> Case:
    male, female = [0], [1]
    for n in range(1, 16):
        male.append(n - female[male[n - 1]])
        female.append(n - male[female[n - 1]])
    return Case(1, 32, [out((32, 2), np.int32)], {0: [(male[t & 15], female[t & 15]) for t in range(32)]})


@program()
def takeuchi(rng: Any) -> Case:
    @cache
    def tak(x: int, y: int, z: int) -> int:
        return tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y)) if y < x else z

    return Case(1, 32, [out(32, np.int32)], {0: [tak(t & 7, t >> 1 & 3, t >> 3) for t in range(32)]})


@program()
def permute(rng: Any) -> Case:
    want = []
    for t in range(32):
        n = 2 + t % 4
        p, total, number, work = [i + t for i in range(n)], 0, 0, [(n, 0)]  # calls that are to be made: size, turns done
        while work:
            k, i = work.pop()
            if k == 1:
                value = 0
                for x in p:
                    value = value * 7 + x
                total, number = (total * 31 + value) & M32, number + 1
                continue
            if i > 0:
                j = 0 if k & 1 else i - 1
                p[j], p[k - 1] = p[k - 1], p[j]
            if i < k:
                work += [(k, i + 1), (k - 1, 0)]
        want.append((number, total))
    return Case(1, 32, [out((32, 2), np.uint32)], {0: want})


@program()
def integrate(rng: Any) -> Case:
    ends = rng.random(32) * 4
    return Case(1, 32, [ends, out(32, np.float64)], {1: Close(np.arctan(ends), atol=2e-5)})  # the rule's own error


@program()
def flood(rng: Any) -> Case:
    w, h = 7, 6
    grids = np.where(rng.random((32, h, w)) < 0.6, ord("."), ord("x")).astype(np.uint8)
    sizes, wanted = np.zeros((32, 8), np.int32), np.zeros((32, 8), np.int32)
    for t in range(32):
        label = np.arange(h * w).reshape(h, w)
        free = grids[t] == ord(".")
        for _ in range(h * w):  # the least number of an area
            for a, b in (
                (np.s_[1:, :], np.s_[:-1, :]),
                (np.s_[:-1, :], np.s_[1:, :]),
                (np.s_[:, 1:], np.s_[:, :-1]),
                (np.s_[:, :-1], np.s_[:, 1:]),
            ):
                near = np.where(free[a] & free[b], np.minimum(label[a], label[b]), label[a])
                label[a] = near
        names, counts = np.unique(label[free], return_counts=True)
        for n, size in enumerate(counts[np.argsort(names)]):
            wanted[t, n % 8] = size
    return Case(1, 32, [grids, sizes, w, h], stack=8192, want={0: np.where(grids == ord("."), ord("#"), grids), 1: wanted})


@program()
def call_chain(rng: Any) -> Case:
    def step(x: int, n: int) -> int:
        def low(x: int, n: int) -> int:
            x += n
            return 2 * (end(3 * x, n - 1) + 1 if n & 8 else x ^ n)

        def both(x: int) -> int:
            return low(x, n) - low(x >> 1, n - 1) ^ x

        return both(x + 1) + both(x - 1)

    def end(x: int, n: int) -> int:
        return step(x, n - 1) + n if n else x

    a = rng.integers(-1000, 1000, 32)
    return Case(1, 32, [a, out(32, np.int64)], {1: [end(int(a[t]), t % 12) for t in range(32)]})


@program()
def struct_values(rng: Any) -> Case:
    a = rng.integers(-999, 999, (32, 10)).astype(np.int32)
    whole, real = [], []
    for t in range(32):
        states, d = [a[t].astype(np.int64)], [float(t)]
        for n in range(t & 7, 0, -1):
            states.append(np.roll(states[-1], -3) + n * np.arange(10))
            d.append(d[-1] * 0.5 + n)
        total, value = states[-1], d[-1]
        for state, x in zip(states[-2::-1], d[-2::-1], strict=True):
            total, value = total ^ state, value + x
        whole.append(total)
        real.append(value)
    return Case(1, 32, [a, out((32, 10), np.int32), out(32, np.float64)], {1: s32(whole), 2: real})
