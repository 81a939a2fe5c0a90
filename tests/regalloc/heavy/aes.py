"""AES-128 of 32 blocks a thread, one bit of all in a register: 128 of them are the state. Source: FIPS 197, sections 4 and 5."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

BITS, BYTES, ROUNDS = 8, 16, 10
STATE = BITS * BYTES
BLOCKS = 32  # of a thread: bits of a word
POLYNOMIAL = 0x11B
SHIFTED = [(n + 4 * (n % 4)) % BYTES for n in range(BYTES)]  # where ShiftRows takes a byte from

_Words = npt.NDArray[np.uint32]


def times(x: int, y: int) -> int:
    """The product in the field of 256 elements."""
    product = 0
    for n in range(BITS):
        product ^= (x << n) * (y >> n & 1)
    for n in range(2 * BITS - 2, BITS - 1, -1):
        product ^= (POLYNOMIAL << n - BITS) * (product >> n & 1)
    return product


def substitute(x: int) -> int:
    """The S-box: the inverse, then the affine map."""
    inverse = next((y for y in range(256) if times(x, y) == 1), 0)
    turned = [(inverse << n | inverse >> BITS - n) & 0xFF for n in range(5)]
    return turned[0] ^ turned[1] ^ turned[2] ^ turned[3] ^ turned[4] ^ 0x63


BOX = [substitute(x) for x in range(256)]


def round_keys(key: bytes) -> list[list[int]]:
    """The key of every round, 16 bytes each."""
    words = [list(key[n : n + 4]) for n in range(0, BYTES, 4)]
    constant = 1
    for n in range(4, 4 * (ROUNDS + 1)):
        last = words[-1]
        if n % 4 == 0:
            last = [BOX[x] for x in last[1:] + last[:1]]
            last[0] ^= constant
            constant = times(constant, 2)
        words.append([x ^ y for x, y in zip(words[-4], last, strict=True)])
    return [[x for word in words[n : n + 4] for x in word] for n in range(0, len(words), 4)]


def encrypt(block: bytes, keys: list[list[int]]) -> bytes:
    """A block, byte by byte."""
    state = [x ^ k for x, k in zip(block, keys[0], strict=True)]
    for n, key in enumerate(keys[1:], 1):
        state = [BOX[state[k]] for k in SHIFTED]
        if n < ROUNDS:
            state = [
                times(state[k], 2) ^ times(state[a], 3) ^ state[b] ^ state[c]
                for k, a, b, c in ([4 * (m // 4) + (m + j) % 4 for j in range(4)] for m in range(BYTES))
            ]
        state = [x ^ k for x, k in zip(state, key, strict=True)]
    return bytes(state)


class _Text:
    """Lines of PTX with a fresh register for every result."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0

    def make(self, op: str, *sources: str) -> str:
        self.count += 1
        self.lines.append(f"{op} %w{self.count}, {', '.join(sources)};")
        return f"%w{self.count}"

    def sum(self, terms: list[str]) -> str:
        total = terms[0]
        for term in terms[1:]:
            total = self.make("xor.b32", total, term)
        return total

    def linear(self, x: list[str], images: list[int]) -> list[str]:
        """A linear map; ``images``: of the single bits."""
        return [self.sum([x[n] for n in range(len(x)) if images[n] >> k & 1]) for k in range(BITS)]

    def square(self, x: list[str], count: int) -> list[str]:
        """Squared so many times."""
        images = [1 << n for n in range(BITS)]
        for _ in range(count):
            images = [times(image, image) for image in images]
        return self.linear(x, images)

    def product(self, x: list[str], y: list[str]) -> list[str]:
        long = [
            self.sum([self.make("and.b32", x[n], y[k - n]) for n in range(BITS) if 0 <= k - n < BITS])
            for k in range(2 * BITS - 1)
        ]  # fmt: skip
        images = [1]
        for _ in long[1:]:
            images.append(times(images[-1], 2))
        return self.linear(long, images)

    def box(self, x: list[str]) -> list[str]:
        """The S-box: the power 254, then the affine map."""
        two = self.square(x, 1)
        three = self.product(x, two)
        twelve = self.square(three, 2)
        most = self.product(self.square(self.product(twelve, three), 4), twelve)
        turned = self.linear(self.product(most, two), [substitute_bit(n) for n in range(BITS)])
        return [self.make("not.b32", t) if 0x63 >> n & 1 else t for n, t in enumerate(turned)]

    def mixed(self, state: list[str], n: int) -> list[str]:
        """A byte behind MixColumns."""
        own, a, b, c = ([state[BITS * (4 * (n // 4) + (n + k) % 4) + m] for m in range(BITS)] for k in range(4))
        both = [self.make("xor.b32", x, y) for x, y in zip(own, a, strict=True)]
        twice = self.linear(both, [times(1 << m, 2) for m in range(BITS)])
        return [self.sum(list(terms)) for terms in zip(twice, a, b, c, strict=True)]

    def keyed(self, state: list[str]) -> None:
        """Add the key of a round and go on to the next."""
        for n, word in enumerate(state):
            self.lines.append(f"xor.b32 %s{n}, {word}, {self.make('ld.global.u32', f'[%key+{4 * n}]')};")
        self.lines.append(f"add.u64 %key, %key, {4 * STATE};")


def substitute_bit(n: int) -> int:
    """What the affine map makes of a single bit, without its constant."""
    return sum(1 << (n + k) % BITS for k in range(5))


def ptx(arch: str) -> str:
    """The kernel ``heavy(blocks, keys, encrypted)``: 128 words a thread, 128 a round, 128 a thread."""
    t = _Text()
    state = [f"%s{n}" for n in range(STATE)]
    t.keyed([t.make("ld.global.u32", f"[%in+{4 * n}]") for n in range(STATE)])
    t.lines.append("ROUND:")
    boxes = [t.box(state[n : n + BITS]) for n in range(0, STATE, BITS)]
    shifted = [bit for n in SHIFTED for bit in boxes[n]]
    t.lines += [f"mov.b32 {s}, {x};" for s, x in zip(state, shifted, strict=True)]
    t.lines += ["add.u32 %round, %round, 1;", f"setp.eq.u32 %last, %round, {ROUNDS};", "@%last bra LAST;"]
    t.keyed([bit for n in range(BYTES) for bit in t.mixed(state, n)])
    t.lines += ["bra ROUND;", "LAST:"]
    t.keyed(state)
    t.lines += [f"st.global.u32 [%out+{4 * n}], {s};" for n, s in enumerate(state)]
    body = "\n".join(t.lines)
    return f"""\
.version 8.0
.target {arch}
.address_size 64
.visible .entry heavy(.param .u64 blocks, .param .u64 keys, .param .u64 encrypted)
{{
.reg .b32 %i, %round, %s<{STATE}>, %w<{t.count + 1}>; .reg .b64 %in, %key, %out, %at; .reg .pred %last;
ld.param.u64 %in, [blocks]; ld.param.u64 %key, [keys]; ld.param.u64 %out, [encrypted]; mov.u32 %i, %tid.x; mov.u32 %round, 0;
mul.wide.u32 %at, %i, {4 * STATE}; add.u64 %in, %in, %at; add.u64 %out, %out, %at;
{body}
ret;
}}
"""


def sliced(blocks: npt.NDArray[np.uint8]) -> _Words:
    """(threads, 32, 16) bytes -> (threads, 128) words, word 8n + k with bit k of byte n of every block."""
    bits = np.unpackbits(blocks, axis=-1, bitorder="little")  # threads, blocks, 128
    words: _Words = (bits.astype(np.uint32) << np.arange(BLOCKS, dtype=np.uint32)[:, None]).sum(axis=1, dtype=np.uint32)
    return words


def data(threads: int) -> tuple[list[_Words], _Words]:
    """Blocks, the keys of the rounds as masks, and room for what is encrypted; that."""
    random = np.random.default_rng(197)
    keys = round_keys(bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c"))
    blocks = random.integers(0, 256, (threads, BLOCKS, BYTES), np.uint8)
    blocks[0, 0] = np.frombuffer(bytes.fromhex("3243f6a8885a308d313198a2e0370734"), np.uint8)
    done = np.array([[list(encrypt(block.tobytes(), keys)) for block in own] for own in blocks], np.uint8)
    assert done[0, 0].tobytes().hex() == "3925841d02dc09fbdc118597196a0b32"  # the example of appendix B
    masks = sliced(np.repeat(np.array(keys, np.uint8)[:, None], BLOCKS, axis=1))
    return [sliced(blocks), masks, np.zeros((threads, STATE), np.uint32)], sliced(done)
