"""Launches of integer.cu; all results are exact."""

from __future__ import annotations

from math import gcd, isqrt
from typing import Any

import numpy as np

from .case import Array, Case, kernel, longs, out, s32, words

COUNT = 128
EDGES = [0, 1, -1, 2, 7, -(1 << 31), (1 << 31) - 1, 0x55AA55AA, -1000001, 0xFFFF, -0x10000, 0x7F80FF01]


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (value >> (bits - 1) << bits)


def ints(rng: Any, count: int = COUNT) -> Array:
    """Numbers of all sizes, the special ones first."""
    values = rng.integers(-(1 << 31), 1 << 31, count) >> rng.integers(0, 31, count)
    values[: len(EDGES)] = [signed(e, 32) for e in EDGES]
    return rng.permutation(values).astype(np.int32)


def trunc(a: int, b: int) -> tuple[int, int]:
    """Quotient and remainder as C has them."""
    q = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return q, a - q * b


@kernel()
def int_mix(rng: Any) -> Case:
    x, y = ints(rng), ints(rng)
    want = []
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        u, v = a & 0xFFFFFFFF, b & 0xFFFFFFFF
        halves = ((a + b) >> 1) ^ ((a + b + 1) >> 1) ^ ((u + v) >> 1) ^ ((u + v + 1) >> 1)
        bits = (a & b) | (~a & 0x55AA55AA) ^ (b << (u & 31))
        flags = (a < b) + 2 * (a <= b) + 4 * (u < v) + 8 * (a == b) + 16 * (a != 0 and b > 7)
        want.append(
            [
                a + b * 3 - (a >> 5),
                min(a, b) ^ max(a, signed(-b, 32)),
                abs(a) + abs(a - b) + 17,
                a * b >> 32,
                u * v >> 32,
                signed(a, 24) * signed(b, 24) + (u & 0xFFFFFF) * (v & 0xFFFFFF),
                halves,
                bits,
                flags,
                (u >> (v & 31)) | (a >> (b & 15)),
                a * b + b * 77 + (a ^ b) * a,
                b * 5 if a > 0 else b - a if a < -1000000 else ~b,
            ]
        )
    return Case(2, COUNT // 2, [x, y, out((COUNT, 12), np.int32)], {2: s32(want)})


def byte_perm(low: int, high: int, selector: int) -> int:
    both = low | high << 32
    return sum((both >> 8 * (selector >> 4 * k & 7) & 255) << 8 * k for k in range(4))


def reverse(value: int, bits: int) -> int:
    return int(format(value, f"0{bits}b")[::-1], 2)


@kernel()
def bit_tricks(rng: Any) -> Case:
    x = ints(rng).view(np.uint32)
    want = []
    for i, a in enumerate(x.tolist()):
        b = int(x[i ^ 1])
        wide, both = a << 32 | b, b << 32 | a
        lz = [bits - v.bit_length() for v, bits in ((a, 32), (wide, 64))]
        ffs = [(v & -v).bit_length() for v in (a, wide)]
        left, right = (
            [(both << n >> 32) & 0xFFFFFFFF for n in (i & 31, min(i + 20, 32))],
            [both >> n & 0xFFFFFFFF for n in (i & 31, min(i + 20, 32))],
        )
        morton = sum((a >> k & 1) << 2 * k | (a >> (k + 16) & 1) << (2 * k + 1) for k in range(16))
        at, length = i & 31, i % 37
        mask = (1 << length) - 1
        inserted = b & ~(mask << at) | (a & mask) << at
        high = (a ^ (0xFFFFFFFF if a >> 31 else 0)).bit_length() - 1
        want.append(
            [
                a.bit_count() | wide.bit_count() << 8 | lz[0] << 16 | lz[1] << 24,
                ffs[0] | ffs[1] << 8,
                reverse(a, 32),
                reverse(wide, 64) >> 7,
                byte_perm(a, b, a & 0x7777),
                left[0] ^ right[1],
                right[0] + left[1],
                morton,
                (a >> at & mask) ^ inserted,
                high ^ a ^ a >> 1,
            ]
        )
    return Case(4, COUNT // 4, [x, out((COUNT, 10), np.uint32)], {1: words(want)})


@kernel()
def divisions(rng: Any) -> Case:
    x, y = (rng.integers(-(1 << 63), 1 << 63, COUNT) >> rng.integers(0, 63, COUNT) for _ in range(2))
    x[:4], y[:4] = [-(1 << 63), 0, (1 << 63) - 1, -1], [1 << 40, 5, -(1 << 63), (1 << 32) - 1]
    want = []
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        s, t, b = signed(a, 32), signed(b, 32) | 1, b | 1
        v = t & 0xFFFFFFFF
        u, wide = s & 0xFFFFFFFF, a & (1 << 64) - 1
        narrow = trunc(signed(a, 16), signed(t, 16))[0] * 3 + (u & 255) % (v & 255)
        want.append(
            [
                *trunc(a, b),
                wide // (b & (1 << 64) - 1),
                wide % (b & 0xFFFFFFFF),
                *(signed(n, 32) for n in trunc(s, t)),
                u // v,
                u % v,
                ((trunc(s, 7)[0] + u % 1000) & 0xFFFFFFFF) + trunc(a, 1000003)[0] + trunc(a, 10)[1],
                signed(trunc(s, -13)[0] + narrow, 32),
            ]
        )
    return Case(2, COUNT // 2, [x, y, out((COUNT, 10), np.int64), -13], {2: longs(want).view(np.int64)})


@kernel()
def int128(rng: Any) -> Case:
    parts = rng.integers(0, 1 << 64, (COUNT, 4), dtype=np.uint64)
    parts[::3, 2] = 0
    parts[1::5, 2:] >>= np.uint64(50)
    parts[::7, 0] = 0
    want = []
    for i, (a, b, c, d) in enumerate(parts.tolist()):
        x, y = a << 64 | b, c << 64 | d
        sx, divisor = signed(x, 128), y >> 70 | 1
        results = [x + y, x - y, x * y, x // (y | 1), x % (y | 1), sx >> (i & 127), x << (y & 127), trunc(sx, divisor)[0]]
        want.append([w for r in results for w in (r >> 64, r)])
    return Case(2, COUNT // 2, [parts, out((COUNT, 16), np.uint64)], {1: longs(want)})


def lanes(value: int, bits: int, is_signed: bool = True) -> list[int]:
    """The parts of a 32-bit word, the lowest first."""
    parts = [value >> n & (1 << bits) - 1 for n in range(0, 32, bits)]
    return [signed(p, bits) for p in parts] if is_signed else parts


def joined(parts: Any, bits: int) -> int:
    return sum((int(p) & (1 << bits) - 1) << n * bits for n, p in enumerate(parts))


def dot(a: list[int], b: list[int]) -> int:
    return sum(p * q for p, q in zip(a, b, strict=True))


@kernel()
def dot_products(rng: Any) -> Case:
    x, y = (rng.integers(-(1 << 31), 1 << 31, COUNT).astype(np.int32) for _ in range(2))
    want = []
    for i, (a, b) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        s4, u4, s2, u2 = lanes(a, 8), lanes(a, 8, False), lanes(a, 16), lanes(a, 16, False)
        t4, v4 = lanes(b, 8), lanes(b, 8, False)
        want.append(
            [
                dot(s4, t4) + 100,
                dot(u4, v4) + 7,
                dot(s2, t4[:2]) + i,
                dot(s2, t4[2:]) - i,
                dot(u2, v4[:2]) + 3,
                dot(u2, v4[2:]) + 4,
                dot(s4, v4) + i,
                dot(u2, t4[:2]) + i,
            ]
        )
    return Case(1, COUNT, [x, y, out((COUNT, 8), np.int32)], {2: s32(want)})


@kernel()
def dynamic_programming(rng: Any) -> Case:
    x, y, z = ints(rng), ints(rng), ints(rng)
    y[:20] = x[:20]
    want = []
    for a, b, c in zip(x.tolist(), y.tolist(), z.tolist(), strict=True):
        total, u, v, w = signed(a + b, 32), a & 0xFFFFFFFF, b & 0xFFFFFFFF, c & 0xFFFFFFFF
        p, q, r = lanes(a, 16), lanes(b, 16), lanes(c, 16)
        pu, qu, ru = lanes(a, 16, False), lanes(b, 16, False), lanes(c, 16, False)
        sums = [signed(m + n, 16) for m, n in zip(p, q, strict=True)]
        want.append(
            [
                max(total, c),
                min((u + v) & 0xFFFFFFFF, w),
                max(total, c, 0),
                max(a, b, c),
                min(u, v, w),
                max(a, b, c, 0),
                max(a, b) * 2 + (a >= b),
                max(a, b, 0),
                joined(map(max, sums, r), 16),
                joined(map(min, p, q, r), 16),
                joined(map(max, pu, qu, ru), 16),
                joined([max(0, min(m, n)) for m, n in zip(sums, r, strict=True)], 16),
                joined(map(min, pu, qu), 16),
                (pu[1] <= qu[1]) + 2 * (pu[0] <= qu[0]),
            ]
        )
    return Case(2, COUNT // 2, [x, y, z, out((COUNT, 14), np.int32)], {3: s32(want)})


@kernel()
def byte_wise(rng: Any) -> Case:
    x, y = (rng.integers(0, 1 << 32, COUNT, dtype=np.uint32) for _ in range(2))
    x[0], y[0] = 0x80008000, 0x7FFF8000
    want = []
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        s, t = np.array(lanes(a, 8)), np.array(lanes(b, 8))
        u, v = s & 255, t & 255
        h, g = np.array(lanes(a, 16)), np.array(lanes(b, 16))
        want.append(
            [
                joined(u + v, 8),
                joined(u - v, 8),
                joined(np.clip(s + t, -128, 127), 8),
                joined(np.minimum(u + v, 255), 8),
                joined(abs(u - v), 8),
                joined(np.maximum(s, t), 8),
                joined(np.minimum(u, v), 8),
                joined((u + v + 1) >> 1, 8),
                joined((u > v) * 255, 8),
                joined(h + g, 16),
                int(abs(s - t).sum()),
                joined(abs(h), 16),
            ]
        )
    return Case(2, COUNT // 2, [x, y, out((COUNT, 12), np.uint32)], {2: words(want)})


def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        n, steps = 3 * n + 1 if n & 1 else n >> 1, steps + 1
    return steps


@kernel()
def number_theory(rng: Any) -> Case:
    x = ints(rng).view(np.uint32)
    want = []
    for i, a in enumerate(x.tolist()):
        b = int(x[i ^ 1]) | 1
        want.append([gcd(a, b), pow(a, b, 1000000007), isqrt(a), collatz(a & 0xFFFF | 1), pow(b, -1, 1 << 32)])
    return Case(2, COUNT // 2, [x, out((COUNT, 5), np.uint32)], {1: words(want)})


@kernel()
def wide_numbers(rng: Any) -> Case:
    count = 64
    x, y = (rng.integers(0, 1 << 32, (count, 8), dtype=np.uint32) for _ in range(2))
    x[0], y[0], y[1] = 0xFFFFFFFF, 0xFFFFFFFF, ~x[1]
    want = []
    for a, b in zip(x, y, strict=True):
        m, n = (int.from_bytes(v.tobytes(), "little") for v in (a, b))
        want.append([(m + n) >> 32 * k for k in range(8)] + [m * n >> 32 * k for k in range(16)])
    return Case(1, count, [x, y, out((count, 24), np.uint32)], {2: words(want)})


@kernel()
def sieve(rng: Any) -> Case:
    limit = 1000
    primes = [n > 1 and all(n % d for d in range(2, isqrt(n) + 1)) for n in range(limit)]
    return Case(1, 96, [out(limit, np.uint32), limit], {0: np.array(primes)}, shared=limit)


@kernel()
def narrow(rng: Any) -> Case:
    x, y = rng.integers(-128, 128, COUNT).astype(np.int8), rng.integers(0, 1 << 16, COUNT, dtype=np.uint16)
    x[0] = -128
    rows = [
        (a * 3 + (b >> 4), ((b * b + a) & 0xFFFF) >> 1, trunc(signed(a << 8 | (b & 255), 16), a | 1)[1])
        for a, b in zip(x.tolist(), y.tolist(), strict=True)
    ]
    bytes_, halves, rest = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    args = [x, y, out(COUNT, np.int8), out(COUNT, np.uint16), out(COUNT, np.int16)]
    return Case(2, COUNT // 2, args, {2: bytes_.astype(np.int8), 3: halves.astype(np.uint16), 4: rest.astype(np.int16)})
