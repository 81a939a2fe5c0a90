"""Launches of floats.cu.

Additions, products, fused products, quotients and roots are exact: the references round exact fractions, or let numpy do it. The
bounds of the other functions are those of the CUDA C++ Programming Guide (Mathematical Functions), in units of the last place.
"""

from __future__ import annotations

import math
from fractions import Fraction
from math import isqrt
from typing import Any

import ml_dtypes
import mpmath
import numpy as np

from .case import Array, Case, Close, kernel, out

COUNT = 128
DIRECTIONS = "nzud"  # nearest even, to zero, up, down
FORMATS = {
    np.float32: (24, -149, 128),
    np.float64: (53, -1074, 1024),
    np.float16: (11, -24, 16),
    ml_dtypes.bfloat16: (8, -133, 128),
}


def rounded(exact: Fraction, direction: str, dtype: Any, zero: float = 0.0) -> float:
    """An exact number in a format; `zero` is what an exact zero becomes."""
    if exact == 0:
        return zero
    precision, lowest, top = FORMATS[dtype]
    sign, size = (-1 if exact < 0 else 1), abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    place = max(exponent - precision + 1, lowest)
    scaled = size / Fraction(2) ** place
    whole, rest = scaled.numerator // scaled.denominator, scaled - scaled.numerator // scaled.denominator
    away = rest > 0 and (direction == "u") == (sign > 0) and direction in "ud"
    if direction == "n":
        away = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1 == 1)
    value = (whole + away) * Fraction(2) ** place
    if value >= Fraction(2) ** top:
        finite = direction == "z" or (direction == "u" and sign < 0) or (direction == "d" and sign > 0)
        return sign * (float((2**precision - 1) * Fraction(2) ** (top - precision)) if finite else math.inf)
    return math.copysign(float(value), sign)


def numbers(rng: Any, dtype: Any, count: int = COUNT, special: bool = True) -> Array:
    """Numbers of many sizes, the extreme ones first."""
    info = np.finfo(dtype)
    span = min(int(info.maxexp), 120) // 2
    values = rng.standard_normal(count) * np.exp2(rng.integers(-span, span, count))
    if special:
        tiny = float(info.smallest_subnormal)
        extremes = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            float(info.max),
            -float(info.max),
            float(info.tiny),
            tiny,
            -3 * tiny,
            1 + float(info.eps),
        ]
        values[: len(extremes)] = extremes
    return rng.permutation(values).astype(dtype)


def total(x: float, y: float, direction: str, dtype: Any) -> float:
    zero = 0.0
    if x == 0 and y == 0 and math.copysign(1, x) == math.copysign(1, y):
        zero = x
    elif direction == "d":
        zero = -0.0
    return rounded(Fraction(x) + Fraction(y), direction, dtype, zero)


def product(x: float, y: float, direction: str, dtype: Any) -> float:
    sign = math.copysign(1, x) * math.copysign(1, y)
    value = rounded(Fraction(x) * Fraction(y), direction, dtype, math.copysign(0.0, sign))
    return value


def fused(x: float, y: float, z: float, direction: str, dtype: Any) -> float:
    sign = math.copysign(1, x) * math.copysign(1, y)
    zero = -0.0 if direction == "d" else 0.0
    if Fraction(x) * Fraction(y) == 0 and z == 0 and sign == math.copysign(1, z):
        zero = z
    return rounded(Fraction(x) * Fraction(y) + Fraction(z), direction, dtype, zero)


def root(x: float, dtype: Any) -> float:
    """The square root, rounded to nearest."""
    exact = Fraction(x)
    scale = 1 << 2400
    low = isqrt(exact.numerator * scale // exact.denominator)
    return rounded(Fraction(2 * low + (low * low * exact.denominator != exact.numerator * scale), 2 << 1200), "n", dtype)


def arithmetic(x: Array, y: Array, z: Array, dtype: Any, tail: Any) -> list[list[float]]:
    rows = []
    for a, b, c in zip(*(v.astype(np.float64).tolist() for v in (x, y, z)), strict=True):
        row = [f(a, b, d, dtype) for f in (total, product) for d in DIRECTIONS]
        rows.append(row + [fused(a, b, c, d, dtype) for d in DIRECTIONS] + tail(a, b, c))
    return rows


@kernel()
def f32_rounding(rng: Any) -> Case:
    x, y, z = (numbers(rng, np.float32) for _ in range(3))
    y[y == 0] = 3
    with np.errstate(over="ignore"):
        z[10:40] = -(x[10:40] * y[10:40])  # cancellation

    def tail(a: float, b: float, c: float) -> list[float]:
        sign = math.copysign(1, a) * math.copysign(1, b)
        quotient = rounded(Fraction(a) / Fraction(b), "n", np.float32, math.copysign(0.0, sign))
        return [quotient, root(abs(a), np.float32), rounded(1 / Fraction(b), "n", np.float32), total(a, -c, "n", np.float32)]

    z[~np.isfinite(z)] = 1
    return Case(2, COUNT // 2, [x, y, z, out((COUNT, 16), np.float32)], {3: np.array(arithmetic(x, y, z, np.float32, tail))})


@kernel()
def f64_rounding(rng: Any) -> Case:
    x, y, z = (numbers(rng, np.float64) for _ in range(3))
    y[y == 0] = 3
    with np.errstate(over="ignore"):
        z[10:40] = -(x[10:40] * y[10:40])
    z[~np.isfinite(z)] = 1

    def tail(a: float, b: float, c: float) -> list[float]:
        sign = math.copysign(1, a) * math.copysign(1, b)
        return [rounded(Fraction(a) / Fraction(b), "n", np.float64, math.copysign(0.0, sign)), root(abs(a), np.float64)]

    return Case(2, COUNT // 2, [x, y, z, out((COUNT, 14), np.float64)], {3: np.array(arithmetic(x, y, z, np.float64, tail))})


def by_mpmath(functions: list[Any], *columns: Array) -> Array:
    """Functions of the numbers of each row, as double precision."""
    with mpmath.workprec(200):
        rows = [[float(f(*map(mpmath.mpf, row))) for f in functions] for row in zip(*(c.tolist() for c in columns), strict=True)]
    return np.array(rows)


M: Any = mpmath


# What the kernels compute of both widths, in this order and in front of the rest.
FUNCTIONS = [
    lambda a, b: M.sin(a),
    lambda a, b: M.cos(a),
    lambda a, b: M.tan(b),
    lambda a, b: M.exp(b),
    lambda a, b: M.log(abs(a)),
    lambda a, b: abs(a) ** b,
    M.atan2,
    lambda a, b: M.asin(b / 16),
    lambda a, b: M.sinh(b),
    lambda a, b: M.tanh(b),
    lambda a, b: M.erf(b),
]


@kernel()
def f32_functions(rng: Any) -> Case:
    x = (rng.standard_normal(COUNT) * np.exp2(rng.integers(-8, 20, COUNT))).astype(np.float32)
    y = (rng.integers(-10 << 16, 10 << 16, COUNT) / 65536).astype(np.float32)  # the kernel's sums with it are exact
    x[:2], y[:2] = [1e-30, 1e30], [0.25, -1]
    functions = [
        *FUNCTIONS,
        lambda a, b: M.gamma(abs(b) + 0.5),
        lambda a, b: M.sign(a) * M.cbrt(abs(a)),
        M.hypot,
        lambda a, b: M.power(2, b),
        lambda a, b: M.log(abs(a), 2),
        lambda a, b: M.log1p(abs(b)),
        lambda a, b: M.expm1(b),
        lambda a, b: 1 / M.sqrt(abs(a)),
        lambda a, b: M.acosh(1 + abs(b)),
    ]
    # at most 4 for most of them, 5 for tgammaf, 8 for powf
    return Case(2, COUNT // 2, [x, y, out((COUNT, 20), np.float32)], {2: Close(by_mpmath(functions, x, y), ulp=8)})


@kernel()
def f64_functions(rng: Any) -> Case:
    x = rng.standard_normal(COUNT) * np.exp2(rng.integers(-8, 40, COUNT))
    y = rng.random(COUNT) * 20 - 10
    x[:2], y[:2] = [1e-200, 1e12], [0.25, -1]
    functions = [
        *FUNCTIONS,
        lambda a, b: M.loggamma(abs(b) + 0.5),
        lambda a, b: M.sign(a) * M.cbrt(abs(a)),
        M.hypot,
        lambda a, b: 1 / M.sqrt(abs(a)),
        lambda a, b: M.log10(abs(a)),
    ]
    # lgamma near its roots has no bound in units of the last place; its argument is rounded
    return Case(2, COUNT // 2, [x, y, out((COUNT, 16), np.float64)], {2: Close(by_mpmath(functions, x, y), ulp=4, atol=1e-15)})


@kernel()
def float_parts(rng: Any) -> Case:
    x, y = (numbers(rng, np.float32) for _ in range(2))
    x[:6] = [np.inf, -np.inf, np.nan, 2.5, -3.5, 0.5]
    y[y == 0] = 2
    d = (rng.standard_normal(COUNT) * np.exp2(rng.integers(-4, 60, COUNT))).astype(np.float64)
    with np.errstate(all="ignore"):
        mantissa, exponent = np.frexp(x)
        exponent[~np.isfinite(x)] = 0
        away = np.copysign(np.floor(np.abs(x).astype(np.float64) + 0.5), x).astype(np.float32)
        rest = [math.remainder(a, b) if math.isfinite(a) else math.nan for a, b in zip(x.tolist(), y.tolist(), strict=True)]
        columns = [
            mantissa,
            np.ldexp(y, np.arange(COUNT) - 64),
            np.nextafter(x, y),
            np.fmod(x, y),
            np.array(rest),
            np.floor(x),
            np.ceil(x),
            np.trunc(x),
            np.rint(x),
            away,
            np.copysign(x, y),
            np.where(np.isnan(x), x, np.where(x > y, x - y, 0)),
            np.fmin(x, y),
            np.fmax(x, y),
        ]
        flags = (
            np.isnan(x) + 2 * np.isinf(x) + 4 * np.signbit(x) + 8 * np.isfinite(y) + 16 * (x < y) + 32 * ~(x >= y) + 64 * (x != y)
        )
        scales = np.floor(np.log2(np.abs(y).astype(np.float64)))
        mixed = x.view(np.int32) ^ (d.view(np.int64) >> 32).astype(np.int32)
        doubles = [np.floor(d), np.rint(d), np.fmod(d, 3.7), np.fmin(d, y.astype(np.float64)), np.nextafter(d, 0.0), np.trunc(d)]
    args = [x, y, d, out((COUNT, 14), np.float32), out((COUNT, 6), np.float64), out((COUNT, 4), np.int32)]
    want = {3: np.stack(columns, 1), 4: np.stack(doubles, 1), 5: np.stack([exponent, flags, scales, mixed], 1)}
    return Case(2, COUNT // 2, args, want)


def each(dtype: Any, function: Any, *columns: Array) -> Array:
    """A function of exact fractions, rounded to nearest, for each row."""
    rows = zip(*(c.astype(np.float64).ravel().tolist() for c in columns), strict=True)
    return np.array([function(*row) for row in rows]).astype(dtype).reshape(columns[0].shape)


def pairs(rng: Any, dtype: Any) -> Array:
    return (rng.standard_normal((COUNT, 2)) * np.exp2(rng.integers(-6, 6, (COUNT, 2)))).astype(dtype)


@kernel()
def half_pairs(rng: Any) -> Case:
    h = np.float16
    x, y, z = (pairs(rng, h) for _ in range(3))
    x[0], y[0], x[1], y[1] = [6e-8, 65504], [-3e-7, 65504], [1, 2], [1, 2]
    sums = each(h, lambda a, b: total(a, b, "n", h), x, y)
    products = each(h, lambda a, b: product(a, b, "n", h), x, y)
    fmas = each(h, lambda a, b, c: fused(a, b, c, "n", h), x, y, z)
    mixed = np.stack([x[:, 0] + y[:, 1], x[:, 1] * z[:, 0]], 1)
    rows = [sums, each(h, lambda a, b: total(a, -b, "n", h), x, y), products, fmas, np.clip(fmas, 0, 1), np.minimum(x, y)]
    rows += [np.maximum(x, z), -np.abs(x), (x > y).astype(h), mixed, np.maximum(fmas, 0), np.clip(sums, 0, 1)]
    floats = np.stack(
        [x[:, 0].astype(np.float32) * y[:, 1].astype(np.float32), (np.floor(x[:, 0]) + np.rint(y[:, 1]).astype(np.float32))], 1
    )
    args = [x, y, z, out((COUNT, 12, 2), h), out((COUNT, 2), np.float32)]
    return Case(2, COUNT // 2, args, {3: np.stack(rows, 1), 4: floats})


@kernel(since=80)
def bf16_pairs(rng: Any) -> Case:
    b16 = ml_dtypes.bfloat16
    x, y, z = (pairs(rng, b16) for _ in range(3))
    x[1], y[1] = [1, 2], [1, 2]
    rows = [
        each(b16, lambda a, b: total(a, b, "n", b16), x, y),
        each(b16, lambda a, b: total(a, -b, "n", b16), x, y),
        each(b16, lambda a, b: product(a, b, "n", b16), x, y),
        each(b16, lambda a, b, c: fused(a, b, c, "n", b16), x, y, z),
        np.minimum(x, y),
        np.maximum(x, z),
        -np.abs(x),
        (x <= y).astype(b16),
    ]
    return Case(2, COUNT // 2, [x, y, z, out((COUNT, 8, 2), np.uint16)], {3: np.stack(rows, 1).view(np.uint16)})


@kernel()
def half_functions(rng: Any) -> Case:
    x = (rng.standard_normal(COUNT) * 4).astype(np.float16)
    x[x == 0] = 1
    w = x.astype(np.float64)
    y = x.astype(np.float32).astype(ml_dtypes.bfloat16).astype(np.float64)
    a = np.abs(w)
    rows = [np.exp(w), np.log(a), np.sqrt(a), 1 / w, np.sin(w), np.cos(w), 1 / np.sqrt(a), np.exp2(w)]
    brain = [np.exp(y), np.sqrt(np.abs(y)), 1 / y, y / 3]
    # the header's functions go through single precision; MUFU.SIN and MUFU.COS are 2^-20.9 off in absolute terms
    want = {1: Close(np.stack(rows, 1), ulp=2, atol=2e-6), 2: Close(np.stack(brain, 1), ulp=1)}
    return Case(2, COUNT // 2, [x, out((COUNT, 8), np.float16), out((COUNT, 4), ml_dtypes.bfloat16)], want)


@kernel()
def fast_functions(rng: Any) -> Case:
    x = ((rng.random(COUNT) - 0.5) * 6).astype(np.float32)
    w = x.astype(np.float64)
    a = np.abs(w)
    rows = [np.sin(w), np.cos(w), np.exp(w), np.log(a), a**0.75, w / 3.25, np.clip(w, 0, 1), 1 / np.sqrt(a)]
    # 2^-21.19 absolute for sine, cosine and logarithm; 2 + |x| units for __expf, more for __powf
    return Case(2, COUNT // 2, [x, out((COUNT, 8), np.float32)], {1: Close(np.stack(rows, 1), ulp=6, atol=2.0**-21)})


@kernel()
def mandelbrot(rng: Any) -> Case:
    width, height, limit = 32, 16, 25
    f = np.float32
    left, top, step = f(-2.2), f(-1.1), f(0.1)
    x, y = (np.indices((height, width))[::-1]).astype(np.float32)

    def fma(a: Array, b: Array, c: Array) -> Array:  # exact in double precision but for the last rounding: products have 48 bits
        return np.array([fused(float(p), float(q), float(r), "n", np.float32) for p, q, r in zip(a, b, c, strict=True)], f)

    return Case(
        (2, 4),
        (16, 4),
        [out((height, width), np.int32), width, left, top, step, limit],
        {0: _escape(x, y, left, top, step, limit, fma)},
    )


def _escape(x: Array, y: Array, left: Any, top: Any, step: Any, limit: int, fma: Any) -> Array:
    """Iterations until a point leaves the circle, with the fused operations of the source."""
    shape = x.shape
    cr = fma(x.ravel(), np.full(x.size, step), np.full(x.size, left))
    ci = fma(y.ravel(), np.full(x.size, step), np.full(x.size, top))
    zr, zi, n = np.zeros_like(cr), np.zeros_like(cr), np.zeros(cr.size, int)
    live = np.arange(cr.size)
    for _ in range(limit):
        r, i = zr[live], zi[live]
        live = live[fma(r, r, i * i) <= 4]
        r, i = zr[live], zi[live]
        t = fma(r, r, -(i * i)) + cr[live]
        zi[live] = fma(r + r, i, ci[live])
        zr[live] = t
        n[live] += 1
    return n.reshape(shape)


@kernel()
def n_body(rng: Any) -> Case:
    n = 128
    body = rng.standard_normal((n, 4)).astype(np.float32)
    p, w = body[:, :3].astype(np.float64), body[:, 3].astype(np.float64)
    d = p[None] - p[:, None]
    force = (d * (w / ((d**2).sum(-1) + 0.01) ** 1.5)[..., None]).sum(1)
    # sums of 128 rounded terms that cancel
    return Case(2, 64, [body, out((n, 4), np.float32), n], {1: Close(np.column_stack([force, w]), rtol=2e-5, atol=1e-3)})


@kernel()
def compensated(rng: Any) -> Case:
    n, threads = 40, 32
    x = (rng.standard_normal((threads, n)) * np.exp2(rng.integers(-10, 10, (threads, n)))).astype(np.float32)
    d = rng.standard_normal((threads, 2))
    sums = []
    for row in x:
        s = c = np.float32(0)
        for v in row:
            y = np.float32(v - c)
            t = np.float32(s + y)
            c = np.float32(np.float32(t - s) - y)
            s = t
        sums.append(s)
    low = [float(Fraction(a) * Fraction(b) - Fraction(a * b)) for a, b in d.tolist()]
    args = [x, out(threads, np.float32), out((threads, 2), np.float64), d, n]
    return Case(1, threads, args, {1: np.array(sums), 2: np.column_stack([d[:, 0] * d[:, 1], low])})


@kernel()
def quaternions(rng: Any) -> Case:
    q = rng.standard_normal((64, 4))
    q /= np.linalg.norm(q, axis=1)[:, None]
    a, angle = q[:, 1:] / np.linalg.norm(q[:, 1:], axis=1)[:, None], np.arccos(q[:, 0]) * 7
    want = np.column_stack([np.cos(angle), a * np.sin(angle)[:, None]])
    return Case(2, 32, [q, out((64, 4), np.float64), 7], {1: Close(want, atol=1e-13)})  # a few roundings of each of 7 products
