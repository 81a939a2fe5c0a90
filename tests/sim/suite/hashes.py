"""Launches of hashes.cu; all results are exact, most of them by Python's own implementation."""

from __future__ import annotations

import hashlib
import zlib
from typing import Any

import numpy as np

from .case import Case, kernel, longs, out, words

LOW = 0xFFFFFFFF


def roots(count: int) -> list[int]:
    """The first 32 bits of the fractions of the cube roots of the first primes."""
    found: list[int] = []
    n = 2
    while len(found) < count:
        if all(n % d for d in range(2, int(n**0.5) + 1)):
            low, high = 0, 1 << 40
            while low + 1 < high:
                mid = (low + high) // 2
                low, high = (mid, high) if mid**3 <= n << 96 else (low, mid)
            found.append(low & LOW)
        n += 1
    return found


@kernel()
def sha256(rng: Any) -> Case:
    x = rng.integers(0, 256, (32, 43)).astype(np.uint8)
    want = np.array([list(hashlib.sha256(row.tobytes()).digest()) for row in x])
    table = np.array(roots(64), np.uint32)
    return Case(1, 32, [x, out((32, 32), np.uint8), 43], {1: want}, setup=lambda m: m.write_global("round_constants", table))


@kernel()
def blake2s(rng: Any) -> Case:
    x = rng.integers(0, 1 << 32, (32, 16), np.uint32)
    want = np.array([np.frombuffer(hashlib.blake2s(row.tobytes()).digest(), np.uint32) for row in x])
    return Case(1, 32, [x, out((32, 8), np.uint32)], {1: want})


@kernel()
def philox(rng: Any) -> Case:
    rows = []
    for i in range(64):
        c, k = [i, 7, i * 3, 0xABCDEF], [0x1234, 0x98765432]
        for _ in range(10):
            p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [q >> 32 ^ c[1] ^ k[0], q & LOW, p >> 32 ^ c[3] ^ k[1], p & LOW]
            k = [(k[0] + 0x9E3779B9) & LOW, (k[1] + 0xBB67AE85) & LOW]
        rows.append(c)
    uniform = np.array([r[0] >> 8 for r in rows]) * 2.0**-24
    return Case(2, 32, [out((64, 4), np.uint32), 0x1234, 0x98765432, out(64, np.float32)], {0: words(rows), 3: uniform})


def turn(x: int, n: int) -> int:
    return (x << n | x >> (32 - n)) & LOW


@kernel()
def chacha20(rng: Any) -> Case:
    key, text = rng.integers(0, 1 << 32, 8, np.uint32), rng.integers(0, 1 << 32, (32, 16), np.uint32)
    want = []
    for i in range(32):
        start = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574, *key.tolist(), 9 + i, 1, 2, 3]
        v = list(start)
        for r in range(20):
            for k in range(4):
                a, b, c, d = (k, 4 + (k + r % 2) % 4, 8 + (k + 2 * (r % 2)) % 4, 12 + (k + 3 * (r % 2)) % 4)
                for first, second, third, n in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                    v[first] = (v[first] + v[second]) & LOW
                    v[third] = turn(v[third] ^ v[first], n)
        want.append([int(t) ^ ((x + y) & LOW) for t, x, y in zip(text[i], v, start, strict=True)])
    return Case(1, 32, [key, 9, text, out((32, 16), np.uint32)], {3: words(want)})


@kernel()
def crc32(rng: Any) -> Case:
    x = rng.integers(0, 256, (64, 50)).astype(np.uint8)
    return Case(2, 32, [x, out(64, np.uint32), 50], {1: [zlib.crc32(row.tobytes()) for row in x]})


@kernel()
def small_generators(rng: Any) -> Case:
    whole, rows = (1 << 64) - 1, []
    for i in range(64):
        z = (12345 + i * 0x9E3779B97F4A7C15) & whole
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & whole
        z = (z ^ z >> 27) * 0x94D049BB133111EB & whole
        z ^= z >> 31
        x = z | 1
        for _ in range(5):
            x ^= x << 13 & whole
            x ^= x >> 7
            x ^= x << 17 & whole
        pcg = (z * 6364136223846793005 + 1442695040888963407) & whole
        shifted, by = (pcg >> 18 ^ pcg) >> 27 & LOW, pcg >> 59
        rows.append([z, x, (shifted >> by | shifted << (-by & 31)) & LOW])
    return Case(2, 32, [out((64, 3), np.uint64), 12345], {0: longs(rows)})
