"""Launches of the kernels that go over elements."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.programs.triton.case import Array, Close, Launch, out, register

Random = np.random.Generator
BF16 = ml_dtypes.bfloat16
E4, E5 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
APART = {"ulp": 2.0, "rtol": 1e-6}  # exponentials and reciprocals are approximate


def _some(rng: Random, *shape: int) -> Array:
    return rng.standard_normal(shape, np.float32)


def _add(dtype: Any, n: int, block: int) -> Any:
    def build(rng: Random) -> Launch:
        if np.dtype(dtype).kind == "i":
            x, y = (rng.integers(-(1 << 40), 1 << 40, n, dtype) for _ in range(2))
            return Launch(-(-n // block), [x, y, out(n, dtype), n], {2: x + y})
        x, y = (_some(rng, n).astype(dtype) for _ in range(2))
        return Launch(-(-n // block), [x, y, out(n, dtype), n], {2: (x.astype(np.float32) + y.astype(np.float32)).astype(dtype)})

    return build


register("add_f32", "pointwise.add", "*fp32 *fp32 *fp32 i32", _add(np.float32, 2999, 1024), BLOCK=1024)
register("add_f16", "pointwise.add", "*fp16 *fp16 *fp16 i32", _add(np.float16, 1024, 512), aligned="n", BLOCK=512)
register("add_bf16", "pointwise.add", "*bf16 *bf16 *bf16 i32", _add(BF16, 777, 256), BLOCK=256)
register("add_i64", "pointwise.add", "*i64 *i64 *i64 i32", _add(np.int64, 300, 256), BLOCK=256)


def silu_and_multiply(rng: Random) -> Launch:
    n, rows = 300, 3
    x = _some(rng, rows, 2 * n).astype(np.float16)
    gate, up = x[:, :n].astype(np.float64), x[:, n:].astype(np.float64)
    want = Close(gate / (1 + np.exp(-gate)) * up, ulp=1, rtol=1e-5)
    return Launch(rows, [x, out((rows, n), np.float16), n, 2 * n], {1: want})


register("silu_and_multiply", "pointwise.silu_and_multiply", "*fp16 *fp16 i32 i32", silu_and_multiply, BLOCK=128)


def gelu_backward(rng: Random) -> Launch:
    n = 1500
    x, g = (_some(rng, n).astype(BF16) for _ in range(2))
    v = x.astype(np.float64)
    from math import erf

    cdf = 0.5 * (1 + np.vectorize(erf)(v / np.sqrt(2)))
    want = g.astype(np.float64) * (cdf + v * np.exp(-0.5 * v * v) / np.sqrt(2 * np.pi))
    return Launch(2, [g, x, out(n, BF16), n], {2: Close(want, ulp=1, atol=1e-6)})


register("gelu_backward", "pointwise.gelu_backward", "*bf16 *bf16 *bf16 i32", gelu_backward, BLOCK=1024, options={"num_warps": 8})


def philox(seed: int, at: Array) -> list[Array]:
    """Four random words for each place."""
    c = [at.astype(np.uint64), *(np.zeros_like(at, np.uint64) for _ in range(3))]
    low = np.uint64(0xFFFFFFFF)
    k = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        b, a = c[2] * np.uint64(0xCD9E8D57), c[0] * np.uint64(0xD2511F53)
        shift = np.uint64(32)
        c = [(b >> shift) ^ c[1] ^ np.uint64(k[0]), b & low, (a >> shift) ^ c[3] ^ np.uint64(k[1]), a & low]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return [v.astype(np.uint32) for v in c]


def _uniform(bits: Array) -> Array:
    v = bits.view(np.int32)
    return np.where(v < 0, -v - 1, v).astype(np.float32) * np.float32(4.6566127342e-10)


def dropout(rng: Random) -> Launch:
    n, p, seed = 900, 0.25, 123456789012345
    x = _some(rng, n)
    keep = _uniform(philox(seed, np.arange(n))[0]) > np.float32(p)
    return Launch(2, [x, out(n, np.float32), n, p, seed], {1: Close(np.where(keep, x / np.float32(1 - p), 0), ulp=2)})


register("dropout", "pointwise.dropout", "*fp32 *fp32 i32 fp32 i64", dropout, BLOCK=512)


def random_numbers(rng: Random) -> Launch:
    n, seed = 500, 77
    a, b, c, d = philox(seed, np.arange(n))
    whole = a ^ (b << np.uint32(1)) ^ (c >> np.uint32(3)) ^ d
    first, second = np.maximum(_uniform(a), np.float32(1e-7)).astype(np.float64), _uniform(b).astype(np.float64)
    normal = np.sqrt(-2 * np.log(first)) * np.cos(2 * np.pi * second)
    del rng
    return Launch(2, [out(n, np.int32), out(n, np.float32), seed, n], {0: whole.view(np.int32), 1: Close(normal, atol=4e-6)})


register("random_numbers", "pointwise.random_numbers", "*i32 *fp32 i64 i32", random_numbers, BLOCK=256)


def adam(rng: Random) -> Launch:
    n = 1000
    p, g, m, v = _some(rng, n), _some(rng, n).astype(BF16), _some(rng, n), _some(rng, n) ** 2
    rate, s1, s2, b1, b2, eps, decay = 1e-2, 0.19, 0.002, 0.9, 0.999, 1e-8, 0.01
    d = g.astype(np.float64)
    first, second = b1 * m + (1 - b1) * d, b2 * v.astype(np.float64) + (1 - b2) * d * d
    want = p - rate * ((first / s1) / (np.sqrt(second / s2) + eps) + decay * p)
    close = {"rtol": 1e-5, "atol": 1e-6}
    args = [p, g, m, v, n, rate, s1, s2, b1, b2, eps, decay]
    return Launch(2, args, {0: Close(want, **close), 2: Close(first, **close), 3: Close(second, **close)})


register("adam", "pointwise.adam", "*fp32 *bf16 *fp32 *fp32 i32" + 7 * " fp32", adam, BLOCK=512)


def functions(rng: Random) -> Launch:
    from math import erf

    n = 250
    x = rng.uniform(0.05, 4, n).astype(np.float32)
    v = x.astype(np.float64)
    part = (x - np.floor(x)).astype(np.float64)
    low, high = np.full(n, 0.0), np.full(n, 6.0)
    for _ in range(80):  # the inverse of erf by halving
        middle = (low + high) / 2
        less = np.vectorize(erf)(middle) < part
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    rounds = np.floor(v) + np.ceil(v) + np.rint(v)
    rows = [
        np.exp(v),
        np.log(v),
        np.sin(v),
        np.cos(v),
        np.sqrt(v),
        1 / np.sqrt(v),
        np.tanh(v),
        v**1.5,
        np.log1p(v),
        1 / v,
        rounds,
        low,
    ]
    return Launch(2, [x, out((12, n), np.float32), n], {1: Close(np.stack(rows), rtol=3e-6, atol=1e-6)})


register("functions", "pointwise.functions", "*fp32 *fp32 i32", functions, BLOCK=128)


def doubles(rng: Random) -> Launch:
    n = 200
    x = rng.uniform(0.1, 5, n)
    rows = [np.exp(x), np.log(x), np.sqrt(x) / (x + 1), x * x + 1 / x]
    return Launch(2, [x, out((4, n), np.float64), n], {1: Close(np.stack(rows), ulp=3)})


register("doubles", "pointwise.doubles", "*fp64 *fp64 i32", doubles, BLOCK=128)


def _whole_numbers(dtype: Any) -> Any:
    def build(rng: Random) -> Launch:
        n, bits = 400, 8 * np.dtype(dtype).itemsize
        x = rng.integers(-(1 << bits - 2), 1 << bits - 2, n, dtype)
        y = rng.integers(1, 1 << bits // 2, n, dtype) * rng.choice(np.array([-1, 1], dtype), n)
        q = np.array([abs(int(a)) // abs(int(b)) * (1 if (a < 0) == (b < 0) else -1) for a, b in zip(x, y, strict=True)], dtype)
        with np.errstate(over="ignore"):
            mixed = (x * y) ^ (x >> (y & dtype(15))) ^ (y << dtype(3))
            seven = x + dtype(6)
            less = np.array([abs(int(a)) // 7 * (1 if a >= 0 else -1) for a in seven], dtype)
            rows = [q, x - q * y, mixed, less + np.minimum(x, y) * np.maximum(x, y), np.where(x > y, np.abs(x), -y)]
        return Launch(2, [x, y, out((5, n), dtype), n], {2: np.stack(rows)})

    return build


register("whole_numbers_32", "pointwise.whole_numbers", "*i32 *i32 *i32 i32", _whole_numbers(np.int32), BLOCK=256)
register("whole_numbers_64", "pointwise.whole_numbers", "*i64 *i64 *i64 i32", _whole_numbers(np.int64), BLOCK=256)


def _quantise(dtype: Any, most: float) -> Any:
    def build(rng: Random) -> Launch:
        rows, n = 3, 500
        x = _some(rng, rows, n).astype(np.float16)
        scale = (np.abs(x).max(1).astype(np.float32) / np.float32(most)).astype(np.float32)
        v = x.astype(np.float32) / scale[:, None]
        q = np.rint(v).astype(dtype) if np.dtype(dtype).kind == "i" else v.astype(dtype)
        # Divisions are approximate, so a number may fall to the other side of a border between two results.
        want = Close(q, atol=1) if np.dtype(dtype).kind == "i" else Close(q, ulp=1)
        return Launch(rows, [x, out((rows, n), dtype), out(rows, np.float32), n], {1: want, 2: Close(scale, ulp=2)})

    return build


register(
    "quantise_e4m3",
    "pointwise.quantise_rows",
    "*fp16 *fp8e4nv *fp32 i32",
    _quantise(E4, 448),
    (89, 90, 100, 120),
    MOST=448.0,
    BLOCK=512,
)
register("quantise_e5m2", "pointwise.quantise_rows", "*fp16 *fp8e5 *fp32 i32", _quantise(E5, 57344), MOST=57344.0, BLOCK=512)


def _towards_zero(x: Array) -> Array:
    h = x.astype(np.float16)
    found: Array = np.where(np.abs(h.astype(np.float32)) > np.abs(x), np.nextafter(h, np.float16(0)), h)
    return found


def conversions(rng: Random) -> Launch:
    n = 300
    x = np.concatenate([rng.uniform(-100, 100, n - 50), rng.uniform(-1, 1, 50)]).astype(np.float32)
    h = _towards_zero(x)
    # sm_89 makes E4M3 of the halves: numbers that come out otherwise then are left out.
    x = np.where(h.astype(E4) == x.astype(E4), x, np.float32(1.25))
    h = _towards_zero(x)
    b, e4, e5 = x.astype(BF16), x.astype(E4), x.astype(E5)
    total = np.zeros(n, np.float32)
    for part in (e4, e5, h, b, x.astype(np.int64)):
        total += part.astype(np.float32)
    arrays = [out(n, t) for t in (np.float16, BF16, E4, E5, np.int8, np.float32)]
    return Launch(2, [x, *arrays, n], {1: h, 2: b, 3: e4, 4: e5, 5: x.astype(np.int32).astype(np.int8), 6: total})


register(
    "conversions",
    "pointwise.conversions",
    "*fp32 *fp16 *bf16 *fp8e4nv *fp8e5 *i8 *fp32 i32",
    conversions,
    (89, 90, 100, 120),
    BLOCK=256,
)


def unpack_int4(rng: Random) -> Launch:
    rows, n, group = 4, 192, 32
    packed = rng.integers(-(1 << 31), 1 << 31, (rows, n // 8)).astype(np.int32)
    scale, zero = _some(rng, rows, n // group), rng.integers(0, 16, (rows, n // group), np.int32)
    v = (packed[:, :, None].view(np.uint32) >> (4 * np.arange(8, dtype=np.uint32))).reshape(rows, n) & 15
    want = (v.astype(np.int32) - zero.repeat(group, 1)).astype(np.float32) * scale.repeat(group, 1)
    return Launch(rows, [packed, scale, zero, out((rows, n), np.float16), n], {3: want.astype(np.float16)})


register("unpack_int4", "pointwise.unpack_int4", "*i32 *fp32 *i32 *fp16 i32", unpack_int4, GROUP=32, BLOCK=256)


def rotary(rng: Random) -> Launch:
    positions, heads, size, length = 5, 6, 64, 3
    x = _some(rng, positions, heads, size).astype(np.float16)
    angle = rng.uniform(0, 6, (length, size // 2))
    c, s = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    turn = np.arange(positions) % length
    a, b = x[..., : size // 2].astype(np.float64), x[..., size // 2 :].astype(np.float64)
    cc, ss = c[turn][:, None], s[turn][:, None]
    want = np.concatenate([a * cc - b * ss, b * cc + a * ss], -1)
    return Launch(positions, [x, c, s, out(x.shape, np.float16), heads, length], {3: Close(want, ulp=1, atol=1e-6)})


register("rotary", "pointwise.rotary", "*fp16 *fp32 *fp32 *fp16 i32 i32", rotary, SIZE=64, HEADS=8)


def complex_product(rng: Random) -> Launch:
    n = 600
    x, y = _some(rng, n, 2), _some(rng, n, 2)
    z = x.astype(np.float64).view(np.complex128) * y.astype(np.float64).view(np.complex128)
    return Launch(3, [x, y, out((n, 2), np.float32), n], {2: Close(z.view(np.float64), rtol=1e-5, atol=1e-5)})


register("complex_product", "pointwise.complex_product", "*fp32 *fp32 *fp32 i32", complex_product, BLOCK=256)


def assembly(rng: Random) -> Launch:
    n = 200
    x = rng.integers(-(1 << 31), 1 << 31, n).astype(np.int32)
    t = x.view(np.uint32).byteswap()
    u, mask = x.view(np.uint32), np.uint32(0x0F0F0F0F)
    high = (t & u) | (t & mask) | (u & mask)
    return Launch(2, [x, out(n, np.int32), n], {1: (((t >> np.uint32(3)) & np.uint32(2047)) * high).view(np.int32)})


register("assembly", "pointwise.assembly", "*i32 *i32 i32", assembly, BLOCK=128)


def fast_half(rng: Random) -> Launch:
    n = 2000
    x = (rng.integers(-8, 9, n) / 4).astype(np.float16)  # so that nothing is rounded, fused or not
    v = np.maximum(x * x + x, x) - np.minimum(x, np.float16(0.5))
    return Launch(2, [x, out(n, np.float16), n], {1: np.where(v > 1, v * np.float16(0.25), v)})


register("fast_half", "pointwise.fast_half", "*fp16 *fp16 i32", fast_half, BLOCK=1024)


def control(rng: Random) -> Launch:
    n = 5
    x = rng.integers(-1000, 1000, 128).astype(np.int32)
    x[0] = 11
    v = x.copy()
    for i in range(11, 0, -1):
        v = v + v * 2 if i % 3 == 0 else v ^ np.int32(i * n + 1)
    return Launch(1, [x, out(128, np.int32), n], {1: v})


register("control", "pointwise.control", "*i32 *i32 i32", control, BLOCK=128)


def printing(rng: Random) -> Launch:
    x = rng.integers(1, 1000, 32).astype(np.int32)
    text = "".join(f"pid (0, 0, 0) idx ({i:2d}) value: {v}\n" for i, v in enumerate(x))
    return Launch(1, [x, out(32, np.int32)], {1: x + 1}, more={"printed": text})


register("printing", "pointwise.printing", "*i32 *i32", printing, options={"num_warps": 1, "debug": True}, BLOCK=32)
