"""Launches of conversions.cu; all results are exact. Whole numbers saturate; a NaN becomes what the PTX manual says of cvt."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

from .case import Array, Case, kernel, longs, out, s32
from .floats import numbers, rounded
from .integer import ints, signed

COUNT = 128


def whole(value: float, direction: str, bits: int, is_signed: bool, nan: int = 0) -> int:
    """A number as an integer of some width, saturated."""
    if math.isnan(value):
        return nan
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)
    if math.isinf(value):
        return high if value > 0 else low
    function = {"n": round, "z": math.trunc, "u": math.ceil, "d": math.floor}[direction]
    return min(max(function(Fraction(value)), low), high)


def reals(rng: Any, dtype: Any, span: int) -> Array:
    x = (rng.standard_normal(COUNT) * np.exp2(rng.integers(-3, span, COUNT))).astype(dtype)
    x[:16] = [0.5, 1.5, 2.5, -0.5, -1.5, -0.0, 127.5, -128.5, 255.5, 65535.5, -32768.5, 2**31, -(2**31) - 1, np.inf, -np.inf, 3e9]
    return x


@kernel()
def f32_to_int(rng: Any) -> Case:
    x = reals(rng, np.float32, 70)
    small, large = [], []
    for v in x.tolist():
        row = [whole(v, d, 32, s) for s in (True, False) for d in "nzud"]
        small.append([*row, whole(v, "n", 16, True), whole(v, "z", 16, False), whole(v, "n", 8, True), whole(v, "z", 8, False)])
        large.append([whole(v, "n", 64, True), whole(v, "d", 64, True), whole(v, "z", 64, False), whole(v, "u", 64, False)])
    args = [x, out((COUNT, 12), np.int32), out((COUNT, 4), np.int64)]
    return Case(2, COUNT // 2, args, {1: s32(small), 2: longs(large).view(np.int64)})


@kernel()
def f64_to_int(rng: Any) -> Case:
    x = reals(rng, np.float64, 70)
    small, large = [], []
    for v in x.tolist():
        small.append([*(whole(v, d, 32, True) for d in "nzud"), whole(v, "z", 32, False), whole(v, "u", 32, False)])
        large.append([whole(v, "n", 64, True), whole(v, "z", 64, True), whole(v, "d", 64, False), whole(v, "u", 64, False)])
    args = [x, out((COUNT, 6), np.int32), out((COUNT, 4), np.int64)]
    return Case(2, COUNT // 2, args, {1: s32(small), 2: longs(large).view(np.int64)})


@kernel()
def int_to_float(rng: Any) -> Case:
    x = rng.integers(-(1 << 63), (1 << 63) - 1, COUNT) >> rng.integers(0, 63, COUNT)
    x[:6] = [0, -1, (1 << 63) - 1, -(1 << 63), 0x1000001, 65520]

    def real(value: int, direction: str, dtype: Any) -> float:
        return rounded(Fraction(value), direction, dtype)

    f, d, h = np.float32, np.float64, np.float16
    singles, doubles, halves = [], [], []
    for v in x.tolist():
        s, u, wide = signed(v, 32), v & 0xFFFFFFFF, v & (1 << 64) - 1
        row = [real(s, k, f) for k in "nzud"] + [real(u, "n", f), real(u, "d", f), real(v, "n", f), real(v, "z", f)]
        row += [real(wide, "n", f), real(wide, "u", f)]
        singles.append([*row, signed(s, 16), u & 255, signed(s >> 8, 8), u >> 16])
        doubles.append([s, u, real(v, "n", d), real(v, "d", d), real(wide, "n", d), real(wide, "z", d)])
        halves.append([real(s, "n", h), real(wide, "z", h), real(signed(s, 16), "n", h), real(u, "d", h)])
    args = [x, out((COUNT, 14), f), out((COUNT, 6), d), out((COUNT, 4), h)]
    return Case(2, COUNT // 2, args, {1: np.array(singles), 2: np.array(doubles), 3: np.array(halves)})


@kernel()
def float_to_float(rng: Any) -> Case:
    f, h, b = np.float32, np.float16, ml_dtypes.bfloat16
    x = (rng.standard_normal(COUNT) * np.exp2(rng.integers(-30, 20, COUNT))).astype(f)
    y = numbers(rng, np.float64)
    x[:8] = [0, 65519, 65520, -65536, 6e-8, 2.9e-8, 3.3895e38, 1 + 2**-11]

    def all_of(values: Array, dtype: Any, directions: str) -> list[list[float]]:
        return [[rounded(Fraction(v), d, dtype, v) for d in directions] for v in values.tolist()]

    halves = np.array([p + q for p, q in zip(all_of(x, h, "nzud"), all_of(y, h, "n"), strict=True)]).astype(h)
    brains = np.array([p + q for p, q in zip(all_of(x, b, "nzu"), all_of(y, b, "n"), strict=True)]).astype(b)
    singles = np.column_stack([np.array(all_of(y, f, "nzud")), halves[:, 0].astype(f), brains[:, 0].astype(f)])
    args = [x, y, out((COUNT, 6), f), out(COUNT, np.float64), out((COUNT, 5), h), out((COUNT, 4), b)]
    return Case(2, COUNT // 2, args, {2: singles, 3: x.astype(np.float64), 4: halves, 5: brains})


@kernel()
def half_to_int(rng: Any) -> Case:
    x = (rng.standard_normal(COUNT) * np.exp2(rng.integers(-3, 14, COUNT))).astype(np.float16)
    x[:8] = [0.5, -0.5, 1.5, 65504, -65504, 127.5, -128.75, 300]
    small, large = [], []
    for v, code in zip(x.tolist(), x.view(np.int16).tolist(), strict=True):
        row = [whole(v, "n", 32, True), whole(v, "d", 32, True), whole(v, "z", 32, False), whole(v, "u", 32, False)]
        small.append([*row, whole(v, "n", 16, True), whole(v, "z", 16, False), whole(v, "z", 8, True), code])
        large.append([whole(v, "n", 64, True), whole(v, "z", 64, False)])
    args = [x, out((COUNT, 8), np.int32), out((COUNT, 2), np.int64)]
    return Case(2, COUNT // 2, args, {1: s32(small), 2: longs(large).view(np.int64)})


@kernel()
def fp8_codes(rng: Any) -> Case:
    x = (rng.standard_normal((COUNT, 2)) * np.exp2(rng.integers(-12, 10, (COUNT, 2)))).astype(np.float32)
    x[0], x[1], x[2] = [1e9, -1e9], [0.0, -0.0], [448, 57344]
    codes, values = [], []
    for dtype, top in ((ml_dtypes.float8_e4m3fn, 448), (ml_dtypes.float8_e5m2, 57344)):
        eights = np.clip(x, -top, top).astype(dtype)
        codes.append(eights.view(np.uint8).copy().view(np.uint16).ravel())
        values.append(eights.astype(np.float16))
    args = [x, out((COUNT, 2), np.uint16), out((COUNT, 2, 2), np.float16)]
    return Case(2, COUNT // 2, args, {1: np.stack(codes, 1), 2: np.stack(values, 1)})


@kernel()
def integers_narrowed(rng: Any) -> Case:
    x, y = ints(rng), ints(rng)

    def fit(value: int, bits: int, is_signed: bool) -> int:
        low = -(1 << (bits - 1)) if is_signed else 0
        return min(max(value, low), low + (1 << bits) - 1)

    want = []
    for i, (a, b) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        halves = (fit(a, 16, True) & 0xFFFF) << 16 | fit(b, 16, True) & 0xFFFF
        bytes_ = (i & 0xFFFF) << 16 | fit(a, 8, False) << 8 | fit(b, 8, False)
        wide = min(max(a * b, -(1 << 31)), (1 << 31) - 1)
        want.append([fit(a, 16, True), fit(a, 16, False), fit(a, 8, True), fit(b, 8, False), max(b, 0), halves, bytes_, wide])
    return Case(2, COUNT // 2, [x, y, out((COUNT, 8), np.int32)], {2: s32(want)})
