"""What the PTX instructions of the random programs compute: a reference written from the PTX ISA manual, in Python.

Integer and predicate values are unsigned Python ints of the register's width, floating-point values are Python
floats (f32 values are exactly representable).  Nothing here knows the compiler or the simulator.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

WIDTH = {"h": 16, "r": 32, "d": 64}
TYPE = {"h": ".b16", "r": ".b32", "d": ".b64", "f": ".f32", "g": ".f64", "p": ".pred"}


class Op(NamedTuple):
    """An instruction: mnemonic, register class of the result, classes of the sources, its function, first target that has it.

    Source class "i" is a 32-bit immediate; R and D are registers whose low bit is set first (divisors), B words
    of which the low byte is taken first (positions in words of 64 bits).
    """

    mnemonic: str
    result: str
    sources: str
    function: Callable[..., Any]
    since: int = 0


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def to_f32(x: float) -> float:
    """The nearest f32 (ties to even)."""
    with np.errstate(over="ignore", under="ignore"):
        return float(np.float32(x))


def round_fraction(x: Fraction, precision: int, lowest: int) -> float:
    """The nearest number of `precision` bits whose last bit is worth at least 2**lowest; ties to even."""
    if x == 0:
        return 0.0
    magnitude = abs(x)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    unit = max(exponent - precision + 1, lowest)
    scaled = round(magnitude / Fraction(2) ** unit)
    largest = 128 if precision == 24 else 1024  # results below 2 to this power are finite
    result = math.inf if scaled >= 1 << max(largest - unit, 0) else math.ldexp(scaled, unit)
    return result if x > 0 else -result


def fma(a: float, b: float, c: float, precision: int, lowest: int) -> float:
    """a * b + c rounded once."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c if not (a == 0 or b == 0) else math.nan
    if not math.isfinite(c):
        return c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        # Both parts zero with one sign keep the sign; an exact cancellation gives +0.
        product = math.copysign(1.0, a) * math.copysign(1.0, b)
        both_negative = product < 0 and math.copysign(1.0, c) < 0 and (a == 0 or b == 0)
        return -0.0 if both_negative else 0.0
    return round_fraction(exact, precision, lowest)


def fma32(a: float, b: float, c: float) -> float:
    return fma(a, b, c, 24, -149)


def fma64(a: float, b: float, c: float) -> float:
    return fma(a, b, c, 53, -1074)


def flush(x: float) -> float:
    """Subnormal f32 numbers become zero, as .ftz says."""
    return math.copysign(0.0, x) if 0 < abs(x) < 2.0**-126 else x


def minimum(a: float, b: float) -> float:
    """A NaN gives way to a number, and -0 is below +0."""
    if math.isnan(a) or math.isnan(b):
        return b if math.isnan(a) else a
    if a == b == 0:
        return -0.0 if math.copysign(1, a) < 0 or math.copysign(1, b) < 0 else 0.0
    return min(a, b)


def maximum(a: float, b: float) -> float:
    return -minimum(-a, -b) if not (math.isnan(a) or math.isnan(b)) else minimum(a, b)


def to_int(x: float, bits: int, is_signed: bool, rounding: Callable[[float], int], nan: int = 0) -> int:
    """cvt to an integer: clamps; NaN becomes 0 when the source is f32, the top bit alone when it is f64."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
    if math.isnan(x):
        return nan
    value = (high if x > 0 else low) if math.isinf(x) else min(max(rounding(x), low), high)
    return value & (1 << bits) - 1


def whole(x: float, rounding: Callable[[float], int]) -> float:
    """A float rounded to a whole number; the sign of zero stays."""
    return x if not math.isfinite(x) else math.copysign(float(rounding(x)), x)


def divide(a: int, b: int, bits: int) -> tuple[int, int]:
    """Quotient towards zero and remainder of signed numbers given as unsigned words."""
    x, y = signed(a, bits), signed(b, bits)
    q = abs(x) // abs(y)
    q = -q if (x < 0) != (y < 0) else q
    mask = (1 << bits) - 1
    return q & mask, (x - q * y) & mask


def bfe(a: int, pos: int, length: int, bits: int, is_signed: bool) -> int:
    pos, length = pos & 255, length & 255
    sign = a >> min(pos + length - 1, bits - 1) & 1 if is_signed and length else 0
    return sum((a >> (pos + k) & 1 if k < length and pos + k < bits else sign) << k for k in range(bits))


def bfi(a: int, b: int, pos: int, length: int, bits: int) -> int:
    pos, length = pos & 255, length & 255
    field = (((1 << length) - 1) << pos) & ((1 << bits) - 1)
    return b & ~field | a << pos & field


def bfind(a: int, bits: int, is_signed: bool) -> int:
    if is_signed and a >> (bits - 1):
        a = ~a & (1 << bits) - 1
    return (a.bit_length() - 1) & 0xFFFFFFFF


def prmt(a: int, b: int, selector: int) -> int:
    source, result = a | b << 32, 0
    for k in range(4):
        nibble = selector >> 4 * k & 15
        byte = source >> 8 * (nibble & 7) & 255
        result |= (byte if nibble < 8 else 255 * (byte >> 7)) << 8 * k
    return result


def lop3(a: int, b: int, c: int, lut: int) -> int:
    return sum((lut >> (4 * (a >> k & 1) + 2 * (b >> k & 1) + (c >> k & 1)) & 1) << k for k in range(32))


def funnel(left: bool, clamp: bool) -> Callable[[int, int, int], int]:
    def shift(a: int, b: int, n: int) -> int:
        n = min(n, 32) if clamp else n & 31
        return (b << 32 | a) << n >> 32 & 0xFFFFFFFF if left else (b << 32 | a) >> n & 0xFFFFFFFF

    return shift


COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def compare_float(name: str) -> Callable[[float, float], bool]:
    """Ordered comparisons are false with a NaN, those that end in u are true."""

    def test(a: float, b: float) -> bool:
        if math.isnan(a) or math.isnan(b):
            return len(name) == 3
        return COMPARE[name[:2]](a, b)

    return test


COMBINE: dict[str, Callable[[bool, bool], bool]] = {
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "xor": lambda a, b: a != b,
}


def integer_ops(c: str) -> list[Op]:
    """What exists for every integer width of two's-complement registers."""
    n = WIDTH[c]
    m = (1 << n) - 1

    def s(v: int) -> int:
        return signed(v, n)

    return [
        Op(f"add.s{n}", c, c + c, lambda a, b: a + b & m),
        Op(f"sub.s{n}", c, c + c, lambda a, b: a - b & m),
        Op(f"mul.lo.s{n}", c, c + c, lambda a, b: a * b & m),
        Op(f"mad.lo.s{n}", c, c * 3, lambda a, b, d: a * b + d & m),
        Op(f"and.b{n}", c, c + c, lambda a, b: a & b),
        Op(f"or.b{n}", c, c + c, lambda a, b: a | b),
        Op(f"xor.b{n}", c, c + c, lambda a, b: a ^ b),
        Op(f"not.b{n}", c, c, lambda a: a ^ m),
        Op(f"neg.s{n}", c, c, lambda a: -a & m),
        Op(f"min.s{n}", c, c + c, lambda a, b: min(s(a), s(b)) & m),
        Op(f"max.s{n}", c, c + c, lambda a, b: max(s(a), s(b)) & m),
        Op(f"min.u{n}", c, c + c, min),
        Op(f"max.u{n}", c, c + c, max),
        Op(f"shl.b{n}", c, c + "r", lambda a, b: a << min(b, n) & m),
        Op(f"shr.u{n}", c, c + "r", lambda a, b: a >> min(b, n)),
        Op(f"shr.s{n}", c, c + "r", lambda a, b: s(a) >> min(b, n - 1) & m),
        Op(f"selp.b{n}", c, c + c + "p", lambda a, b, p: a if p else b),
    ]


def wide_ops(c: str) -> list[Op]:
    """What exists for 32 and 64 bits only."""
    n = WIDTH[c]
    m = (1 << n) - 1

    def s(v: int) -> int:
        return signed(v, n)

    return [
        Op(f"abs.s{n}", c, c, lambda a: abs(s(a)) & m),
        Op(f"mul.hi.s{n}", c, c + c, lambda a, b: s(a) * s(b) >> n & m),
        Op(f"mul.hi.u{n}", c, c + c, lambda a, b: a * b >> n),
        Op(f"popc.b{n}", "r", c, lambda a: a.bit_count()),
        Op(f"clz.b{n}", "r", c, lambda a: n - a.bit_length()),
        Op(f"brev.b{n}", c, c, lambda a: int(f"{a:0{n}b}"[::-1], 2)),
        Op(f"bfind.u{n}", "r", c, lambda a: bfind(a, n, False)),
        Op(f"bfind.s{n}", "r", c, lambda a: bfind(a, n, True)),
        Op(f"div.u{n}", c, c + c.upper(), lambda a, b: a // b),
        Op(f"rem.u{n}", c, c + c.upper(), lambda a, b: a % b),
        Op(f"div.s{n}", c, c + c.upper(), lambda a, b: divide(a, b, n)[0]),
        Op(f"rem.s{n}", c, c + c.upper(), lambda a, b: divide(a, b, n)[1]),
    ]


def word_ops() -> list[Op]:
    """Instructions of 32-bit registers and conversions between the integer widths."""
    m, m64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF

    def s(v: int) -> int:
        return signed(v, 32)

    ops = [
        Op("mad.hi.u32", "r", "rrr", lambda a, b, c: (a * b >> 32) + c & m),
        Op("sad.s32", "r", "rrr", lambda a, b, c: abs(s(a) - s(b)) + c & m),
        Op("bfe.u32", "r", "rrr", lambda a, p, n: bfe(a, p, n, 32, False)),
        Op("bfe.s32", "r", "rrr", lambda a, p, n: bfe(a, p, n, 32, True)),
        Op("bfi.b32", "r", "rrrr", lambda a, b, p, n: bfi(a, b, p, n, 32)),
        Op("bfind.shiftamt.u32", "r", "r", lambda a: 31 - (a.bit_length() - 1) if a else m),
        Op("prmt.b32", "r", "rrr", prmt),
        Op("lop3.b32", "r", "rrrL", lop3),
        Op("cnot.b32", "r", "r", lambda a: int(a == 0)),
        Op("mul.wide.s32", "d", "rr", lambda a, b: s(a) * s(b) & m64),
        Op("mul.wide.u32", "d", "rr", lambda a, b: a * b),
        Op("mad.wide.s32", "d", "rrd", lambda a, b, c: s(a) * s(b) + c & m64),
        Op("mad.wide.u32", "d", "rrd", lambda a, b, c: a * b + c & m64),
        Op("mul.wide.u16", "r", "hh", lambda a, b: a * b),
        Op("mul.wide.s16", "r", "hh", lambda a, b: signed(a, 16) * signed(b, 16) & m),
        Op("cvt.u64.u32", "d", "r", lambda a: a),
        Op("cvt.s64.s32", "d", "r", lambda a: s(a) & m64),
        Op("cvt.u32.u64", "r", "d", lambda a: a & m),
        Op("cvt.u16.u32", "h", "r", lambda a: a & 0xFFFF),
        Op("cvt.u32.u16", "r", "h", lambda a: a),
        Op("cvt.s32.s16", "r", "h", lambda a: signed(a, 16) & m),
        Op("cvt.s32.s8", "r", "r", lambda a: signed(a & 255, 8) & m),
        Op("cvt.u32.u8", "r", "r", lambda a: a & 255),
        Op("mov.b32", "r", "r", lambda a: a),
        Op("mov.b64", "d", "d", lambda a: a),
        Op("add.s32", "r", "ri", lambda a, b: a + b & m),
        Op("and.b32", "r", "ri", lambda a, b: a & b),
        Op("mul.lo.s32", "r", "ri", lambda a, b: a * b & m),
    ]
    for left in (True, False):
        for clamp in (True, False):
            name = f"shf.{'l' if left else 'r'}.{'clamp' if clamp else 'wrap'}.b32"
            ops.append(Op(name, "r", "rrr", funnel(left, clamp)))
    return ops


def float_ops() -> list[Op]:
    """f32 and f64; every rounding is written out, so that no contraction is allowed."""
    down, up, nearest, cut = math.floor, math.ceil, round, math.trunc
    ops = [
        Op("add.rn.f32", "f", "ff", lambda a, b: to_f32(a + b)),
        Op("sub.rn.f32", "f", "ff", lambda a, b: to_f32(a - b)),
        Op("mul.rn.f32", "f", "ff", lambda a, b: to_f32(a * b)),
        Op("fma.rn.f32", "f", "fff", fma32),
        Op("add.rn.ftz.f32", "f", "ff", lambda a, b: flush(to_f32(flush(a) + flush(b)))),
        Op("min.f32", "f", "ff", minimum),
        Op("max.f32", "f", "ff", maximum),
        Op("neg.f32", "f", "f", lambda a: -a),
        Op("abs.f32", "f", "f", abs),
        Op("cvt.rn.f32.s32", "f", "r", lambda a: to_f32(signed(a, 32))),
        Op("cvt.rn.f32.u32", "f", "r", to_f32),
        Op("cvt.rzi.s32.f32", "r", "f", lambda a: to_int(a, 32, True, cut)),
        Op("cvt.rni.u32.f32", "r", "f", lambda a: to_int(a, 32, False, nearest)),
        Op("cvt.rmi.f32.f32", "f", "f", lambda a: whole(a, down)),
        Op("cvt.rpi.f32.f32", "f", "f", lambda a: whole(a, up)),
        Op("cvt.rni.f32.f32", "f", "f", lambda a: whole(a, nearest)),
        Op("selp.f32", "f", "ffp", lambda a, b, p: a if p else b),
        Op("add.rn.f64", "g", "gg", lambda a, b: a + b),
        Op("sub.rn.f64", "g", "gg", lambda a, b: a - b),
        Op("mul.rn.f64", "g", "gg", lambda a, b: a * b),
        Op("fma.rn.f64", "g", "ggg", fma64),
        Op("neg.f64", "g", "g", lambda a: -a),
        Op("abs.f64", "g", "g", abs),
        Op("cvt.f64.f32", "g", "f", lambda a: a),
        Op("cvt.rn.f32.f64", "f", "g", to_f32),
        Op("cvt.rn.f64.s32", "g", "r", lambda a: float(signed(a, 32))),
        Op("cvt.rn.f64.u32", "g", "r", float),
        Op("cvt.rzi.s32.f64", "r", "g", lambda a: to_int(a, 32, True, cut, 1 << 31)),
        Op("selp.f64", "g", "ggp", lambda a, b, p: a if p else b),
    ]
    return ops


def predicate_ops() -> list[Op]:
    """Comparisons and predicate logic."""
    ops = [
        Op("and.pred", "p", "pp", lambda a, b: a & b),
        Op("or.pred", "p", "pp", lambda a, b: a | b),
        Op("xor.pred", "p", "pp", lambda a, b: a ^ b),
        Op("not.pred", "p", "p", lambda a: a ^ 1),
    ]
    for name, test in COMPARE.items():
        for c in ("r", "d", "h"):
            n = WIDTH[c]
            ops.append(Op(f"setp.{name}.s{n}", "p", c + c, lambda a, b, t=test, n=n: int(t(signed(a, n), signed(b, n)))))
            ops.append(Op(f"setp.{name}.u{n}", "p", c + c, lambda a, b, t=test: int(t(a, b))))
        for how, join in COMBINE.items():
            ops.append(
                Op(
                    f"setp.{name}.{how}.s32",
                    "p",
                    "rrp",
                    lambda a, b, p, t=test, j=join: int(j(t(signed(a, 32), signed(b, 32)), bool(p))),
                )
            )
        for suffix in ("", "u"):
            test_f = compare_float(name + suffix)
            ops.append(Op(f"setp.{name}{suffix}.f32", "p", "ff", lambda a, b, t=test_f: int(t(a, b))))
            ops.append(Op(f"setp.{name}{suffix}.f64", "p", "gg", lambda a, b, t=test_f: int(t(a, b))))
    return ops


OPS: list[Op] = [
    *integer_ops("h"),
    *integer_ops("r"),
    *integer_ops("d"),
    *wide_ops("r"),
    *wide_ops("d"),
    *word_ops(),
    *float_ops(),
    *predicate_ops(),
]
