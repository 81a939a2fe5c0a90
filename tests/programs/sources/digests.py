"""Launches of digests.cu; the references are hashlib, numpy's generators, and the definitions in Python's whole numbers."""

from __future__ import annotations

import hashlib
import math
import zlib
from typing import Any

import numpy as np

from tests.programs.case import Case, longs, out, program, words

M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def padded(message: bytes, order: str) -> bytes:
    return message + b"\x80" + bytes(55 - len(message)) + (8 * len(message)).to_bytes(8, order)  # type: ignore[arg-type]


def messages(rng: Any, count: int, most: int) -> list[bytes]:
    return [rng.bytes(int(rng.integers(0, most + 1))) for _ in range(count)]


@program()
def md5(rng: Any) -> Case:
    texts = messages(rng, 64, 55)
    blocks = np.frombuffer(b"".join(padded(m, "little") for m in texts), np.uint32).copy()
    sines = words([int(abs(math.sin(i + 1)) * 2**32) for i in range(64)])
    want = np.frombuffer(b"".join(hashlib.md5(m).digest() for m in texts), np.uint32)
    case = Case(2, 32, [blocks, out(256, np.uint32)], {1: want})
    case.setup = lambda module: module.write_global("SINES", sines)
    return case


@program()
def sha1(rng: Any) -> Case:
    texts = messages(rng, 64, 55)
    blocks = np.frombuffer(b"".join(padded(m, "big") for m in texts), np.uint32).copy()
    want = np.frombuffer(b"".join(hashlib.sha1(m).digest() for m in texts), np.uint32)
    return Case(2, 32, [blocks, out(320, np.uint32)], {1: want})


@program()
def sha3(rng: Any) -> Case:
    texts = messages(rng, 32, 130)
    blocks = bytearray()
    for m in texts:
        block = bytearray(m + b"\x06" + bytes(135 - len(m)))
        block[-1] |= 0x80
        blocks += block
    want = np.frombuffer(b"".join(hashlib.sha3_256(m).digest() for m in texts), np.uint64)
    return Case(1, 32, [np.frombuffer(bytes(blocks), np.uint64).copy(), out(128, np.uint64)], {1: want})


def sip(key: Any, message: Any) -> int:
    v = [key[0] ^ 0x736F6D6570736575, key[1] ^ 0x646F72616E646F6D, key[0] ^ 0x6C7967656E657261, key[1] ^ 0x7465646279746573]

    def turn(x: int, n: int) -> int:
        return (x << n | x >> (64 - n)) & M64

    def step(n: int) -> None:
        for _ in range(n):
            for a, b, left, wide in ((0, 1, 13, True), (2, 3, 16, False), (0, 3, 21, False), (2, 1, 17, True)):
                v[a] = (v[a] + v[b]) & M64
                v[b] = turn(v[b], left) ^ v[a]
                v[a] = turn(v[a], 32) if wide else v[a]

    for m in [*message, 8 * len(message) << 56]:
        v[3] ^= m
        step(2)
        v[0] ^= m
    v[2] ^= 0xFF
    step(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


@program()
def siphash(rng: Any) -> Case:
    assert sip([0x0706050403020100, 0x0F0E0D0C0B0A0908], [0x0706050403020100]) == 0x93F5F5799A932462  # the authors' vector
    data, key = rng.integers(0, 1 << 63, (32, 5)).astype(np.uint64), rng.integers(0, 1 << 63, 2).astype(np.uint64)
    want = [sip([int(k) for k in key], [int(m) for m in row]) for row in data]
    return Case(1, 32, [data, key, out(32, np.uint64), 5], {2: longs(want)})


def murmur(data: bytes) -> int:
    def left(x: int, n: int) -> int:
        return (x << n | x >> (32 - n)) & M32

    h = 42
    for i in range(0, len(data) - 3, 4):
        k = int.from_bytes(data[i : i + 4], "little") * 0xCC9E2D51 & M32
        h = (left(h ^ left(k, 15) * 0x1B873593 & M32, 13) * 5 + 0xE6546B64) & M32
    h ^= len(data)
    h = (h ^ h >> 16) * 0x85EBCA6B & M32
    h = (h ^ h >> 13) * 0xC2B2AE35 & M32
    return h ^ h >> 16


@program()
def small_hashes(rng: Any) -> Case:
    data = rng.integers(0, 256, (64, 28)).astype(np.uint8)
    fnv, jenkins = [], []
    for row in data.tolist():
        f, j = 2166136261, 0
        for x in row:
            f = (f ^ x) * 16777619 & M32
            j = (j + x) & M32
            j = (j + (j << 10)) & M32
            j ^= j >> 6
        j = (j + (j << 3)) & M32
        j ^= j >> 11
        fnv.append(f)
        jenkins.append((j + (j << 15)) & M32)
    want = {1: words(fnv), 2: words([zlib.adler32(row.tobytes()) for row in data]), 4: words(jenkins)}
    want[3] = words([murmur(row.tobytes()) for row in data])
    return Case(2, 32, [data, *(out(64, np.uint32) for _ in range(4)), 28], want)


def gf_product(a: int, b: int) -> int:
    value = 0
    while b:
        value ^= a * (b & 1)
        a = (a << 1) ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return value


def aes_box() -> list[int]:
    box = []
    for x in range(256):
        inverse = next((y for y in range(256) if gf_product(x, y) == 1), 0)
        turned = [(inverse << n | inverse >> (8 - n)) & 0xFF for n in range(5)]
        box.append(0x63 ^ turned[0] ^ turned[1] ^ turned[2] ^ turned[3] ^ turned[4])
    return box


def aes_keys(key: bytes, box: list[int]) -> bytes:
    keys, factor = [key[i : i + 4] for i in range(0, 16, 4)], 1
    for i in range(4, 44):
        word = keys[-1]
        if i % 4 == 0:
            word = bytes(box[word[(k + 1) % 4]] ^ (factor if k == 0 else 0) for k in range(4))
            factor = gf_product(factor, 2)
        keys.append(bytes(x ^ y for x, y in zip(word, keys[-4], strict=True)))
    return b"".join(keys)


def aes_block(block: bytes, keys: bytes, box: list[int]) -> bytes:
    s = [x ^ k for x, k in zip(block, keys, strict=False)]
    for turn in range(1, 11):
        s = [box[s[(i + i % 4 * 4) % 16]] for i in range(16)]
        if turn < 10:
            columns = [s[i : i + 4] for i in range(0, 16, 4)]
            s = [
                gf_product(v[k], 2) ^ gf_product(v[(k + 1) % 4], 3) ^ v[(k + 2) % 4] ^ v[(k + 3) % 4]
                for v in columns
                for k in range(4)
            ]
        s = [x ^ k for x, k in zip(s, keys[16 * turn :], strict=False)]
    return bytes(s)


@program()
def aes(rng: Any) -> Case:
    box = aes_box()
    known = aes_keys(bytes(range(16)), box)
    plain = bytes.fromhex("00112233445566778899aabbccddeeff")
    assert aes_block(plain, known, box).hex() == "69c4e0d86a7b0430d8cdb78070b4c55a"  # FIPS 197
    keys, data = aes_keys(rng.bytes(16), box), rng.bytes(16 * 48)
    want = b"".join(aes_block(data[i : i + 16], keys, box) for i in range(0, len(data), 16))
    arrays = [np.frombuffer(x, np.uint8).copy() for x in (data, keys, bytes(box))]
    return Case(3, 16, [*arrays, out(len(data), np.uint8)], {3: np.frombuffer(want, np.uint8)})


@program()
def xtea(rng: Any) -> Case:
    data, key = words(rng.integers(0, 1 << 32, 64)), words(rng.integers(0, 1 << 32, 4))
    want = []
    k = [int(x) for x in key]
    for a, b in data.reshape(-1, 2).tolist():
        total = 0
        for _ in range(32):
            a = (a + (((b << 4 ^ b >> 5) + b) ^ (total + k[total & 3]))) & M32
            total = (total + 0x9E3779B9) & M32
            b = (b + (((a << 4 ^ a >> 5) + a) ^ (total + k[total >> 11 & 3]))) & M32
        want += [a, b]
    return Case(1, 32, [data, key, out(64, np.uint32), out(64, np.uint32)], {2: words(want), 3: data})


@program()
def rc4(rng: Any) -> Case:
    keys, count = rng.integers(0, 256, (32, 7)).astype(np.uint8), 24
    want = []
    for key in keys.tolist():
        s, j = list(range(256)), 0
        for i in range(256):
            j = (j + s[i] + key[i % 7]) % 256
            s[i], s[j] = s[j], s[i]
        j = 0
        for k in range(1, count + 1):
            j = (j + s[k]) % 256
            s[k], s[j] = s[j], s[k]
            want.append(s[(s[k] + s[j]) % 256])
    return Case(1, 32, [keys, out((32, count), np.uint8), 7, count], {1: want})


@program()
def ghash(rng: Any) -> Case:
    a, b = (rng.integers(0, 1 << 63, (32, 2)).astype(np.uint64) * np.uint64(2) + np.uint64(1) for _ in range(2))
    want = []
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        p, v, z = x[0] << 64 | x[1], y[0] << 64 | y[1], 0
        for i in range(128):
            z ^= v if p >> (127 - i) & 1 else 0
            v = v >> 1 ^ (0xE1 << 120 if v & 1 else 0)
        want += [z >> 64, z & M64]
    return Case(1, 32, [a, b, out((32, 2), np.uint64)], {2: longs(want)})


def wide(values: list[int]) -> Any:
    return np.frombuffer(b"".join(v.to_bytes(32, "little") for v in values), np.uint32).copy()


@program()
def wide_powers(rng: Any) -> Case:
    n = (1 << 255) - 19
    bases = [int.from_bytes(rng.bytes(32), "little") % n for _ in range(8)]
    exponents = words(rng.integers(0, 1 << 32, 8))
    want = wide([pow(x, int(e), n) for x, e in zip(bases, exponents, strict=True)])
    inverse = -pow(n, -1, 1 << 32) % (1 << 32)
    args = [wide(bases), exponents, wide([n]), wide([(1 << 512) % n]), np.uint32(inverse), out(64, np.uint32)]
    return Case(1, 8, args, {5: want})


@program()
def mersenne(rng: Any) -> Case:
    seeds = words(rng.integers(0, 1 << 32, 2))
    want = []
    for seed in seeds:
        bits = np.random.MT19937()
        bits._legacy_seeding(int(seed))
        want.append(bits.random_raw(100))
    return Case(2, 256, [seeds, out((2, 100), np.uint32), 100], {1: words(np.array(want))})


@program()
def generators(rng: Any) -> Case:
    seeds, count = rng.integers(0, 1 << 63, 32).astype(np.uint64), 12
    pcg, star, plus = [], [], []

    def left(x: int, n: int) -> int:
        return (x << n | x >> (64 - n)) & M64

    for seed in seeds.tolist():
        z, state, s = seed, seed, []
        for _ in range(4):
            z = (z + 0x9E3779B97F4A7C15) & M64
            x = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & M64
            x = (x ^ x >> 27) * 0x94D049BB133111EB & M64
            s.append(x ^ x >> 31)
        a, b = s[:2]
        for _ in range(count):
            x, turn = ((state >> 18) ^ state) >> 27 & M32, state >> 59
            pcg.append((x >> turn | x << (-turn & 31)) & M32)
            state = (state * 6364136223846793005 + 1442695040888963407) & M64
            star.append(left(s[1] * 5 & M64, 7) * 9 & M64)
            kept = s[1] << 17 & M64
            s[2] ^= s[0]
            s[3] ^= s[1]
            s[1] ^= s[2]
            s[0] ^= s[3]
            s[2] ^= kept
            s[3] = left(s[3], 45)
            plus.append((a + b) & M64)
            p = (a ^ a << 23) & M64
            a, b = b, p ^ b ^ p >> 17 ^ b >> 26
    args = [seeds, out((32, count), np.uint32), out((32, count), np.uint64), out((32, count), np.uint64), count]
    return Case(1, 32, args, {1: words(pcg), 2: longs(star), 3: longs(plus)})


@program()
def circle_points(rng: Any) -> Case:
    x = np.arange(128 * 20, dtype=np.uint32)
    x = (x ^ np.uint32(61)) ^ x >> np.uint32(16)
    x = x * np.uint32(9)
    x ^= x >> np.uint32(4)
    x = x * np.uint32(0x27D4EB2D)
    x ^= x >> np.uint32(15)
    a, b = (x & np.uint32(0xFFFF)).astype(np.int64), (x >> np.uint32(16)).astype(np.int64)
    return Case(2, 64, [np.zeros(1, np.uint32), 20], {0: [np.count_nonzero(a * a + b * b < 1 << 32)]})


@program()
def permutations(rng: Any) -> Case:
    seeds, n, want = words(rng.integers(1, 1 << 32, 32)), 52, []
    for x in seeds.tolist():
        cards = list(range(n))
        for i in range(n - 1, 0, -1):
            x ^= x << 13 & M32
            x ^= x >> 17
            x ^= x << 5 & M32
            j = x * (i + 1) >> 32
            cards[i], cards[j] = cards[j], cards[i]
        want += cards
    return Case(1, 32, [seeds, out((32, n), np.uint8), n], {1: want}, shared=32 * n)
