"""Launches of memory.cu; strict mode with the memory checker also sees what is freed twice, or used after that."""

from __future__ import annotations

from typing import Any

import numpy as np
import oric.sim

from tests.programs.portable.case import Case, longs, out, program, s32


@program()
def heap_list(rng: Any) -> Case:
    a = rng.integers(-50, 50, (32, 9)).astype(np.int32)
    want = np.full(a.shape, -1000)
    for t, row in enumerate(a.tolist()):
        odd = sorted(x for x in row if x % 2)
        want[t, : len(odd)] = odd
    return Case(1, 32, [a, out(a.shape, np.int32), 9], {1: want})


@program()
def heap_tree(rng: Any) -> Case:
    a, want = rng.integers(-30, 30, (32, 10)).astype(np.int32), []
    for row in a.tolist():
        levels: dict[int, int] = {}
        for key in row:
            near = [
                levels[k]
                for k in (max((k for k in levels if k < key), default=None), min((k for k in levels if k > key), default=None))
                if k is not None
            ]
            levels.setdefault(key, 1 + max(near, default=0))
        want.append(sum(k * n for k, n in levels.items()))
    return Case(1, 32, [a, out(32, np.int64), 10], {1: longs(want).view(np.int64)})


@program()
def printed_lines(rng: Any) -> Case:
    a, d = rng.integers(-999, 999, 5).astype(np.int32), rng.standard_normal(5)
    lines = [
        f"{t}: {x:5d}|{x & 0xFFFFFFFF:<6x}|{chr(97 + t)} {'odd' if t & 1 else 'even'} {y:.3f} {x << 33} %\n"
        for t, (x, y) in enumerate(zip(a.tolist(), d.tolist(), strict=True))
    ]
    # What printf() gives is the number of its arguments.
    return Case(1, 5, [a, d, out(5, np.int32)], {2: np.full(5, 7)}, printed="".join(lines) + "the end of two\n")


@program()
def printed_recursion(rng: Any) -> Case:
    way = [12]
    while way[-1] != 1:
        way.append(3 * way[-1] + 1 if way[-1] & 1 else way[-1] // 2)
    down = [f"{'':{k}}down {n}\n" if k else f"down {n}\n" for k, n in enumerate(way[:-1])]
    back = [f"back {n} {len(way) - k}\n" for k, n in enumerate(way[:-1])]
    return Case(1, 32, [out(1, np.int32), 12], {0: [len(way)]}, printed="".join(down + back[::-1]))


@program()
def assert_holds(rng: Any) -> Case:
    a = rng.integers(-99, 99, 32).astype(np.int32)
    return Case(1, 32, [a, out(32, np.int32)], {1: np.cumsum(a)}, stack=4096)


@program()
def assert_fires(rng: Any) -> Case:
    a = rng.permutation(32).astype(np.int32)
    at = int(np.flatnonzero(a == 31)[0])
    message = rf"memory\.cu:\d+: .*thread \({at},0,0\).*|thread \({at},0,0\).*"
    return Case(1, 32, [a, out(32, np.int32), 31], {}, fault=(oric.sim.AssertionFailed, message))


@program()
def stack_room(rng: Any) -> Case:
    sizes, want = rng.integers(0, 12, 32).astype(np.int32), []
    for t, n in enumerate(sizes.tolist()):
        a = [t]
        for k in range(1, n):
            a.append(a[-1] * 3 + k)
        total = 0
        for k, x in enumerate(a[:n][::-1]):
            total = total * 7 + (x ^ k)
        want.append(total)
    return Case(1, 32, [sizes, out(32, np.int32)], {1: s32(want)}, stack=1024)


@program()
def large_structs(rng: Any) -> Case:
    a = rng.integers(-99, 99, (32, 30)).astype(np.int32)

    def doubled(r: Any, k: int) -> Any:
        r = list(r)
        for i in range(30):
            r[i] = r[(i + k) % 30] * 2 + i
        return r

    def total(a: Any, b: Any) -> int:
        s = 0
        for x, y in zip(a, b[::-1], strict=True):
            s = s * 3 + (x ^ y)
        return s

    want = []
    for row in a.tolist():
        r = doubled(row, 4)
        s = doubled(r, 7)
        want.append(total(r, s) + total(s, row))
    return Case(1, 32, [a, out(32, np.int32), 4], {1: s32(want)})


@program()
def large_arguments(rng: Any) -> Case:
    a = rng.integers(-99, 99, (32, 30)).astype(np.int32)

    def counted(r: Any, n: int) -> int:
        return counted(np.roll(r, -7) + n, n - 1) * 3 + int(r[n]) if n else int(r[0])

    return Case(1, 32, [a, out(32, np.int32)], {1: s32([counted(a[t], t & 3) for t in range(32)])}, stack=4096)


@program()
def heap_full(rng: Any) -> Case:
    return Case(1, 32, [out(32, np.int32)], {0: np.full(32, 3)})


@program()
def heap_shared(rng: Any) -> Case:
    a = rng.integers(0, 99, 64).astype(np.int32)
    assert (a > 90).sum() <= 16
    return Case(1, 64, [a, out(64, np.int32)], {1: a[::-1] + 1000 * a[a > 90].sum()})
