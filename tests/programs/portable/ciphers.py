"""Launches of ciphers.cu; AES is checked against one of bytes and tables, digests against those of Python's library."""

from __future__ import annotations

import hashlib
import math
import zlib
from typing import Any

import numpy as np

from tests.programs.portable.case import Case, longs, out, program, words

M64 = (1 << 64) - 1
PRIMES = [n for n in range(2, 410) if all(n % d for d in range(2, math.isqrt(n) + 1))]


def _padded(text: bytes, block: int) -> bytes:
    """The blocks that SHA-2 digests."""
    zeros = -(len(text) + 1 + block // 8) % block
    return text + b"\x80" + bytes(zeros) + (8 * len(text)).to_bytes(block // 8, "big")


def _root(n: int, bits: int) -> int:
    """The first bits behind the point of the cube root of n."""
    low, high = 0, 1 << bits + 4
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**3 <= n << 3 * bits else (low, middle)
    return low & (1 << bits) - 1


@program()
def sha256(rng: Any) -> Case:
    texts = [rng.bytes(56 + t) for t in range(32)]
    blocks = np.frombuffer(b"".join(_padded(x, 64) for x in texts), np.uint32)
    want = [np.frombuffer(hashlib.sha256(x).digest(), np.uint32) for x in texts]
    case = Case(1, 32, [blocks.copy(), out((32, 8), np.uint32), 2], {1: want})
    case.setup = lambda m: m.write_global("K256", words([_root(p, 32) for p in PRIMES[:64]]))
    return case


@program()
def sha512(rng: Any) -> Case:
    texts = [rng.bytes(80 + t) for t in range(32)]
    blocks = np.frombuffer(b"".join(_padded(x, 128) for x in texts), np.uint8)
    want = [np.frombuffer(hashlib.sha512(x).digest(), ">u8") for x in texts]
    case = Case(1, 32, [blocks.copy(), out((32, 8), np.uint64)], {1: want})
    case.setup = lambda m: m.write_global("K512", longs([_root(p, 64) for p in PRIMES[:80]]))
    return case


@program()
def chacha20(rng: Any) -> Case:
    key, nonce, text = (words(rng.integers(0, 1 << 32, n)) for n in (8, 3, (32, 16)))
    want = []
    for t in range(32):
        first = [*np.frombuffer(b"expand 32-byte k", np.uint32).tolist(), *key.tolist(), 7 + t, *nonce.tolist()]
        x = np.array(first, np.uint32).reshape(4, 4)
        for turn in range(20):
            if turn % 2:  # diagonals
                x = np.stack([np.roll(x[k], -k) for k in range(4)])
            a, b, c, d = x
            for left, bits in enumerate((16, 12, 8, 7)):
                if left % 2 == 0:
                    a = a + b
                    d = (d ^ a) << np.uint32(bits) | (d ^ a) >> np.uint32(32 - bits)
                else:
                    c = c + d
                    b = (b ^ c) << np.uint32(bits) | (b ^ c) >> np.uint32(32 - bits)
            x = np.stack([a, b, c, d])
            if turn % 2:
                x = np.stack([np.roll(x[k], k) for k in range(4)])
        want.append(text[t] ^ (x.ravel() + np.array(first, np.uint32)))
    return Case(1, 32, [key, nonce, text, out((32, 16), np.uint32), 7], {3: want})


def siphash(key: bytes, text: bytes) -> int:
    """SipHash-2-4, over lists of rotations."""
    k = [int.from_bytes(key[i : i + 8], "little") for i in (0, 8)]
    v = [int.from_bytes(b"somepseudorandomlygeneratedbytes"[8 * i : 8 * i + 8], "big") ^ k[i % 2] for i in range(4)]

    def turn(x: int, n: int) -> int:
        return (x << n | x >> 64 - n) & M64

    def rounds(count: int) -> None:
        for _ in range(count):
            for a, b, n, m in ((0, 1, 13, 32), (2, 3, 16, 0), (0, 3, 21, 0), (2, 1, 17, 32)):
                v[a] = v[a] + v[b] & M64
                v[b] = turn(v[b], n) ^ v[a]
                v[a] = turn(v[a], m)

    whole = text + bytes(-(len(text) + 1) % 8) + bytes([len(text) & 255])
    for i in range(0, len(whole), 8):
        m = int.from_bytes(whole[i : i + 8], "little")
        v[3] ^= m
        rounds(2)
        v[0] ^= m
    v[2] ^= 255
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


@program()
def siphash_keyed(rng: Any) -> Case:
    assert siphash(bytes(range(16)), bytes(range(15))) == 0xA129CA6149BE45E5  # of its authors
    key, texts = rng.bytes(16), [rng.bytes(t % 27) for t in range(32)]
    room = np.array([list(x.ljust(27, b"?")) for x in texts], np.uint8)
    args = [np.frombuffer(key, np.uint64).copy(), room, np.array([len(x) for x in texts], np.int32), out(32, np.uint64), 27]
    return Case(1, 32, args, {3: longs([siphash(key, x) for x in texts])})


@program()
def checksums(rng: Any) -> Case:
    text = rng.integers(0, 256, (32, 29)).astype(np.uint8)
    want = []
    for row in text:
        fnv = 0x811C9DC5
        for x in row.tolist():
            fnv = (fnv ^ x) * 0x01000193 & 0xFFFFFFFF
        want.append((fnv, zlib.crc32(row.tobytes()), zlib.adler32(row.tobytes())))
    return Case(1, 32, [text, out((32, 3), np.uint32), 29], {1: want})


def _field(a: int, b: int) -> int:
    product = 0
    for k in range(8):
        product ^= (a << k) * (b >> k & 1)
    for k in range(14, 7, -1):
        product ^= (0x11B << k - 8) * (product >> k & 1)
    return product


def _box() -> list[int]:
    inverse = [0] + [next(y for y in range(1, 256) if _field(x, y) == 1) for x in range(1, 256)]
    return [0x63 ^ y ^ sum_of_turns(y) for y in inverse]


def sum_of_turns(y: int) -> int:
    """A byte turned by one, two, three and four bits, all added."""
    wide = y << 1 ^ y << 2 ^ y << 3 ^ y << 4
    return (wide ^ wide >> 8) & 255


def _keys(key: bytes, box: list[int]) -> bytes:
    w, constant = [list(key[4 * k : 4 * k + 4]) for k in range(4)], 1
    for k in range(4, 44):
        last = w[-1]
        if k % 4 == 0:
            last = [box[x] for x in last[1:] + last[:1]]
            last[0] ^= constant
            constant = _field(constant, 2)
        w.append([x ^ y for x, y in zip(w[k - 4], last, strict=True)])
    return bytes(x for word in w for x in word)


def aes(text: bytes, keys: bytes, box: list[int]) -> bytes:
    """One block, byte by byte."""
    s = [x ^ k for x, k in zip(text, keys, strict=False)]
    for turn in range(1, 11):
        s = [box[s[(k + 4 * (k % 4)) % 16]] for k in range(16)]
        if turn < 10:
            columns = [s[c : c + 4] for c in range(0, 16, 4)]
            mix = ((2, 3, 1, 1), (1, 2, 3, 1), (1, 1, 2, 3), (3, 1, 1, 2))
            s = []
            for column in columns:
                for row in mix:
                    value = 0
                    for m, x in zip(row, column, strict=True):
                        value ^= _field(x, m)
                    s.append(value)
        s = [x ^ k for x, k in zip(s, keys[16 * turn :], strict=False)]
    return bytes(s)


@program()
def aes_sliced(rng: Any) -> Case:
    box = _box()
    keys = _keys(bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c"), box)
    known = aes(bytes.fromhex("3243f6a8885a308d313198a2e0370734"), keys, box)
    assert known == bytes.fromhex("3925841d02dc09fbdc118597196a0b32")  # of FIPS 197
    texts = rng.integers(0, 256, (8, 32, 16)).astype(np.uint8)

    def sliced(blocks: Any) -> Any:
        bits = blocks[..., None] >> np.arange(8, dtype=np.uint8) & 1  # thread, block, byte, bit
        return words((bits.astype(np.uint64) << np.arange(32, dtype=np.uint64)[None, :, None, None]).sum(axis=1))

    made = np.array([[list(aes(x.tobytes(), keys, box)) for x in some] for some in texts], np.uint8)
    return Case(1, 32, [sliced(texts), np.frombuffer(keys, np.uint8).copy(), out((8, 16, 8), np.uint32)], {2: sliced(made)})
