"""Launches of whole_numbers.cu; Python's numbers have no end."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.programs.portable.case import Case, longs, out, program, words

M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def _split(values: list[int], count: int) -> Any:
    return words([[v >> 32 * k for k in range(count)] for v in values])


def _long(rng: Any, bits: int) -> int:
    return int.from_bytes(rng.bytes(bits // 8), "little")


@program()
def long_product(rng: Any) -> Case:
    a, b = ([_long(rng, 256) for _ in range(32)] for _ in range(2))
    a[0] = b[0] = (1 << 256) - 1
    want = _split([x * y for x, y in zip(a, b, strict=True)], 16)
    return Case(1, 32, [_split(a, 8), _split(b, 8), out((32, 16), np.uint32)], {2: want})


@program()
def modular_power(rng: Any) -> Case:
    m, exponent, r = _long(rng, 192) | 1 | 1 << 191, 0x2D, 1 << 192
    a = [_long(rng, 192) % m for _ in range(32)]
    a[0] = m - 1
    args = [
        _split([x * r % m for x in a], 6),
        _split([m, r % m], 6),
        out((32, 6), np.uint32),
        exponent,
        -pow(m, -1, 1 << 32) & M32,
    ]
    return Case(1, 32, args, {2: _split([pow(x, exponent, m) for x in a], 6)})


@program()
def long_division(rng: Any) -> Case:
    a, b = [_long(rng, 128) for _ in range(32)], [_long(rng, 64) >> t | 1 for t in range(32)]
    q = [x // y for x, y in zip(a, b, strict=True)]
    r = [x % y for x, y in zip(a, b, strict=True)]
    args = [_split(a, 4), _split(b, 2), out((32, 4), np.uint32), out((32, 2), np.uint32)]
    return Case(1, 32, args, {2: _split(q, 4), 3: _split(r, 2)})


@program()
def factorials(rng: Any) -> Case:
    return Case(1, 32, [out((32, 5), np.uint32), 5], {0: _split([math.factorial(t + 2) for t in range(32)], 5)})


@program()
def twister(rng: Any) -> Case:
    seeds, n = rng.integers(0, 1 << 32, 2).astype(np.uint32), 640
    want = [np.random.RandomState(int(s)).randint(0, 1 << 32, n, dtype=np.uint32) for s in seeds]
    return Case(2, 64, [seeds, out((2, n), np.uint32), n], {1: want})


@program()
def xorshifts(rng: Any) -> Case:
    seeds, n, want = longs(rng.integers(1, 1 << 63, 32)), 5, []
    for a in seeds.tolist():
        x = a
        for _ in range(n):
            for shift in (-12, 25, -27):
                x ^= x << shift & M64 if shift > 0 else x >> -shift
        s = []
        for k in range(4):
            z = a + (k + 1) * 0x9E3779B97F4A7C15 & M64
            for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
                z = (z ^ z >> shift) * factor & M64
            s.append(z)
        last = 0
        for _ in range(n):
            y = s[1] * 5 & M64
            last = (y << 7 | y >> 57) * 9
            s0, s1, s2, s3 = s
            s = [s0 ^ s3 ^ s1, s1 ^ s2 ^ s0, s2 ^ s0 ^ s1 << 17 & M64, (s3 ^ s1) << 45 & M64 | (s3 ^ s1) >> 19]
        want.append((x * 0x2545F4914F6CDD1D, last))
    return Case(1, 32, [seeds, out((32, 2), np.uint64), n], {1: longs(want)})


@program()
def philox(rng: Any) -> Case:
    key, want = rng.integers(0, 1 << 32, 2).astype(np.uint32), []
    for t in range(32):
        c, k = [t, 1, 2, 3], key.tolist()
        for _ in range(10):
            p, q = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
            c = [q >> 32 ^ c[1] ^ k[0], q & M32, p >> 32 ^ c[3] ^ k[1], p & M32]
            k = [k[0] + 0x9E3779B9 & M32, k[1] + 0xBB67AE85 & M32]
        want.append(c)
    return Case(1, 32, [out((32, 4), np.uint32), key.tobytes()], {0: want})


@program()
def primes(rng: Any) -> Case:
    known = (97 * 89, 101, 7919, 10403, 561, 1105, 6601, 8911, 9973, 104729, 99991, 1000003, 999983, 65537, 1299709, 15485863)
    a = [*(int(x) * 2 + 1001 for x in rng.integers(0, 5000, 16)), *known]
    want = [int(all(n % d for d in range(3, math.isqrt(n) + 1, 2))) for n in a]
    return Case(1, 32, [longs(a), out(32, np.int32)], {1: want})
