"""Launches of orders.cu."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tests.programs.case import Case, Close, out, program

FAR = 1 << 29


@program()
def odd_even(rng: Any) -> Case:
    a = rng.integers(-30000, 30000, (2, 128)).astype(np.int16)
    return Case(2, 64, [a], {0: np.sort(a, axis=1)})


@program()
def heap_sort(rng: Any) -> Case:
    a = rng.standard_normal((64, 20))
    return Case(2, 32, [a, 20], {0: np.sort(a, axis=1)})


@program()
def shell_sort(rng: Any) -> Case:
    a = rng.integers(-99, 99, (32, 40)).astype(np.int32)
    return Case(1, 32, [a, 40], {0: np.sort(a, axis=1)})


@program()
def rank_sort(rng: Any) -> Case:
    a = rng.integers(0, 1 << 63, 192).astype(np.uint64)
    a[100:130] = a[0]
    return Case(3, 64, [a, out(192, np.uint64), 192], {1: np.sort(a)})


@program()
def radix_warp(rng: Any) -> Case:
    a = rng.integers(0, 1 << 32, (3, 32)).astype(np.uint32)
    return Case(3, 32, [a], {0: np.sort(a, axis=1)})


@program()
def counting_sort(rng: Any) -> Case:
    a = (rng.standard_normal(700) * 20 + 128).astype(np.uint8)
    return Case(1, 256, [a, out(700, np.uint8), 700], {1: np.sort(a)})


@program()
def bitonic_grid(rng: Any) -> Case:
    a = rng.standard_normal(256).astype(np.float32)
    return Case(2, 64, [a, 256], {0: np.sort(a)}, cooperative=True)


@program()
def binary_search(rng: Any) -> Case:
    table = np.sort(rng.integers(0, 60, 100)).astype(np.int32)
    keys = rng.integers(-2, 62, 64).astype(np.int32)
    want = {2: np.searchsorted(table, keys), 3: np.searchsorted(table, keys, "right")}
    return Case(2, 32, [table, keys, out(64, np.int32), out(64, np.int32), 100], want)


@program()
def quick_select(rng: Any) -> Case:
    rows, which = rng.integers(0, 30, (32, 25)).astype(np.float32), rng.integers(0, 25, 32).astype(np.int32)
    return Case(1, 32, [rows, which, out(32, np.float32), 25], {2: np.sort(rows, axis=1)[np.arange(32), which]})


def graph(rng: Any, n: int, m: int) -> list[tuple[int, int]]:
    """Different edges between vertices, each from the lesser one."""
    pairs = list(itertools.combinations(range(n), 2))
    return [pairs[k] for k in sorted(rng.choice(len(pairs), m, replace=False))]


def by_rows(n: int, edges: list[tuple[int, int]]) -> tuple[Any, Any]:
    both = sorted(edges + [(b, a) for a, b in edges])
    starts = np.searchsorted([a for a, _ in both], np.arange(n + 1)).astype(np.int32)
    return starts, np.array([b for _, b in both], np.int32)


def distances(n: int, edges: dict[tuple[int, int], int]) -> Any:
    d = np.full((n, n), FAR, np.int64)
    d[np.arange(n), np.arange(n)] = 0
    for (a, b), w in edges.items():
        d[a, b] = min(d[a, b], w)
    for k in range(n):
        d = np.minimum(d, d[:, k : k + 1] + d[k : k + 1])
    return np.minimum(d, FAR)


@program()
def breadth_first(rng: Any) -> Case:
    n, edges = 90, graph(rng, 90, 130)
    starts, rows = by_rows(n, edges)
    depth = distances(n, {pair: 1 for a, b in edges for pair in ((a, b), (b, a))})[0]
    return Case(1, 64, [starts, rows, out(n, np.int32), n], {2: np.where(depth < FAR, depth, -1)})


@program()
def bellman_ford(rng: Any) -> Case:
    n, m = 48, 180
    pairs = rng.permutation(list(itertools.permutations(range(n), 2)))[:m]
    weights = rng.integers(1, 100, m).astype(np.int32)
    want = distances(n, {(int(a), int(b)): int(w) for (a, b), w in zip(pairs, weights, strict=True)})[0]
    args = [pairs[:, 0].astype(np.int32), pairs[:, 1].astype(np.int32), weights, out(n, np.int32), n, m]
    case = Case(1, 64, args, {})

    def check(_: Any) -> None:
        got = case.args[3]
        assert np.array_equal(np.minimum(got, FAR), want), (got, want)

    case.check = check
    case.free = (3,)
    return case


@program()
def floyd_warshall(rng: Any) -> Case:
    n = 24
    d = rng.integers(1, 50, (n, n)).astype(np.int32)
    d[rng.random((n, n)) < 0.7] = FAR
    d[np.arange(n), np.arange(n)] = 0
    want = distances(n, {(a, b): int(d[a, b]) for a, b in itertools.permutations(range(n), 2)})
    return Case(1, 128, [d, n], {0: want}, shared=4 * n * n)


@program()
def components(rng: Any) -> Case:
    n, edges = 100, graph(rng, 100, 70)
    least = np.arange(n)
    for _ in range(n):
        for a, b in edges:
            least[a] = least[b] = min(least[a], least[b])
    pairs = rng.permutation(np.array(edges, np.int32))
    return Case(1, 64, [pairs[:, 0].copy(), pairs[:, 1].copy(), out(n, np.int32), n, 70], {2: least})


def matrix(n: int, edges: list[tuple[int, int]]) -> Any:
    rows = [0] * n
    for a, b in edges:
        rows[a] |= 1 << b
        rows[b] |= 1 << a
    return np.array(rows, np.uint64)


@program()
def triangles(rng: Any) -> Case:
    edges = graph(rng, 40, 300)
    known = set(edges)
    count = sum({(a, b), (a, c), (b, c)} <= known for a, b, c in itertools.combinations(range(40), 3))
    return Case(1, 64, [matrix(40, edges), np.zeros(1, np.uint32), 40], {1: [count]})


@program()
def page_rank(rng: Any) -> Case:
    n, edges = 60, graph(rng, 60, 200)
    starts, rows = by_rows(n, edges)
    degree = np.diff(starts).astype(np.int32)
    rank = np.full(n, 1 / n)
    for _ in range(12):
        rank = 0.15 / n + 0.85 * np.array([sum(rank[u] / degree[u] for u in rows[starts[v] : starts[v + 1]]) for v in range(n)])
    close = Close(rank, rtol=1e-13)  # order of sums and fused operations
    return Case(1, 64, [starts, rows, degree, out(n, np.float64), out(n, np.float64), n, 12], {3: close, 4: close})


@program()
def spanning_tree(rng: Any) -> Case:
    n = 28
    w = rng.integers(1, 1000, (n, n)).astype(np.int32)
    w = np.minimum(w, w.T)
    parent, total = list(range(n)), 0

    def root(v: int) -> int:
        return v if parent[v] == v else root(parent[v])

    for weight, a, b in sorted((int(w[a, b]), a, b) for a, b in itertools.combinations(range(n), 2)):
        if root(a) != root(b):
            parent[root(a)] = root(b)
            total += weight
    return Case(1, 32, [w, out(1, np.int32), n], {1: [total]})


@program()
def colours(rng: Any) -> Case:
    n, edges = 64, graph(rng, 64, 320)
    weight = rng.permutation(64).astype(np.uint32)
    rows, colour = matrix(n, edges), [-1] * n
    for v in sorted(range(n), key=lambda k: -int(weight[k])):
        used = {colour[u] for u in range(n) if int(rows[v]) >> u & 1}
        colour[v] = next(c for c in range(n) if c not in used)
    return Case(1, 64, [rows, weight, out(n, np.int32), n], {2: colour})
