"""Launches of standard.cu; sums of floats are of small whole numbers, so exact."""

from __future__ import annotations

import datetime
import math
from typing import Any

import numpy as np

from tests.programs.case import Case, Close, longs, out, program, s32, words


@program()
def add_orders(rng: Any) -> Case:
    a, b = rng.integers(-99, 99, 64).astype(np.int32), longs(rng.integers(0, 1 << 62, 64))
    c, e = rng.integers(-9, 9, 64).astype(np.float32), rng.integers(-9, 9, 64).astype(np.float64)
    cells = [np.zeros(1, x.dtype) for x in (a, b, c, e)]
    want = {k: [x.sum()] for k, x in enumerate((a, b, c, e))}
    return Case(2, 32, [*cells, a, b, c, e], want)


@program()
def atomic_operations(rng: Any) -> Case:
    a = rng.integers(-(1 << 31), 1 << 31, 64).astype(np.int32)
    ones = [1 << t % 31 for t in range(64)], [~(1 << (t * 7 & 31)) for t in range(64)]
    cells = [np.bitwise_xor.reduce(a), np.bitwise_or.reduce(ones[0]), -int(a.sum(dtype=np.int64))]
    cells += [np.bitwise_and.reduce(ones[1]), a.min(), max(0, a.max())]
    return Case(1, 64, [out(6, np.int32), a, out(64, np.int32)], {0: s32([int(x) for x in cells]), 2: np.full(64, 3)})


@program()
def exchange_loops(rng: Any) -> Case:
    a = rng.standard_normal(64).astype(np.float32)
    packed = 64 << 32 | sum(range(64))
    sums = [sum(range(k, 64, 4)) % 256 for k in range(4)]
    args = [np.full(1, 99, np.float32), np.zeros(1, np.uint64), np.zeros(4, np.uint8), a]
    return Case(2, 32, args, {0: [a.min()], 1: [packed], 2: sums})


@program()
def hand_over(rng: Any) -> Case:
    a = rng.integers(0, 99, 12).astype(np.int32)
    total = 0
    for x in a.tolist():
        total = total * 3 + x
    return Case(2, 32, [a, np.zeros(3, np.int32), 6], {1: s32([total, 0, 12])})


@program()
def latch_and_semaphore(rng: Any) -> Case:
    squares = np.arange(96) ** 2
    return Case(1, 96, [out(97, np.int32)], {0: [*squares[::-1], 95**2 + 63**2 + 31**2]})


@program()
def barrier_drops(rng: Any) -> Case:
    want = []
    for t in range(128):
        rounds = next((k for k in range(4) if t >= 128 - 32 * k), 4)
        want.append(int("0" + "".join(str(k + 1) for k in range(rounds))))
    return Case(1, 128, [out(128, np.int32)], {0: want})


@program()
def copy_pipeline(rng: Any) -> Case:
    a = rng.integers(-999, 999, (7, 32, 4)).astype(np.int32)
    want = a[:, ::-1, ::-1].copy()
    want[:, :, 1] += np.arange(7)[:, None]
    return Case(1, 32, [a, out(a.shape, np.int32), 7], {1: want})


@program()
def algorithms(rng: Any) -> Case:
    a, n, want = rng.integers(-60, 60, (32, 12)).astype(np.int32), 10, []
    for row in a.tolist():
        v = sorted(row[:9]) + row[9:]
        v = v[4:] + v[:4]
        unique = [x for k, x in enumerate(v) if k == 0 or x != v[k - 1]]
        after = unique + v[len(unique) :]
        line = [*v, sum(v), 7 + sum(x * y for x, y in zip(v[:6], v[6:], strict=True)), max(v), v.index(n) if n in v else 12]
        line += [len(unique), math.gcd(after[0], after[1]), min(max(after[2], -50), 50), sum(x > n for x in after)]
        want.append(line)
    return Case(1, 32, [a, out((32, 20), np.int32), n], {1: want})


@program()
def bits(rng: Any) -> Case:
    a, b = words(rng.integers(1, 1 << 32, 32)), longs(rng.integers(1, 1 << 63, 32)) >> np.arange(32).astype(np.uint64)
    a[3], b[4] = 1 << 20, 7
    a &= np.uint32(0xBFFFFFFF)  # half of it as a float is no subnormal number, and it is finite
    a |= np.uint32(0x20000000)
    want = []
    for t, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        turn, other = t % 40 % 32, t % 64
        row = [x.bit_count(), 32 - x.bit_length(), ((y + 1) & -(y + 1)).bit_length() - 1, y.bit_length()]
        row += [x << turn | x >> (32 - turn), (y >> other | y << (64 - other)) >> 32, int((x & x - 1).bit_count() == 1)]
        z = x >> 3
        row += [1 << (z - 1).bit_length(), 1 << y.bit_length() - 1 >> 20]
        row.append(int((np.array([x], np.uint32).view(np.float32) * np.float32(0.5)).view(np.uint32)[0]))
        want.append(row)
    return Case(1, 32, [a, b, out((32, 10), np.int32)], {2: s32(want)})


@program()
def choices(rng: Any) -> Case:
    a, first, second = rng.integers(0, 100, 64).astype(np.int32), [], []
    for x in a.tolist():
        value = x if x % 3 == 0 else int(x * 0.5 * 4) if x % 3 == 1 else x + (x + 1) * x * 2 - 9
        first.append(value + (x - 50 if x > 50 else -3) * 1000 + (x + int(x * 1.5 * 2) + (x >> 1)) * 7)
        second.append(x if x & 1 else -ord("e"))
    return Case(1, 64, [a, out((2, 64), np.int32)], {1: [first, second]})


@program()
def spans(rng: Any) -> Case:
    a = rng.integers(-99, 99, (9, 13)).astype(np.float32)
    return Case(1, 32, [a, out((9, 13), np.float32), 9, 13], {1: 3 * a + a[-1, -1]})


@program()
def complex_powers(rng: Any) -> Case:
    a = rng.uniform(-1.5, 1, (32, 2)).astype(np.float32)
    z = a[:, 0].astype(complex) + 1j * a[:, 1]
    turns = []
    for c in z:
        w, n = c, 0
        while n < 30 and abs(w) ** 2 < 4:
            w, n = w * w + c, n + 1
        turns.append(n)
    w = (z + (1 + 2j)) / (z - (3 + 1j)) * z.conj()
    args = [a, out((32, 2), np.float32), out(32, np.float64)]
    return Case(
        1, 32, args, {1: Close(np.stack([w.real, w.imag], 1), rtol=1e-5, atol=1e-5), 2: Close(turns + abs(z), rtol=1e-12)}
    )


@program()
def calendar(rng: Any) -> Case:
    days, want = rng.integers(-200_000, 200_000, 32).astype(np.int32), []
    for n in days.tolist():
        d = datetime.date(1970, 1, 1) + datetime.timedelta(n)
        leap = d.year % 4 == 0 and (d.year % 100 != 0 or d.year % 400 == 0)
        want.append([d.year, d.month, d.day, d.isoweekday() % 7 + 10 * leap + n * 100])
    return Case(1, 32, [days, out((32, 4), np.int32)], {1: want})


@program()
def small_vectors(rng: Any) -> Case:
    a, want = rng.integers(-50, 90, (32, 12)).astype(np.int32), []
    for row in a.tolist():
        v: list[int] = []
        for x in row:
            if len(v) == 8:
                break
            if x > 0:
                v.append(x)
            elif v and x % 2:
                v.pop()
            elif len(v) > 2:
                del v[1]
        want.append([len(v), *v, *[-1] * (8 - len(v))])
    return Case(1, 32, [a, out((32, 9), np.int32)], {1: want})
