"""The launches of the test kernels: inputs, shapes and numpy references.

A `Case` is one or more launches of one kernel file on a fresh module.  `case.build()` makes the arguments anew each
time (deterministic: the generator is seeded from the case's name) and the expected contents of the buffers:

    for step in case.build():
        module.launch(step.kernel, grid=step.grid, block=step.block, args=step.args, shared_bytes=0)
        step.check()

Arrays in `args` are device buffers that the launch changes in place, `bytes` are structures passed by value, the
rest are scalars.  `expected` maps the index of an argument to the array it must equal afterwards; every array that
is not in it must be unchanged.
"""

from __future__ import annotations

import lzma
import math
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import oric
from oric.support.targets import find_target
from oric_tables import targets as oric_targets

HERE = Path(__file__).resolve().parent
TARGETS = ("sm_80", "sm_90")  # whose PTX and ptxas-made cubins are stored
OTHERS = tuple(name for name in oric_targets.TARGETS if name not in TARGETS)  # the other targets that code can be made for
_MODELS = {row.isa_name: name for name, row in reversed(oric_targets.TARGETS.items())}
EACH_MODEL = tuple(name for name in _MODELS.values() if name not in TARGETS)  # the first target of each other encoding model
Shape = tuple[int, int, int]
Array = np.ndarray[Any, Any]


@dataclass
class Step:
    """One launch: arguments in order, what the buffers hold afterwards, and how far they may be off."""

    kernel: str
    grid: Shape
    block: Shape
    args: list[Any]
    expected: dict[int, Array]
    rtol: float = 0.0
    atol: float = 0.0
    before: dict[int, Array] = field(init=False)

    def __post_init__(self) -> None:
        self.before = {i: a.copy() for i, a in enumerate(self.args) if isinstance(a, np.ndarray)}

    def check(self) -> None:
        """Raise AssertionError naming the first wrong element of the first wrong buffer."""
        for index, start in self.before.items():
            got, want = self.args[index], self.expected.get(index, start)
            if index in self.expected and (self.rtol or self.atol) and got.dtype.kind == "f":
                good = np.isclose(got, want, rtol=self.rtol, atol=self.atol, equal_nan=True)
            elif got.dtype.kind == "f":
                good = (got == want) | (np.isnan(got) & np.isnan(want))
            else:
                good = got == want
            if not good.all():
                wrong = np.argwhere(~good)
                where = tuple(wrong[0])
                raise AssertionError(
                    f"{self.kernel}: argument {index}{list(map(int, where))} is {got[where]!r}, expected {want[where]!r}"
                    f" ({len(wrong)} of {good.size} elements wrong)"
                )


@dataclass(frozen=True)
class Case:
    """One test of a kernel file; `steps` gets a seeded generator and yields launches."""

    file: str
    name: str
    steps: Callable[[np.random.Generator], Iterator[Step]]

    @property
    def id(self) -> str:
        return f"{self.file}-{self.name}"

    def build(self) -> list[Step]:
        """Fresh arguments and expectations; the same on every call."""
        return list(self.steps(np.random.default_rng(zlib.crc32(self.id.encode()))))


CASES: list[Case] = []


def case(file: str, *shapes: Any) -> Callable[[Callable[..., Iterator[Step]]], Callable[..., Iterator[Step]]]:
    """Register `function(rng, *shape)` as one case per shape."""

    def register(function: Callable[..., Iterator[Step]]) -> Callable[..., Iterator[Step]]:
        for shape in shapes:
            arguments = shape if isinstance(shape, tuple) else (shape,)
            label = "-".join([function.__name__, *map(str, arguments)])
            CASES.append(Case(file, label, lambda rng, a=arguments: function(rng, *a)))  # type: ignore[misc]
        return function

    return register


def ptx(file: str, target: str) -> str:
    """The stored PTX of a kernel file; for a target of which none is stored, that of the newest older one, or of the oldest."""
    model = find_target(target).isa
    older = [name for name in TARGETS if find_target(name).isa <= model] or [TARGETS[0]]
    text = (HERE / f"{file}.{older[-1]}.ptx").read_text()
    if target in TARGETS:
        return text
    text = re.sub(r"^\.version \d\.\d$", ".version 9.0", text, flags=re.M)
    return re.sub(r"^\.target \w+$", f".target {target}", text, flags=re.M)


def launch(image: bytes, file: str, modes: oric.sim.Modes | None = None) -> None:
    """Run the launches of a kernel file on a cubin of it, each on a fresh module, and check the results."""
    for case in (case for case in CASES if case.file == file):
        module = oric.sim.load(image)
        for step in case.build():
            module.launch(step.kernel, grid=step.grid, block=step.block, args=step.args, modes=modes)
            step.check()


def golden_cubin(file: str, target: str) -> bytes:
    """The stored cubin that ptxas 13.0 made of that PTX at -O3."""
    return lzma.decompress((HERE / "ptxas" / f"{file}.{target}.cubin.xz").read_bytes())


def files() -> list[str]:
    """The kernel files, in order of first use."""
    return list(dict.fromkeys(c.file for c in CASES))


def blocks(n: int, block: int) -> int:
    """Blocks that cover n elements, at least one."""
    return max(1, math.ceil(n / block))


def floats(rng: np.random.Generator, *shape: int) -> Array:
    return rng.standard_normal(shape).astype(np.float32)


def halves(rng: np.random.Generator, n: int) -> Array:
    """n pairs of half-precision numbers."""
    return rng.uniform(-4, 4, (n, 2)).astype(np.float16)


def words(rng: np.random.Generator, n: int) -> Array:
    """n random 32-bit words with the corner cases first."""
    corners = np.array([0, 1, 0x80000000, 0xFFFFFFFF, 0x7FFFFFFF, 0x10000, 0x55555555, 0xFF], dtype=np.uint32)
    values = rng.integers(0, 1 << 32, n, dtype=np.uint32)
    values[: min(n, len(corners))] = corners[:n]
    return values


@case("saxpy", (1, 32), (31, 32), (256, 256), (1000, 256), (1025, 128))
def saxpy(rng: np.random.Generator, n: int, block: int) -> Iterator[Step]:
    a, x, y = np.float32(2.5), floats(rng, n), floats(rng, n)
    want = (np.float64(a) * x + y).astype(np.float32)
    yield Step("saxpy", (blocks(n, block), 1, 1), (block, 1, 1), [n, float(a), x, y], {3: want}, rtol=2e-7)


@case("vecadd_f64", (1, 1, 32), (100, 1, 32), (777, 2, 96), (1024, 4, 64))
def vecadd_f64(rng: np.random.Generator, n: int, grid: int, block: int) -> Iterator[Step]:
    a, b = rng.standard_normal(n), rng.standard_normal(n) * 1e8
    yield Step("vecadd_f64", (grid, 1, 1), (block, 1, 1), [a, b, np.zeros(n), n], {2: a + b})


@case("reduction", (1, 1, 32), (100, 1, 256), (5000, 3, 160), (1023, 2, 1024), (64, 1, 64))
def reduce_sum(rng: np.random.Generator, n: int, grid: int, block: int) -> Iterator[Step]:
    # Small whole numbers: every order of summation gives the same sum.
    x = rng.integers(-50, 50, n).astype(np.float32)
    total = np.array([1000.0], dtype=np.float32)
    yield Step("reduce_sum", (grid, 1, 1), (block, 1, 1), [x, total, n], {1: total + x.sum(dtype=np.float32)})


@case("reduction", (1, 1), (255, 1), (256, 2), (3000, 3))
def reduce_max(rng: np.random.Generator, n: int, grid: int) -> Iterator[Step]:
    x = rng.integers(-40, 5, n).astype(np.int32)
    hits = np.zeros(grid, dtype=np.uint32)
    best = np.array([-1000], dtype=np.int32)
    # Per thread of the grid: the largest of its elements; per block: how many threads hold the block's largest.
    padded = np.full(-(-n // (grid * 256)) * grid * 256, -(1 << 31), dtype=np.int64)
    padded[:n] = x
    thread = padded.reshape(-1, grid, 256).max(axis=0)
    want_hits = (thread == thread.max(axis=1, keepdims=True)).sum(axis=1).astype(np.uint32)
    want_best = np.maximum(best, x.max())
    yield Step("reduce_max", (grid, 1, 1), (256, 1, 1), [x, best, hits, n], {1: want_best, 2: want_hits})


@case("transpose", (1, 1), (32, 32), (33, 65), (40, 7), (96, 64))
def transpose(rng: np.random.Generator, width: int, height: int) -> Iterator[Step]:
    a = floats(rng, height, width)
    yield Step(
        "transpose",
        (blocks(width, 32), blocks(height, 32), 1),
        (32, 8, 1),
        [np.zeros((width, height), dtype=np.float32), a, width, height],
        {0: np.ascontiguousarray(a.T)},
    )


@case("sgemm", (1, 1, 1), (32, 32, 16), (33, 17, 20), (40, 70, 35), (32, 5, 0))
def sgemm(rng: np.random.Generator, m: int, n: int, k: int) -> Iterator[Step]:
    # A buffer of no elements has no address to pass: one unused element instead.
    a, b, c = floats(rng, m, max(k, 1)), floats(rng, max(k, 1), n), floats(rng, m, n)
    product = a.astype(np.float64) @ b if k else np.zeros((m, n))
    want = (1.25 * product - 0.5 * c).astype(np.float32)
    yield Step(
        "sgemm", (blocks(n, 32), blocks(m, 32), 1), (16, 16, 1), [m, n, k, 1.25, a, b, -0.5, c], {7: want}, rtol=1e-5, atol=1e-5
    )


@case("histogram", (1, 1, 32), (1000, 2, 64), (777, 3, 256), (300, 1, 100))
def histogram(rng: np.random.Generator, n: int, grid: int, block: int) -> Iterator[Step]:
    data = np.minimum(rng.geometric(0.03, n), 255).astype(np.uint8)
    bins = np.arange(256, dtype=np.uint32)
    want = bins + np.bincount(data, minlength=256).astype(np.uint32)
    yield Step("histogram", (grid, 1, 1), (block, 1, 1), [data, bins, n], {1: want})


def collatz_of(value: int) -> tuple[int, int]:
    """Steps down to 1 (at most 10000) and the highest value."""
    count, top = 0, value
    while value > 1 and count < 10000:
        value = 3 * value + 1 if value & 1 else value >> 1
        top = max(top, value)
        count += 1
    return count, top


@case("collatz", (1, 32), (97, 64), (200, 128))
def collatz(rng: np.random.Generator, n: int, block: int) -> Iterator[Step]:
    start = np.concatenate([[27, 0, 1, 113383, 837799][:n], rng.integers(1, 100000, max(0, n - 5))]).astype(np.uint32)
    results = [collatz_of(int(v)) for v in start]
    yield Step(
        "collatz",
        (blocks(n, block), 1, 1),
        (block, 1, 1),
        [start, np.zeros(n, np.uint32), np.zeros(n, np.uint64), n],
        {1: np.array([r[0] for r in results], np.uint32), 2: np.array([r[1] for r in results], np.uint64)},
    )


def truncated(a: int, b: int) -> tuple[int, int]:
    """Quotient towards zero and remainder with the dividend's sign, as C defines them."""
    q = abs(a) // abs(b)
    q = -q if (a < 0) != (b < 0) else q
    return q, a - q * b


@case("divrem", ("s32", 130), ("u32", 130), ("s64", 130), ("u64", 130), ("s32", 1), ("u64", 33))
def divrem(rng: np.random.Generator, kind: str, n: int) -> Iterator[Step]:
    dtype = np.dtype({"s": "int", "u": "uint"}[kind[0]] + kind[1:])
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    corners = [
        (high, 1),
        (low, 1),
        (high, high),
        (low, high),
        (0, 7),
        (7, high),
        (1, 2),
        (high, 3),
        (high, 2),
        (low + 1, 10),
        (high - 1, high),
        (high // 2, high // 2 + 1),
        (1 << 31, 3),
        (0xFFFFFFFF, 0xFFFF),
        (high, (1 << (dtype.itemsize * 4)) - 1),
    ]
    if dtype.kind == "i":
        corners += [(low, high), (-7, 2), (7, -2), (-7, -2), (low, 2), (low + 1, -1), (-1, high), (low, low)]
    pairs = [(a, b) for a, b in corners if a <= high and b <= high][:n]
    while len(pairs) < n:
        # Magnitudes of every size, so that quotients have from none to all of the bits.
        a = int(rng.integers(low, high, dtype=dtype)) >> int(rng.integers(0, dtype.itemsize * 8 - 1))
        b = int(rng.integers(low, high, dtype=dtype)) >> int(rng.integers(0, dtype.itemsize * 8 - 1))
        if b and (a, b) != (low, -1):
            pairs.append((a, b))
    answers = [truncated(a, b) for a, b in pairs]
    a, b = (np.array([p[i] for p in pairs], dtype) for i in (0, 1))
    q, r = (np.array([p[i] for p in answers], dtype) for i in (0, 1))
    yield Step(
        f"divrem_{kind}", (blocks(n, 64), 1, 1), (64, 1, 1), [a, b, np.zeros(n, dtype), np.zeros(n, dtype), n], {2: q, 3: r}
    )


@case("divrem", 70)
def gcd(rng: np.random.Generator, n: int) -> Iterator[Step]:
    common = rng.integers(1, 5000, n, dtype=np.uint32)
    a, b = (rng.integers(0, 100000, n, dtype=np.uint32) * common for _ in "ab")
    yield Step("gcd_u32", (blocks(n, 32), 1, 1), (32, 1, 1), [a, b, np.zeros(n, np.uint32), n], {2: np.gcd(a, b)})


@case("softmax", ("softmax", 1, 1), ("softmax", 3, 130), ("softmax_fast", 2, 128), ("softmax_fast", 1, 300))
def softmax(rng: np.random.Generator, kernel: str, rows: int, cols: int) -> Iterator[Step]:
    x = floats(rng, rows, cols) * 4
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    want = (e / e.sum(axis=1, keepdims=True)).astype(np.float32)
    yield Step(kernel, (rows, 1, 1), (128, 1, 1), [x, np.zeros_like(x), cols], {1: want}, rtol=1e-5, atol=1e-9)


JOB = np.dtype(
    [("bias", "i1"), ("clamp", "u1"), ("shift", "<i2"), ("count", "<i4"), ("gain", "<f4", 4), ("offset", "<f8"), ("tag", "<i8")]
)


@case("struct_param", (100, 1, 0), (65, 3, 9), (1, 2, 4))
def struct_param(rng: np.random.Generator, n: int, stride: int, clamp: int) -> Iterator[Step]:
    gain = rng.uniform(-2, 2, 4).astype(np.float32)
    job = np.array([(-3, clamp, 4, n, gain, 0.125, 0x123456789ABCDEF0)], JOB)
    x = rng.uniform(-2, 2, n).astype(np.float32)
    used = np.arange(0, n, stride)
    v = x[used].astype(np.float64)
    p = ((gain[3] * v + gain[2]) * v + gain[1]) * v + gain[0] + 0.125 - 3 + 16
    out = np.full(n, 99, np.float32)
    want = out.copy()
    want[used] = np.clip(p, -clamp, clamp) if clamp else p
    copy = job.copy()
    copy["count"] += 1
    copy["gain"][0, stride & 3] = -1.0
    copy["tag"] = ~copy["tag"]
    yield Step(
        "struct_param",
        (blocks(n, 32), 1, 1),
        (32, 1, 1),
        [job.tobytes(), x, out, stride, np.zeros(JOB.itemsize, np.uint8)],
        {2: want, 4: np.frombuffer(copy.tobytes(), np.uint8)},
        rtol=2e-6,
        atol=2e-6,
    )


@case("vector128", 1, 100, 128)
def vec_float4(rng: np.random.Generator, n: int) -> Iterator[Step]:
    x, s = floats(rng, n, 4), np.float32(1.5)
    want = np.stack([x[:, 3] * s, x[:, 2] + s, x[:, 1] - s, x[:, 0]], axis=1)
    yield Step("vec_float4", (blocks(n, 64), 1, 1), (64, 1, 1), [x, np.zeros_like(x), float(s), n], {1: want})


@case("vector128", 1, 128, 200)
def vec_int4(rng: np.random.Generator, n: int) -> Iterator[Step]:
    x = words(rng, 4 * n).view(np.int32).reshape(n, 4)
    v = np.zeros((blocks(n, 128) * 128, 4), np.int32)
    v[:n] = x
    w = v.reshape(-1, 128, 4)[:, ::-1].reshape(-1, 4)
    want = np.stack([v[:, 0] + w[:, 0], v[:, 1] ^ w[:, 1], v[:, 2] * w[:, 2], np.minimum(v[:, 3], w[:, 3])], axis=1)
    yield Step("vec_int4", (blocks(n, 128), 1, 1), (128, 1, 1), [x, np.zeros_like(x), n], {1: want[:n].copy()})


@case("vector128", 1, 77)
def vec_double2(rng: np.random.Generator, n: int) -> Iterator[Step]:
    x, y = rng.standard_normal((n, 2)), rng.standard_normal((n, 2))
    product = x.view(np.complex128) * y.view(np.complex128)
    yield Step("vec_double2", (blocks(n, 32), 1, 1), (32, 1, 1), [x, y, n], {1: product.view(np.float64)}, rtol=1e-13, atol=1e-15)


@case("vector128", 1, 50)
def vec_bytes(rng: np.random.Generator, n: int) -> Iterator[Step]:
    x = rng.integers(0, 256, (n, 16)).astype(np.uint8)
    yield Step(
        "vec_bytes", (blocks(n, 32), 1, 1), (32, 1, 1), [x, np.zeros(n, np.uint32), n], {1: x.sum(axis=1).astype(np.uint32)}
    )


M32, M64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF


def signed(value: int, bits: int) -> int:
    """The two's-complement reading of an unsigned number."""
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def bfe(a: int, pos: int, length: int, with_sign: bool) -> int:
    """PTX bfe.u32 / bfe.s32: bits past the top of the word repeat the field's sign bit (or are zero)."""
    sign = a >> min(pos + length - 1, 31) & 1 if with_sign and length else 0
    bits = [(a >> (pos + k) & 1) if k < length and pos + k < 32 else sign for k in range(32)]
    return sum(bit << k for k, bit in enumerate(bits))


def bfi(a: int, b: int, pos: int, length: int) -> int:
    """PTX bfi.b32: the low `length` bits of a put into b at `pos`."""
    mask = ((1 << length) - 1) << pos & M32
    return b & ~mask & M32 | a << pos & mask


def prmt(a: int, b: int, selector: int) -> int:
    """CUDA __byte_perm: the sign-replicating bit of each selector nibble is ignored by the intrinsic."""
    source = a | b << 32
    return sum((source >> 8 * (selector >> 4 * k & 7) & 255) << 8 * k for k in range(4))


def lop3(lut: int, a: int, b: int, c: int) -> int:
    """Bitwise table look-up of three words."""
    result = 0
    for index in range(8):
        if lut >> index & 1:
            result |= (a if index & 4 else ~a) & (b if index & 2 else ~b) & (c if index & 1 else ~c)
    return result & M32


def bits32_of(i: int, a: int, b: int) -> list[int]:
    """The eighteen results of kernel bits32 for element i."""
    pos, length, both = b & 31, b >> 5 & 31, a | b << 32
    clamp = min(i & M32, 32)
    return [
        bin(a).count("1"),
        32 - a.bit_length(),
        int(f"{a:032b}"[::-1], 2),
        (a & -a).bit_length(),
        bfe(a, pos, length, False),
        bfe(a, pos, length, True),
        bfi(a, b, pos, length),
        prmt(a, b, b >> 16),
        prmt(a, b, 0x5140),
        lop3(0x96, a, b, i),
        lop3(0xE8, a, b, i),
        both << (i & 31) >> 32 & M32,
        both >> (i & 31) & M32,
        both << clamp >> 32 & M32,
        both >> clamp & M32,
        (a << pos ^ a >> (i & 31) ^ signed(b, 32) >> (i & 31)) & M32,
        bfe(a, 5, 9, False) + bfe(b, 11, 13, True) & M32,
        bfi(a, b, 12, 8),
    ]


@case("bits", 1, 100)
def bits32(rng: np.random.Generator, n: int) -> Iterator[Step]:
    a, b = words(rng, n), rng.permutation(words(rng, n))
    want = np.array([bits32_of(i, int(a[i]), int(b[i])) for i in range(n)], np.uint32).T
    yield Step(
        "bits32", (blocks(n, 64), 1, 1), (64, 1, 1), [a, b, np.zeros((18, n), np.uint32), n], {2: np.ascontiguousarray(want)}
    )


def bits64_of(i: int, a: int) -> list[int]:
    """The five results of kernel bits64 for element i."""
    s = i & 63
    return [
        bin(a).count("1") + 256 * (64 - a.bit_length()) + 65536 * (a & -a).bit_length(),
        int(f"{a:064b}"[::-1], 2),
        (a << s ^ a >> (63 - s)) & M64,
        signed(a, 64) >> s & M64,
        a * 0x9E3779B97F4A7C15 + (a * a >> 64) & M64,
    ]


@case("bits", 2, 90)
def bits64(rng: np.random.Generator, n: int) -> Iterator[Step]:
    a = words(rng, 2 * n).view(np.uint64)
    want = np.array([bits64_of(i, int(a[i])) for i in range(n)], np.uint64).T
    yield Step("bits64", (blocks(n, 64), 1, 1), (64, 1, 1), [a, np.zeros((5, n), np.uint64), n], {1: np.ascontiguousarray(want)})


WEIGHTS = np.array([0.5, -1.0, 2.0, 0.25, -0.125, 3.0, 1.5, -2.5], np.float32)
ORDER = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3], np.float32)


def tables_of(k: Array, bonus: Array) -> Array:
    """What kernel tables computes; every value is exact in f32."""
    v = WEIGHTS[k & 7] * ORDER[k & 15] + WEIGHTS[3] + bonus[k % 10]
    return (v + np.where(k & 1, bonus[4 + (k & 3)], 0)).astype(np.float32)


@case("tables", 1, 150)
def tables(rng: np.random.Generator, n: int) -> Iterator[Step]:
    bonus = np.arange(10, 101, 10)
    k = rng.integers(0, 1000, n).astype(np.int32)
    grid, block = (blocks(n, 64), 1, 1), (64, 1, 1)
    yield Step("tables", grid, block, [k, np.zeros(n, np.float32), n], {1: tables_of(k, bonus)})
    yield Step("tables_update", (1, 1, 1), (32, 1, 1), [6, -5, np.zeros(1, np.uint32)], {2: np.array([n], np.uint32)})
    yield Step("tables", grid, block, [k, np.zeros(n, np.float32), n], {1: tables_of(k, bonus - 5 * (np.arange(10) >= 6))})


def interpret_of(i: int, program: Array, x: Array) -> int:
    """The machine of switch.cu for one thread."""
    n, acc, reg = len(x), int(x[i]), i

    def wrap(v: int) -> int:
        return signed(v & M32, 32)

    for byte in program:
        op = (int(byte) + i) % 13
        if op == 0:
            acc = wrap(acc + reg)
        elif op == 1:
            acc = wrap(acc - reg)
        elif op == 2:
            acc = wrap(acc * 3)
        elif op == 3:
            acc = wrap(acc ^ reg << 2)
        elif op == 4:
            reg = acc
        elif op == 5:
            reg, acc = acc >> 3, ~acc
        elif op == 6:
            acc = max(acc, reg)
        elif op == 7:
            acc = bin(acc & M32).count("1") + (reg & 255)
        elif op == 8:
            acc = wrap((acc & M32) >> 5 | reg << 27)
        elif op == 9:
            acc = wrap(-acc) if acc < 0 else wrap(acc + 7)
        elif op == 10:
            reg = wrap(reg + int(x[(acc & M32) % n]))
        elif op == 11:
            acc, reg = acc & 0xFFFF, reg | 1
        else:
            reg, acc = wrap(reg - 5), wrap(acc + 1000)
    return acc ^ reg


@case("switch", (1, 5), (33, 0), (100, 40))
def interpret(rng: np.random.Generator, n: int, length: int) -> Iterator[Step]:
    program = rng.integers(0, 240, max(length, 1)).astype(np.uint8)
    x = words(rng, n).view(np.int32)
    want = np.array([interpret_of(i, program[:length], x) for i in range(n)], np.int32)
    yield Step("interpret", (blocks(n, 64), 1, 1), (64, 1, 1), [program, length, x, np.zeros(n, np.int32), n], {3: want})


@case("switch", 60)
def select_op(rng: np.random.Generator, n: int) -> Iterator[Step]:
    x = (floats(rng, n) * 3).round(2)
    x[:4] = [0.5, -1.5, 2.5, 0.0]
    results = [
        np.zeros_like(x),
        x * x,
        np.abs(x) + 1,
        np.rint(x),
        np.floor(x) - np.ceil(x * np.float32(0.5)),
        np.trunc(x) + 0.0,
        np.minimum(x, 0.5),
        -x,
        (x > 0) * 1.0,
        np.zeros_like(x),
    ]
    for op, want in enumerate(results):
        yield Step("select_op", (2, 1, 1), (32, 1, 1), [op, x, np.ones(n, np.float32), n], {2: want.astype(np.float32)})


@case("half2", 1, 100)
def fma_f16x2(rng: np.random.Generator, n: int) -> Iterator[Step]:
    a, b, c = halves(rng, n), halves(rng, n), halves(rng, n)
    want = (a.astype(np.float64) * b + c).astype(np.float16)
    yield Step("fma_f16x2", (blocks(n, 32), 1, 1), (32, 1, 1), [a, b, c, n], {2: want})


@case("half2", 1, 75)
def poly_f16x2(rng: np.random.Generator, n: int) -> Iterator[Step]:
    v, k = halves(rng, n), np.float16(0.7)

    def fma(a: Array, b: Array, c: Array) -> Array:
        return np.asarray(a.astype(np.float64) * b + c).astype(np.float16)

    p = fma(v, fma(v, np.full_like(v, k), np.array([[0.5, -0.25]])), np.full_like(v, -k))
    want = (p * v + p[:, ::-1]).astype(np.float32)
    yield Step("poly_f16x2", (blocks(n, 32), 1, 1), (32, 1, 1), [v, np.zeros((n, 2), np.float32), 0.7, n], {1: want})


def jump_table_of(i: int, x: int) -> int:
    """The loop of jump_table.ptx for one thread."""
    value, count = 1, 0
    while True:
        op = x & 7
        if op == 0:
            value += i
        elif op in (1, 4):
            value *= 3
        elif op == 2:
            value ^= 0x55AA
        elif op == 3:
            value = value << 5 | (value & M32) >> 27
        elif op == 5:
            value = -value
        else:
            value += 1000
        value &= M32
        x >>= 3
        count += 1
        if x == 0:
            return (count * 65537 + value) & M32


@case("jump_table", 1, 90)
def jump_table(rng: np.random.Generator, n: int) -> Iterator[Step]:
    x = words(rng, n)
    want = np.array([jump_table_of(i, int(x[i])) for i in range(n)], np.uint32)
    yield Step("jump_table", (blocks(n, 64), 1, 1), (64, 1, 1), [x, np.zeros(n, np.uint32), n], {1: want})
