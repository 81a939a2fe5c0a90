"""Threads together: shuffles, votes, atomics, barriers, divergence, calls, memory spaces, in vendor-made cubins."""

from __future__ import annotations

from typing import Any

import numpy as np
import oric.sim
import pytest

from tests.sim.test_vendor_arithmetic import s32
from tests.sim.vendor_cubins import TARGETS, module, run

Array = np.ndarray[Any, Any]
targets = pytest.mark.parametrize("target", TARGETS)


def data(seed: int, count: int, low: int = -1000, high: int = 1000) -> Array:
    return np.random.default_rng(seed).integers(low, high, count, dtype=np.int32)


@targets
def test_shuffles_votes_matches(target: str) -> None:
    n = 128
    x = data(1, n)
    x[40], x[64:96] = 5, 1 << 21
    out = np.zeros((n, 12), np.int32)
    run(module("threads", target), "shfl", n, [x, out, n])
    for i in range(n):
        lane, warp = i % 32, x[i // 32 * 32 :][:32]
        same = [sum(1 << k for k in range(32) if key(warp[k]) == key(x[i])) for key in (lambda v: v & 7, lambda v: v >> 20)]
        everyone = same[1] == 0xFFFFFFFF
        want = [
            warp[i * 7 & 31],
            warp[lane - 3 if lane >= 3 else lane],
            warp[lane + 5 if lane + 5 < 32 else lane],
            warp[lane ^ 9],
            warp[(lane & 24) | (i & 3)],
            warp[lane - 2 if lane % 8 >= 2 else lane],
            warp[lane + 3 if lane % 16 + 3 < 16 else lane],
            warp[lane ^ 1],
            s32(sum(1 << k for k in range(32) if warp[k] & 1)),
            int(5 in warp) | int((warp > -1000).all()) << 1,
            s32(same[0]),
            s32(same[1] + 1) if everyone else 0,
        ]
        assert out[i].tolist() == [int(v) for v in want], i


@targets
def test_parts_of_warps(target: str) -> None:
    n = 128
    x = data(2, n)
    out = np.zeros((n, 4), np.int32)
    run(module("threads", target), "part", n, [x, out])
    for base in range(0, n, 32):
        for odd in (0, 1):
            lanes = [k for k in range(32) if (x[base + k] & 1) == odd]
            members = [int(x[base + k]) for k in lanes]
            unsigned = [m & 0xFFFFFFFF for m in members]
            if odd:
                want = [members[0], s32(sum(members)), max(members), len(members)]
            else:
                want = [
                    s32(min(unsigned)),
                    s32(np.bitwise_or.reduce(unsigned)),
                    s32(np.bitwise_xor.reduce(unsigned)),
                    s32(sum(1 << k for k in lanes if x[base + k] > 7)),
                ]
            for k in lanes:
                assert out[base + k].tolist() == want, (base, k)


def integer_atomics(x: list[int]) -> list[int]:
    ands = ors = xors = 0
    ands = -1
    for v in x:
        ands, ors, xors = ands & v, ors | v, xors ^ v
    return [s32(sum(x)), min(x), max(x), ands, ors, xors, 5]


@targets
def test_global_atomics(target: str) -> None:
    n = 192
    x = data(3, n)
    s = np.array([0, 1 << 30, -(1 << 30), -1, 0, 0, 1, 100, 0, 0], np.int32)
    u = np.array([0, 0, 0xFFFFFFFF, 0, 0, 0], np.uint32)
    f, d = np.zeros(1, np.float32), np.zeros(1)
    wide = np.array([0, 0, 1 << 62, 0, 0, 0], np.uint64)
    tickets = np.zeros(n, np.int32)
    run(module("threads", target), "atomg", n, [s, u, f, d, wide, x, tickets])
    values = [int(v) for v in x]
    assert s.tolist() == [*integer_atomics(values), s32(100 - sum(values)), n, 0]
    unsigned = [v & 0xFFFFFFFF for v in values]
    assert u.tolist() == [n % 18, _decrement(n, 9), min(unsigned), max(unsigned), 7, 0]
    assert f[0] == n
    assert d[0] == 2 * n
    assert wide.tolist() == [sum(values) & (1 << 64) - 1, max(unsigned), min(values) & (1 << 64) - 1, (1 << 64) - 1, 9, 11]
    assert sorted(tickets.tolist()) == list(range(n))


def _decrement(times: int, limit: int) -> int:
    value = 0
    for _ in range(times):
        value = limit if value == 0 or value > limit else value - 1
    return value


@targets
def test_shared_atomics(target: str) -> None:
    n = 96
    x = data(4, n)
    out, fo = np.zeros(17, np.int32), np.zeros(2, np.float32)
    module("threads", target).launch("atoms", 1, n, [out, x, fo])
    values = [int(v) for v in x]
    unsigned = [v & 0xFFFFFFFF for v in values]
    counters = [n % 18, _decrement(n, 9), min(unsigned), 0, 7, 0]
    assert out.tolist() == [*integer_atomics(values), n, *map(s32, counters), s32(sum(values)), 9, s32(max(unsigned))]
    assert fo.tolist() == [1.5 * n, 0.25 * n]


@targets
def test_spin_lock_and_cas_loop(target: str) -> None:
    """Every thread of a warp takes the lock: only a scheduler that lets diverged threads go on in turn ends."""
    n = 64
    a = np.random.default_rng(5).random(n).astype(np.float32)
    lock, v, fm = np.zeros(1, np.int32), np.zeros(2, np.int32), np.zeros(1, np.float32)
    run(module("threads", target), "casloop", n, [lock, v, fm, a])
    want = 0
    for _ in range(n):
        want = want * 3 % 1000003 + 1
    assert v.tolist() == [want, n]
    assert fm[0] == a.max()


def _c_mod(a: int, b: int) -> int:
    return a - b * int(a / b)


def diverged(x: int) -> int:
    r = 0
    jumped = False
    for k in range(_c_mod(x, 17) + 3):
        if _c_mod(k ^ x, 3) == 0:
            continue
        for j in range(_c_mod(x + k, 7)):
            if j * k > _c_mod(x, 11) + 5:
                break
            r += j * k + x
            if r > 100000:
                jumped = True
                break
        if jumped:
            break
        if _c_mod(r, 5) == 0:
            r += 3
        elif _c_mod(r, 5) == 1:
            r ^= x
            while r & 8:
                r -= 5
        else:
            r *= 2
    which = _c_mod(x, 6)
    if which == 0:
        r += 1
    elif which == 1:
        r = r * 3 - 7  # the source falls through
    elif which == 2:
        r -= 7
    elif which == 3:
        r += sum(range(_c_mod(x, 9)))
    elif which == 4:
        r = ~r
    else:
        r ^= 0x55
    return s32(r)


@targets
def test_divergence(target: str) -> None:
    n = 200
    x = data(6, n, 0, 5000)
    out = np.zeros(n, np.int32)
    run(module("threads", target), "diverge", n, [x, out, n])
    assert out.tolist() == [diverged(int(v)) for v in x]


@targets
def test_recursion_and_function_pointers(target: str) -> None:
    n = 70
    x = data(7, n, 0, 1000)
    out = np.zeros(n, np.int32)
    fib = [0, 1, 1, 2, 3, 5, 8, 13]
    loaded = module("threads", target)
    run(loaded, "recurse", n, [x, out, n])
    assert out.tolist() == [fib[v & 7] for v in x.tolist()]
    run(loaded, "fptr", n, [x, out, n])
    assert out.tolist() == [(v + 1, v * 3, v ^ 0xFF)[v % 3] for v in x.tolist()]


@targets
def test_local_arrays(target: str) -> None:
    n = 100
    x = data(8, n, 0, 50)
    out = np.zeros(n, np.int32)
    run(module("threads", target), "local", n, [x, out, n])
    for i in range(n):
        b = [int(x[(i + k) % n]) * k for k in range(40)]
        total, j = 0, int(x[i]) & 31
        for _ in range(20):
            total += b[j]
            j = (j * 5 + b[j] % 7 + 7) % 40
        assert out[i] == total


@targets
@pytest.mark.parametrize("space", [0, 1, 2])
def test_generic_addresses(target: str, space: int) -> None:
    g = np.arange(192, dtype=np.int32) * 10
    before = g.copy()
    module("threads", target).launch("generic", 1, 64, [g, space, 0])
    i = np.arange(64)
    old = [before[:64], i * 2, i % 4 + 1][space]
    assert (g[64:128] == old + 5 + (2000, 1000, 4000)[space]).all()
    final_global = before[:64] + (12 if space == 0 else 0)
    final_shared = i * 2 + (12 if space == 1 else 0)
    assert (g[128:] == final_global + final_shared).all()


@targets
def test_dynamic_shared_memory(target: str) -> None:
    n = 96
    out = np.zeros(n, np.int32)
    module("threads", target).launch("dynsh", 1, n, [out, n], shared_bytes=4 * n)
    i = np.arange(n)
    assert (out == (i + 1) % n + i % 10 * 100).all()
    with pytest.raises(oric.sim.OutOfBounds, match="shared"):
        module("threads", target).launch("dynsh", 1, n, [out, n], shared_bytes=4 * n - 16)


@targets
def test_reducing_barriers(target: str) -> None:
    n = 160
    x = data(9, n, 0, 100)
    x[100] = 77
    out = np.zeros(n, np.int32)
    run(module("threads", target), "counts", n, [x, out], block=80)
    for part in (slice(0, 80), slice(80, 160)):
        assert (out[part] == int((x[part] & 1).sum()) * 4 + 2 + int(77 in x[part])).all()


@targets
def test_named_barriers(target: str) -> None:
    out = np.zeros(192, np.int32)
    module("threads", target).launch("named", 1, 96, [out, 3])
    lane = np.arange(32)
    assert (out[:32] == lane * 3 + 1).all()
    assert (out[32:64] == (31 - lane) * 3).all()
    assert (out[64:160] == 2).all()


@targets
def test_cooperative_groups(target: str) -> None:
    n = 64
    x = data(10, n)
    out = np.zeros(n, np.int32)
    run(module("threads", target), "cg1", n, [x, out])
    for i in range(n):
        tile = x[i // 8 * 8 :][:8]
        want = int(tile.sum()) + i % 64 // 8 * 1000 + 32
        if _c_mod(int(x[i]), 3) == 0:
            members = [k for k in range(i // 32 * 32, i // 32 * 32 + 32) if _c_mod(int(x[k]), 3) == 0]
            want += members.index(i) * 100000 + int(x[members[0]])
        assert out[i] == s32(want), i


@targets
def test_asynchronous_copies(target: str) -> None:
    a = data(11, 256).reshape(64, 4)
    out = np.zeros((64, 4), np.int32)
    module("threads", target).launch("cpasync", 1, 64, [a, out])
    want = a[::-1].copy()
    for i in range(64):
        k = i % 5
        words = 2 if k > 1 else k
        want[i, 3] += int(a[i, :words].sum())
    assert (out == want).all()


@targets
def test_last_block(target: str) -> None:
    a = np.random.default_rng(12).integers(0, 9, 1000).astype(np.float32)
    part, count, out = np.zeros(7, np.float32), np.zeros(1, np.uint32), np.zeros(1, np.float32)
    module("threads", target).launch("lastblock", 7, 64, [a, part, count, out, 1000])
    assert out[0] == a.sum()


@targets
def test_blocks_that_wait_for_each_other(target: str) -> None:
    flag, out = np.zeros(1, np.int32), np.zeros(5 * 64, np.int32)
    module("threads", target).launch("gridsync", 5, 64, [flag, out])
    assert (out == 5).all()


@targets
def test_indices_in_three_dimensions(target: str) -> None:
    grid, block = (2, 3, 2), (5, 4, 3)
    threads = 60
    out = np.zeros((12 * threads, 4), np.int32)
    module("threads", target).launch("ids", grid, block, [out])
    for b in range(12):
        for t in range(threads):
            bx, by, bz, tx, ty, tz = b % 2, b // 2 % 3, b // 6, t % 5, t // 5 % 4, t // 20
            lane = t % 32
            want = [bx + 10 * by + 100 * bz + 1000 * tx + 10000 * ty + 100000 * tz, lane, s32(1 << lane), (1 << lane) - 1]
            assert out[b * threads + t].tolist() == want
