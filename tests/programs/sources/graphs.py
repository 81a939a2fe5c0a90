"""Launches of graphs.cu. Where floating-point sums may be fused or reordered, a result may be off by some last places."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np

from tests.programs.case import Case, Close, out, program

Rows = list[list[int]]


def graph(rng: Any, n: int, m: int, directed: bool = False) -> Rows:
    """The neighbours of each vertex, in order; where ``directed``, from lesser to greater numbers only."""
    pairs = list(itertools.combinations(range(n), 2))
    rows: Rows = [[] for _ in range(n)]
    for k in rng.choice(len(pairs), m, replace=False):
        a, b = pairs[k]
        rows[a].append(b)
        if not directed:
            rows[b].append(a)
    return [sorted(row) for row in rows]


def packed(rows: Rows) -> tuple[Any, Any]:
    starts = np.cumsum([0, *map(len, rows)]).astype(np.int32)
    return starts, np.array([v for row in rows for v in row], np.int32)


@program()
def rank_push(rng: Any) -> Case:
    n = 300
    rows = graph(rng, n, 700, directed=True)
    rank = rng.random(n).astype(np.float32)
    want, lost = np.zeros(n), 0.0
    for v, row in enumerate(rows):
        for u in row:
            want[u] += 0.85 * float(rank[v]) / len(row)
        lost += 0.0 if row else float(rank[v])
    args = [*packed(rows), rank, np.zeros(n, np.float32), np.zeros(1, np.float32), n, np.float32(0.85)]
    return Case(2, 64, args, {3: Close(want, rtol=1e-5), 4: Close([lost], rtol=1e-5)})


@program()
def frontier_step(rng: Any) -> Case:
    n = 600
    rows = graph(rng, n, 2600)
    rows[3] = sorted(set(range(5, 75)) | set(rows[3]))
    level = np.full(n, -1, np.int32)
    queue = np.unique(np.append(rng.integers(0, n, 38), 3)).astype(np.int32)
    level[queue] = 4
    level[rng.integers(0, n, 90)] = 2
    want = level.copy()
    found = {u for v in queue for u in rows[v] if level[u] < 0}
    want[list(found)] = 5
    following = out(n, np.int32)
    args = [*packed(rows), queue, len(queue), level, following, np.zeros(1, np.int32), 4]
    case = Case(3, 64, args, {4: want, 6: [len(found)]})
    case.free = (5,)
    case.check = lambda _: np.testing.assert_array_equal(np.sort(case.args[5][: len(found)]), sorted(found))
    return case


@program()
def spmv_lanes(rng: Any) -> Case:
    n, wide = 90, 120
    matrix = rng.standard_normal((n, wide)).astype(np.float32) * (rng.random((n, wide)) < rng.random((n, 1)) ** 2)
    rows = [np.flatnonzero(row).tolist() for row in matrix]
    starts, columns = packed(rows)
    values = np.concatenate([matrix[r, row] for r, row in enumerate(rows)])
    x = rng.standard_normal(wide).astype(np.float32)
    want = matrix.astype(np.float64) @ x.astype(np.float64)
    return Case(6, 128, [values, columns, starts, x, out(n, np.float32), n], {4: Close(want, atol=3e-5)})


@program()
def spmv_ell(rng: Any) -> Case:
    n, wide, most = 200, 150, 11
    columns, values = np.full((most, n), -1, np.int32), rng.standard_normal((most, n))
    x, y = rng.standard_normal(wide), rng.standard_normal(n)
    want = -0.5 * y
    for row in range(n):
        count = int(rng.integers(0, most + 1))
        columns[:count, row] = rng.choice(wide, count, replace=False)
        want[row] += 1.25 * (values[:count, row] @ x[columns[:count, row]])
    return Case(2, 64, [values, columns, x, y, n, most, 1.25, -0.5], {3: Close(want, rtol=1e-12, atol=1e-13)})


@program()
def triangle_merge(rng: Any) -> Case:
    n = 70
    rows = graph(rng, n, 500, directed=True)
    edges = np.array([(a, b) for a, row in enumerate(rows) for b in row], np.int32)
    sets = [set(row) for row in rows]
    count = sum(len(sets[a] & sets[b]) for a, b in edges)
    return Case(4, 128, [*packed(rows), edges, np.zeros(1, np.uint64), len(edges)], {3: [count]})


@program()
def topological_levels(rng: Any) -> Case:
    n = 400
    rows = graph(rng, n, 700, directed=True)
    names = rng.permutation(n)
    named: Rows = [[] for _ in range(n)]
    level, degree = np.zeros(n, int), np.zeros(n, np.int32)
    for v, row in enumerate(rows):
        named[names[v]] = [int(names[u]) for u in row]
        for u in row:
            level[u] = max(level[u], level[v] + 1)
            degree[names[u]] += 1
    want = np.empty(n, int)
    want[names] = level
    args = [*packed(named), degree, out(n, np.int32), out(1, np.int32), n]
    return Case(1, 128, args, {2: np.zeros(n), 3: want, 4: [level.max() + 1]})


@program()
def core_numbers(rng: Any) -> Case:
    n = 150
    rows = graph(rng, n, 350)
    dense = [int(v) for v in rng.choice(n, 12, replace=False)]
    for a, b in itertools.permutations(dense, 2):
        if b not in rows[a]:
            rows[a].append(b)
    left, k, want = {v: set(row) for v, row in enumerate(rows)}, 0, [0] * n
    while left:
        v = min(left, key=lambda u: len(left[u]))
        k = max(k, len(left[v]))
        want[v] = k
        for u in left.pop(v):
            left[u].discard(v)
    return Case(1, 96, [*packed(rows), out(n, np.int32), n], {2: want}, shared=4 * n)


@program()
def spread_labels(rng: Any) -> Case:
    n, limit = 100, 8
    rows = [row[:12] for row in graph(rng, n, 200)]
    states = [[int(x) for x in rng.permutation(n)]]
    while len(states) <= limit and (len(states) < 2 or states[-1] != states[-2]):
        now, then = states[-1], []
        for v, row in enumerate(rows):
            counts = Counter(now[u] for u in row)
            then.append(min(counts, key=lambda x: (-counts[x], x)) if counts else now[v])
        states.append(then)
    turns = len(states) - 1
    even, odd = states[turns - turns % 2], states[turns - 1 + turns % 2]
    args = [*packed(rows), np.array(states[0], np.int32), out(n, np.int32), out(1, np.int32), n, limit]
    return Case(1, 64, args, {2: even, 3: odd, 4: [turns]})


@program()
def random_walks(rng: Any) -> Case:
    n, steps, restart, threads = 80, 20, 1 << 29, 128
    rows = graph(rng, n, 150)
    visits, last, word = [0] * n, [], (1 << 64) - 1
    for t in range(threads):
        state, stream = (0x853C49E6748FEA9B + t) & word, 2 * t + 1

        def drawn() -> int:
            nonlocal state
            old = state
            state = (old * 6364136223846793005 + (stream | 1)) & word  # noqa: B023
            mixed, turn = (((old >> 18) ^ old) >> 27) & 0xFFFFFFFF, old >> 59
            return ((mixed << 32 | mixed) >> turn) & 0xFFFFFFFF

        home = at = t % n
        before = -1
        for _ in range(steps):
            row = rows[at]
            if not row or drawn() < restart:
                before, at = -1, home
            else:
                to = row[drawn() * len(row) >> 32]
                if to == before and drawn() & 3:
                    to = row[drawn() * len(row) >> 32]
                before, at = at, to
            visits[at] += 1
        last.append(at)
    args = [*packed(rows), out(threads, np.int32), np.zeros(n, np.uint32), n, steps, restart]
    return Case(2, 64, args, {2: last, 3: visits})
