"""Arithmetic of vendor-made cubins against numpy and Python integers."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from oric.sim import Modes

from tests.sim.vendor_cubins import TARGETS, module, run

Array = np.ndarray[Any, Any]
N = 256
SPECIAL32 = np.array(
    [
        0.0,
        -0.0,
        1.0,
        -1.0,
        1.5,
        np.inf,
        -np.inf,
        np.nan,
        1e-45,
        -1e-45,
        1.1754942e-38,
        1.17549435e-38,
        3.4028235e38,
        -3.4028235e38,
        0.1,
        1 / 3,
        8388608.0,
        8388609.0,
        16777216.0,
        2147483648.0,
        4294967296.0,
        0.5,
        2.5,
        3.5,
        -2.5,
        1e-20,
        1e20,
    ],
    np.float32,
)


def floats32(seed: int) -> Array:
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        random = rng.integers(0, 1 << 32, N, dtype=np.uint32).view(np.float32)
        near = (rng.standard_normal(N) * 4).astype(np.float32)
    out = np.where(rng.random(N) < 0.5, random, near).astype(np.float32)
    out[rng.permutation(N)[: len(SPECIAL32)]] = SPECIAL32
    out[rng.permutation(N)[: len(SPECIAL32)]] = SPECIAL32
    return out


def floats64(seed: int) -> Array:
    rng = np.random.default_rng(seed)
    random = rng.integers(0, 1 << 64, N, dtype=np.uint64).view(np.float64)
    out = np.where(rng.random(N) < 0.3, random, rng.standard_normal(N) * 10.0 ** rng.integers(-3, 12, N))
    out[rng.permutation(N)[: len(SPECIAL32)]] = SPECIAL32
    return out


def same(got: Array, want: Array, what: str = "") -> None:
    """Equal bits, any NaN for a NaN."""
    nan = np.isnan(got) & np.isnan(want)
    unsigned = {2: np.uint16, 4: np.uint32, 8: np.uint64}[got.dtype.itemsize]
    wrong = ~nan & (np.ascontiguousarray(got).view(unsigned) != np.ascontiguousarray(want.astype(got.dtype)).view(unsigned))
    if wrong.any():
        at = tuple(np.argwhere(wrong)[0])
        raise AssertionError(f"{what}{at}: {got[at]!r}, expected {want[at]!r} ({wrong.sum()} wrong)")


def directed(exact: Fraction, dtype: type, mode: str, zero: float) -> float:
    """A fraction rounded to a format: an independent reference by exact arithmetic. `zero` is the result when it is 0."""
    if exact == 0:
        return zero
    mantissa, lowest, biggest = (
        (23, -149, np.float32(3.4028235e38)) if dtype is np.float32 else (52, -1074, np.float64(1.7976931348623157e308))
    )
    magnitude = abs(exact)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if Fraction(2) ** exponent > magnitude:
        exponent -= 1
    unit = Fraction(2) ** max(exponent - mantissa, lowest)
    down = magnitude / unit
    kept = down.numerator // down.denominator
    rest = down - kept
    up = {
        "rn": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and kept & 1),
        "rz": False,
        "ru": rest > 0 and exact > 0,
        "rd": rest > 0 and exact < 0,
    }[mode]
    value = (kept + bool(up)) * unit
    if value > Fraction(float(biggest)):
        to_infinity = mode == "rn" or (mode == "ru" and exact > 0) or (mode == "rd" and exact < 0)
        return math.copysign(math.inf if to_infinity else float(biggest), 1 if exact > 0 else -1)
    return math.copysign(float(value), 1 if exact > 0 else -1)


MODES = ("rn", "rz", "ru", "rd")


def reference(op: str, x: Any, y: Any, z: Any, dtype: type, mode: str) -> float:
    """x + y, x * y or x * y + z, rounded once; numpy decides what is not finite."""
    with np.errstate(all="ignore"):
        if op == "add":
            special = x + y
        elif op == "mul":
            special = x * y
        else:
            special = dtype(np.longdouble(x) * np.longdouble(y) + np.longdouble(z))
    if not all(np.isfinite(v) for v in (x, y, z)):
        return float(special)
    a, b, c = (Fraction(float(v)) for v in (x, y, z))
    exact = a + b if op == "add" else a * b if op == "mul" else a * b + c
    product = math.copysign(1, x) * math.copysign(1, y)
    if op == "mul":
        return directed(exact, dtype, mode, math.copysign(0.0, product))
    first, second = (math.copysign(1, x), math.copysign(1, y)) if op == "add" else (product, math.copysign(1, z))
    both_zero = (a == b == 0) if op == "add" else (a * b == c == 0)
    sign = first if both_zero and first == second else (-1.0 if mode == "rd" else 1.0)
    return directed(exact, dtype, mode, math.copysign(0.0, sign))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("kernel", "dtype"), [("rnd32", np.float32), ("rnd64", np.float64)])
def test_rounding(target: str, kernel: str, dtype: type) -> None:
    make = floats32 if dtype is np.float32 else floats64
    x, y, z = make(1), make(2), make(3)
    out = np.zeros((N, 20), dtype)
    run(module("arithmetic", target), kernel, N, [x, y, z, out, N])
    for column, (op, mode) in enumerate((op, mode) for op in ("add", "mul", "fma") for mode in MODES):
        want = np.array(
            [reference(op, a, b, c if op == "fma" else dtype(0), dtype, mode) for a, b, c in zip(x, y, z, strict=True)], dtype
        )
        if op == "fma":
            finite = np.isfinite(x) & np.isfinite(y) & np.isfinite(z)
            same(out[finite, column], want[finite], f"{kernel} {op}.{mode}")
        else:
            same(out[:, column], want, f"{kernel} {op}.{mode}")
    with np.errstate(all="ignore"):
        same(out[:, 12], x / y, "div")
        same(out[:, 13], np.sqrt(np.abs(x)), "sqrt")
        same(out[:, 14], dtype(1) / x, "rcp")
        same(out[:, 15], np.fmin(x, y) + dtype(0), "min") if dtype is None else None
        ordered = ~((x == 0) & (y == 0))
        same(out[ordered, 15], np.fmin(x, y)[ordered], "min")
        same(out[ordered, 16], np.fmax(x, y)[ordered], "max")
        if dtype is np.float32:
            same(out[:, 17], np.where(np.isnan(x), 0, np.clip(x, 0, 1)).astype(dtype) + dtype(0), "saturate")
        else:
            same(out[:, 17], np.floor(x), "floor")
    for column, op, mode in ((18, "div", "rz"), (19, "sqrt", "ru")):
        for i in range(N):
            a, b = float(x[i]), float(y[i])
            if op == "div" and (not np.isfinite(a) or not np.isfinite(b) or b == 0):
                continue
            if op == "sqrt" and (not np.isfinite(a) or a == 0):
                continue
            if op == "div":
                want = directed(
                    Fraction(a) / Fraction(b), dtype, mode, math.copysign(0.0, math.copysign(1, a) * math.copysign(1, b))
                )
            else:
                want = _sqrt_up(Fraction(abs(a)), dtype)
            assert float(out[i, column]) == want, (op, a, b)


def _sqrt_up(value: Fraction, dtype: type) -> float:
    root = dtype(math.sqrt(float(value)))
    candidates = [float(np.nextafter(root, dtype(0))), float(root), float(np.nextafter(root, dtype(np.inf)))]
    return next(c for c in candidates if Fraction(c) ** 2 >= value)


def ulps(got: Array, want: Array, limit: float, floor: float, what: str) -> None:
    """Within `limit` units in the last place of the result's format (or `floor` absolute); NaN and infinity alike."""
    dtype = got.dtype
    reference_value = want.astype(dtype)
    special = ~np.isfinite(reference_value)
    assert (np.isnan(got) == np.isnan(reference_value)).all(), what
    assert (got[special & ~np.isnan(got)] == reference_value[special & ~np.isnan(got)]).all(), what
    error = np.abs(got[~special].astype(np.float64) - want[~special].astype(np.float64))
    allowed = np.maximum(limit * np.abs(np.spacing(reference_value[~special])).astype(np.float64), floor)
    worst = int(np.argmax(error - allowed))
    assert (error <= allowed).all(), f"{what}: {got[~special][worst]!r}, expected {want[~special][worst]!r}"


@pytest.mark.parametrize("target", TARGETS)
def test_functions(target: str) -> None:
    rng = np.random.default_rng(4)
    x = (rng.standard_normal(N) * 20).astype(np.float32)
    x[:6] = [0.0, -0.0, 100.0, 1e5, 1e-30, -3.0]
    d = rng.standard_normal(N) * 20
    out, wide = np.zeros((N, 12), np.float32), np.zeros((N, 8), np.float64)
    run(module("arithmetic", target), "libm", N, [x, out, d, wide, N])
    y = x.astype(np.float64)
    with np.errstate(all="ignore"):
        ulps(out[:, 0], np.sin(y), 2, 0, "sin")
        ulps(out[:, 1], np.cos(y), 2, 0, "cos")
        ulps(out[:, 2], np.exp(y), 2, 1e-45, "exp")
        ulps(out[:, 3], np.log(np.abs(y)), 2, 0, "log")
        ulps(out[:, 4], np.tanh(y), 3, 0, "tanh")
        ulps(out[:, 5], np.abs(y) ** np.float64(np.float32(1.7)), 6, 0, "pow")
        ulps(out[:, 6], 1 / np.sqrt(np.abs(y)), 2, 0, "rsqrt")
        ulps(out[:, 7], np.cbrt(y), 2, 0, "cbrt")
        ulps(out[:, 8], np.arctan2(y, 2.0), 4, 0, "atan2")
        ulps(out[:, 9], np.array([math.erf(v) for v in y]), 4, 0, "erf")
        small = np.abs(x) < 3
        ulps(out[small, 10], np.sin(y[small]), 0, 2.0**-20, "__sinf")
        ulps(out[small, 11], np.exp(y[small]), 8, 0, "__expf")
        ulps(wide[:, 0], np.sin(d), 4, 0, "sin f64")
        ulps(wide[:, 1], np.exp(d), 4, 0, "exp f64")
        ulps(wide[:, 2], np.log(np.abs(d)), 4, 0, "log f64")
        ulps(wide[:, 3], np.abs(d) ** 0.3, 6, 0, "pow f64")
        ulps(wide[:, 4], np.arctan(d), 4, 0, "atan f64")
        ulps(wide[:, 5], 1 / np.sqrt(np.abs(d)), 4, 0, "rsqrt f64")
        ulps(wide[:, 6], np.array([math.gamma(v * 0.1) for v in d]), 60, 0, "tgamma")
        same(wide[:, 7], np.fmod(d, 1.7), "fmod")


def to_int(x: float, bits: int, signed: bool, rounding: Any, nan: int) -> int:
    if math.isnan(x):
        return nan
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if math.isinf(x):
        return high if x > 0 else low
    return int(min(max(rounding(x), low), high))


def to_f32(value: int | float, mode: str) -> np.float32:
    if isinstance(value, float) and not math.isfinite(value):
        return np.float32(value)
    zero = math.copysign(0.0, value) if isinstance(value, float) else 0.0
    return np.float32(directed(Fraction(value), np.float32, mode, zero))


@pytest.mark.parametrize("target", TARGETS)
def test_conversions(target: str) -> None:
    x, d = floats32(5), floats64(6)
    z = np.random.default_rng(7).integers(-(1 << 63), 1 << 63, N, dtype=np.int64) >> np.random.default_rng(8).integers(0, 63, N)
    z[:6] = [0, -1, (1 << 63) - 1, -(1 << 63), 1 << 32, (1 << 24) + 1]
    oi, ou, ol = np.zeros((N, 12), np.int32), np.zeros((N, 4), np.uint32), np.zeros((N, 4), np.int64)
    oul, of, od = np.zeros((N, 2), np.uint64), np.zeros((N, 16), np.float32), np.zeros((N, 8), np.float64)
    run(module("arithmetic", target), "cvt", N, [x, d, z, oi, ou, ol, oul, of, od, N])
    f32, f64 = [float(v) for v in x], [float(v) for v in d]
    near, zero, up, down = round, math.trunc, math.ceil, math.floor

    def check(got: Array, values: list[float], bits: int, signed: bool, rounding: Any, nan: int) -> None:
        want = [to_int(v, bits, signed, rounding, nan) for v in values]
        assert [int(g) for g in got] == want, [(v, int(g), w) for v, g, w in zip(values, got, want, strict=True) if int(g) != w][
            :3
        ]

    for column, rounding in enumerate((near, zero, up, down)):
        check(oi[:, column], f32, 32, True, rounding, 0)
        check(oi[:, 4 + column], f64, 32, True, rounding, -(1 << 31))
    assert [int(v) for v in oi[:, 9]] == [
        int(np.int16(v & 0xFFFF if v & 0x8000 == 0 else (v & 0xFFFF) - 65536)) for v in z.tolist()
    ]
    assert [int(v) for v in oi[:, 10]] == [((v >> 8 & 0xFF) ^ 0x80) - 0x80 for v in z.tolist()]
    check(ou[:, 0], f32, 32, False, near, 0)
    check(ou[:, 1], f32, 32, False, zero, 0)
    check(ou[:, 2], f64, 32, False, zero, 1 << 31)
    check(ou[:, 3], f64, 32, False, up, 1 << 31)
    check(ol[:, 0], f32, 64, True, near, -(1 << 63))
    check(ol[:, 1], f32, 64, True, zero, -(1 << 63))
    check(ol[:, 2], f64, 64, True, down, -(1 << 63))
    check(ol[:, 3], f64, 64, True, zero, -(1 << 63))
    check(oul[:, 0], f32, 64, False, zero, 1 << 63)
    check(oul[:, 1], f64, 64, False, zero, 1 << 63)
    signed = [((v & 0xFFFFFFFF) ^ 1 << 31) - (1 << 31) for v in z.tolist()]
    unsigned = [v & 0xFFFFFFFF for v in z.tolist()]
    huge = [v & (1 << 64) - 1 for v in z.tolist()]
    table = [
        (signed, "rn"),
        (signed, "rz"),
        (signed, "ru"),
        (signed, "rd"),
        (unsigned, "rn"),
        (unsigned, "rd"),
        (z.tolist(), "rn"),
        (z.tolist(), "rz"),
        (z.tolist(), "ru"),
        (huge, "rn"),
        (f64, "rn"),
        (f64, "rz"),
        (f64, "ru"),
        (f64, "rd"),
    ]
    for column, (values, mode) in enumerate(table):
        same(of[:, column], np.array([to_f32(v, mode) for v in values], np.float32), f"to f32 {column} ")
    with np.errstate(all="ignore"):
        same(of[:, 14], np.rint(x), "rint")
        same(of[:, 15], np.trunc(x), "trunc")
        same(od[:, 6], np.rint(d), "rint f64")
        same(od[:, 7], np.ceil(d), "ceil f64")
        same(od[:, 5], x.astype(np.float64), "widen")
    exact = [(signed, "rn"), (unsigned, "rn"), (z.tolist(), "rn"), (z.tolist(), "rz"), (huge, "ru")]
    for column, (values, mode) in enumerate(exact):
        same(od[:, column], np.array([directed(Fraction(v), np.float64, mode, 0.0) for v in values]), f"to f64 {column} ")


@pytest.mark.parametrize("target", TARGETS)
def test_small_integers(target: str) -> None:
    rng = np.random.default_rng(9)
    c, u = rng.integers(-128, 128, N, dtype=np.int8), rng.integers(0, 256, N, dtype=np.uint8)
    s = rng.integers(-32768, 32768, N, dtype=np.int16)
    out = np.zeros((N, 4), np.float32)
    run(module("arithmetic", target), "small", N, [c, u, s, out, N])
    assert (out == np.stack([c, u, s, s.view(np.uint16)], axis=1)).all()


def halves(seed: int, count: int = N) -> Array:
    rng = np.random.default_rng(seed)
    out = np.where(
        rng.random(count) < 0.5,
        rng.integers(0, 1 << 16, count, dtype=np.uint16).view(np.float16),
        rng.standard_normal(count).astype(np.float16),
    )
    return out.astype(np.float16)


def fma16(a: Array, b: Array, c: Array) -> Array:
    """Exact in a 64-bit significand, then rounded once."""
    with np.errstate(all="ignore"):
        return (a.astype(np.longdouble) * b.astype(np.longdouble) + c.astype(np.longdouble)).astype(np.float16)


@pytest.mark.parametrize("target", TARGETS)
def test_half(target: str) -> None:
    x, y, z = halves(10), halves(11), halves(12)
    out, wide, flags = np.zeros((N, 12), np.float16), np.zeros(N, np.float32), np.zeros((N, 4), np.int32)
    run(module("arithmetic", target), "half1", N, [x, y, z, out, wide, flags, N])
    with np.errstate(all="ignore"):
        same(out[:, 0], x + y, "add")
        same(out[:, 1], x * y, "mul")
        same(out[:, 2], fma16(x, y, z), "fma")
        same(out[:, 3], x - y, "sub")
        same(out[:, 4], (x.astype(np.float32) / y.astype(np.float32)).astype(np.float16), "div")
        ordered = ~((x == 0) & (y == 0))
        same(out[ordered, 5], np.fmin(x, y)[ordered], "min")
        same(out[ordered, 6], np.fmax(x, y)[ordered], "max")
        numbers = ~np.isnan(x)
        same(out[numbers, 7], -x[numbers], "neg")
        same(out[numbers, 8], np.abs(x[numbers]), "abs")
        exact = fma16(x, y, z)
        same(out[:, 9], np.where(np.isnan(exact), 0, np.clip(exact, 0, 1)).astype(np.float16) + np.float16(0), "fma.sat")
        same(out[:, 10], np.where(np.isnan(exact), exact, np.maximum(exact, 0)).astype(np.float16) + np.float16(0), "fma.relu")
        same(wide, x.astype(np.float32), "widen")
        assert (flags[:, 0] == (x < y)).all()
        assert (flags[:, 1] == ((x == y) | (((x != y) & ~np.isnan(x) & ~np.isnan(y)) << 1))).all()
    assert [int(v) for v in flags[:, 2]] == [to_int(float(v), 32, True, round, 0) for v in x]
    assert [int(v) for v in flags[:, 3]] == [to_int(abs(float(v)), 16, False, math.trunc, 0) for v in y]


@pytest.mark.parametrize("target", TARGETS)
def test_half_pairs(target: str) -> None:
    x, y = halves(13, 2 * N).reshape(N, 2), halves(14, 2 * N).reshape(N, 2)
    out = np.zeros((N, 6, 2), np.float16)
    run(module("arithmetic", target), "half2k", N, [x, y, out, N])
    with np.errstate(all="ignore"):
        same(out[:, 0], x + y, "add")
        same(out[:, 1], x * y[:, :1], "mul low")
        same(out[:, 2], fma16(x, np.repeat(y[:, 1:], 2, axis=1), y), "fma high")
        ordered = ~((x == 0) & (y == 0))
        same(out[:, 3][ordered], np.fmax(x, y)[ordered], "max")
        same(out[:, 4], (x > y).astype(np.float16), "gt")
        same(out[:, 5], x[:, ::-1], "swap")


def bf16(values: Array) -> Array:
    """Round binary64 numbers that are exact to bfloat16 bits."""
    single = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    return (((single + 0x7FFF + (single >> 16 & 1)) >> 16) & 0xFFFF).astype(np.uint16)


@pytest.mark.parametrize("target", TARGETS)
def test_bfloat(target: str) -> None:
    rng = np.random.default_rng(15)
    x, y = (bf16(rng.standard_normal(N) * 10.0 ** rng.integers(-5, 5, N)) for _ in range(2))
    out, wide = np.zeros((N, 6), np.uint16), np.zeros(N, np.float32)
    run(module("arithmetic", target), "bf", N, [x, y, out, wide, N])
    a, b = ((v.astype(np.uint32) << 16).view(np.float32).astype(np.float64) for v in (x, y))
    assert (wide == a).all()
    for column, exact in enumerate(
        (a + b, a * b, None, np.maximum(a, b), np.minimum(a, b), a.astype(np.float32) * np.float32(1.00390625))
    ):
        if exact is not None:
            assert (out[:, column] == bf16(np.asarray(exact))).all(), column
    want = [Fraction(p) * Fraction(q) + Fraction(p) for p, q in zip(a.tolist(), b.tolist(), strict=True)]
    got = (out[:, 2].astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    for value, exact in zip(got.tolist(), want, strict=True):
        bits = int(np.float32(value).view(np.uint32)) >> 16
        others = [(np.array([bits + k << 16], np.uint32).view(np.float32))[0] for k in (-1, 1)]
        assert all(abs(Fraction(value) - exact) <= abs(Fraction(float(o)) - exact) for o in others if np.isfinite(o))


def s32(v: int) -> int:
    return ((v & 0xFFFFFFFF) ^ 1 << 31) - (1 << 31)


def s64(v: int) -> int:
    return ((v & (1 << 64) - 1) ^ 1 << 63) - (1 << 63)


def byte(v: int, i: int, signed: bool = False) -> int:
    b = v >> 8 * i & 0xFF
    return (b ^ 0x80) - 0x80 if signed else b


def half(v: int, i: int, signed: bool = False) -> int:
    b = v >> 16 * i & 0xFFFF
    return (b ^ 0x8000) - 0x8000 if signed else b


def permute(x: int, y: int, selector: int) -> int:
    both = (x & 0xFFFFFFFF) | (y & 0xFFFFFFFF) << 32
    return sum(byte(both, selector >> 4 * i & 7) << 8 * i for i in range(4))


def integers(x: int, y: int) -> list[int]:
    ux, uy = x & 0xFFFFFFFF, y & 0xFFFFFFFF
    shift = uy & 31
    wide = uy << 32 | ux
    clamp = min(uy & 63, 32)
    x24, y24 = (((v & 0xFFFFFF) ^ 0x800000) - 0x800000 for v in (ux, uy))
    out = [
        x * y,
        (x * y) >> 32,
        (ux * uy) >> 32,
        x24 * y24,
        min(x, y),
        max(ux, uy),
        abs(x),
        32 - ux.bit_length(),
        (ux & -ux).bit_length(),
        ux.bit_count(),
        int(f"{ux:032b}"[::-1], 2),
        permute(x, y, 0x6135),
        (wide << shift) >> 32,
        wide >> shift,
        (wide << clamp) >> 32,
        wide >> clamp,
        x << shift,
        x >> shift,
        ux >> shift,
        sum(byte(ux, i, True) * byte(uy, i, True) for i in range(4)) + 7,
        sum(byte(ux, i) * byte(uy, i) for i in range(4)) + 9,
        sum(half(ux, i, True) * byte(uy, i, True) for i in range(2)) + 3,
        sum(half(ux, i) * byte(uy, 2 + i) for i in range(2)) + 3,
        abs(x - y) + 5,
        (x + y) >> 1,
        (x + y + 1) >> 1,
        sum((half(ux, i) + half(uy, i) & 0xFFFF) << 16 * i for i in range(2)),
        sum((max(half(ux, i, True), half(uy, i, True)) & 0xFFFF) << 16 * i for i in range(2)),
        sum(abs(byte(ux, i) - byte(uy, i)) << 8 * i for i in range(4)),
        sum((255 if byte(ux, i) > byte(uy, i) else 0) << 8 * i for i in range(4)),
        (ux & 0xFF00) | (uy & ~0xFF00),
        sum(abs(byte(ux, i) - byte(uy, i)) for i in range(4)),
    ]
    return [s32(v) for v in out]


EDGES = [0, 1, -1, 2, 0x7FFFFFFF, -0x80000000, 0xFF, 0x80, 0xFFFF, 0x8000, 31, 32, 33, 63]


@pytest.mark.parametrize("target", TARGETS)
def test_integers(target: str) -> None:
    rng = np.random.default_rng(16)
    x, y = (rng.integers(-(1 << 31), 1 << 31, N, dtype=np.int32) >> rng.integers(0, 31, N, dtype=np.int32) for _ in range(2))
    pairs = [(a, b) for a in EDGES for b in EDGES][:196]
    x[: len(pairs)], y[: len(pairs)] = ([s32(p[i]) for p in pairs] for i in range(2))
    out = np.zeros((N, 32), np.int32)
    run(module("arithmetic", target), "ints", N, [x, y, out, N])
    for i in range(N):
        want = integers(int(x[i]), int(y[i]))
        if int(x[i]) == -(1 << 31):
            want[6] = -(1 << 31)
        assert out[i].tolist() == want, (int(x[i]), int(y[i]), [k for k in range(32) if int(out[i, k]) != want[k]])


def integers64(x: int, y: int) -> list[int]:
    ux, uy = x & (1 << 64) - 1, y & (1 << 64) - 1
    divisor = y or 1
    quotient = abs(x) // abs(divisor) * (1 if (x < 0) == (divisor < 0) else -1)
    out = [
        x + y,
        x - y,
        x * y,
        (x * y) >> 64,
        (ux * uy) >> 64,
        x << (uy & 63),
        x >> (uy & 63),
        ux >> (uy & 63),
        min(x, y),
        max(ux, uy),
        64 - ux.bit_length(),
        (ux & -ux).bit_length(),
        ux.bit_count(),
        int(f"{ux:064b}"[::-1], 2),
        quotient,
        ux % (uy or 1),
        abs(x),
        int(x < y) | int(ux < uy) << 1 | int(x == y) << 2 | int(x >= 0) << 3,
    ]
    return [s64(v) for v in out]


@pytest.mark.parametrize("target", TARGETS)
def test_integers64(target: str) -> None:
    rng = np.random.default_rng(17)
    x, y = (rng.integers(-(1 << 63), 1 << 63, N, dtype=np.int64) >> rng.integers(0, 63, N) for _ in range(2))
    edges = [*EDGES, 1 << 32, (1 << 63) - 1, -(1 << 63), 64]
    pairs = [(a, b) for a in edges for b in edges][:200]
    x[: len(pairs)], y[: len(pairs)] = ([s64(p[i]) for p in pairs] for i in range(2))
    out = np.zeros((N, 18), np.int64)
    run(module("arithmetic", target), "ints64", N, [x, y, out, N])
    for i in range(N):
        want = integers64(int(x[i]), int(y[i]))
        assert out[i].tolist() == want, (int(x[i]), int(y[i]), [k for k in range(18) if int(out[i, k]) != want[k]])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_compiled_code_does_not_lean_on_the_last_bits_of_mufu(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Divisions and roots are rounded as before, functions within their documented errors, whatever MUFU's last bits are."""
    monkeypatch.setattr(f"{__name__}.run", partial(run, modes=Modes(perturb=seed)))
    for target in TARGETS:
        test_rounding(target, "rnd32", np.float32)
        test_rounding(target, "rnd64", np.float64)
        test_functions(target)
        test_integers(target)
        test_integers64(target)
        test_half(target)
