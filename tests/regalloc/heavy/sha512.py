"""SHA-512 of one block a thread, all 80 rounds written out. Source: FIPS 180-4, sections 4.1.3, 4.2.3, 5.3.5 and 6.4.2."""

from __future__ import annotations

import hashlib
from math import isqrt

import numpy as np
import numpy.typing as npt

WORDS = 16
MASK = (1 << 64) - 1


def primes(count: int) -> list[int]:
    """The first prime numbers."""
    found: list[int] = []
    n = 2
    while len(found) < count:
        if all(n % p for p in found):
            found.append(n)
        n += 1
    return found


def cube_root(n: int) -> int:
    """The integer part of a cube root."""
    low, high = 0, 1 << (n.bit_length() // 3 + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**3 <= n else (low, middle - 1)
    return low


K = [cube_root(p << 192) & MASK for p in primes(80)]
START = [isqrt(p << 128) & MASK for p in primes(8)]


class _Text:
    """Lines of PTX with a fresh register for every result."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0

    def make(self, op: str, *sources: str | int) -> str:
        self.count += 1
        words = ", ".join(s if isinstance(s, str) else str(s) for s in sources)
        self.lines.append(f"{op} %w{self.count}, {words};")
        return f"%w{self.count}"

    def rotated(self, x: str, n: int) -> str:
        return self.make("or.b64", self.make("shr.u64", x, n), self.make("shl.b64", x, 64 - n))

    def mixed(self, x: str, a: int, b: int, c: int, shift: bool) -> str:
        last = self.make("shr.u64", x, c) if shift else self.rotated(x, c)
        return self.make("xor.b64", self.make("xor.b64", self.rotated(x, a), self.rotated(x, b)), last)

    def sum(self, *terms: str | int) -> str:
        total = terms[0]
        for term in terms[1:]:
            total = self.make("add.u64", total, term)
        assert isinstance(total, str)
        return total


def ptx(arch: str) -> str:
    """The kernel ``heavy(blocks, digests)``: 16 words and 8 words a thread, one thread behind the other."""
    t = _Text()
    w = [t.make("ld.global.u64", f"[%in+{8 * n}]") for n in range(WORDS)]
    a, b, c, d, e, f, g, h = (t.make("mov.b64", value) for value in START)
    for n in range(80):
        if n >= WORDS:
            old = w[n % WORDS]
            w[n % WORDS] = t.sum(
                old, t.mixed(w[(n + 1) % WORDS], 1, 8, 7, True), w[(n + 9) % WORDS], t.mixed(w[(n + 14) % WORDS], 19, 61, 6, True)
            )
        chosen = t.make("xor.b64", g, t.make("and.b64", e, t.make("xor.b64", f, g)))
        one = t.sum(h, t.mixed(e, 14, 18, 41, False), chosen, K[n], w[n % WORDS])
        most = t.make("or.b64", t.make("and.b64", a, b), t.make("and.b64", c, t.make("or.b64", a, b)))
        two = t.sum(t.mixed(a, 28, 34, 39, False), most)
        a, b, c, d, e, f, g, h = t.sum(one, two), a, b, c, t.sum(d, one), e, f, g
    for n, word in enumerate((a, b, c, d, e, f, g, h)):
        t.lines.append(f"st.global.u64 [%out+{8 * n}], {t.sum(word, START[n])};")
    body = "\n".join(t.lines)
    return f"""\
.version 8.0
.target {arch}
.address_size 64
.visible .entry heavy(.param .u64 blocks, .param .u64 digests)
{{
.reg .b32 %i; .reg .b64 %in, %out, %at, %w<{t.count + 1}>;
ld.param.u64 %in, [blocks]; ld.param.u64 %out, [digests]; mov.u32 %i, %tid.x;
mul.wide.u32 %at, %i, {8 * WORDS}; add.u64 %in, %in, %at; mul.wide.u32 %at, %i, 64; add.u64 %out, %out, %at;
{body}
ret;
}}
"""


def data(threads: int) -> tuple[list[npt.NDArray[np.uint64]], npt.NDArray[np.uint64]]:
    """Blocks with messages of different lengths, padded, and room for their digests; the digests."""
    blocks, digests = [], []
    for n in range(threads):
        message = bytes((7 * n + 3 * k) & 0xFF for k in range(3 * n % 112))
        block = message + b"\x80" + bytes(111 - len(message)) + (8 * len(message)).to_bytes(16, "big")
        blocks.append(np.frombuffer(block, ">u8").astype(np.uint64))
        digests.append(np.frombuffer(hashlib.sha512(message).digest(), ">u8").astype(np.uint64))
    return [np.stack(blocks), np.zeros((threads, 8), np.uint64)], np.stack(digests)
