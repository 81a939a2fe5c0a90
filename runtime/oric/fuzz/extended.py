"""More instructions for :class:`oric.fuzz.wide.WideProgram`, with what they compute: numbers of 16 bits alone and packed,
directed roundings, division and roots, saturation, dot products, permutations by mode, fields of 64 bits.

Numbers of 16 bits are words here, as registers of that width have no type. A NaN that they come to is the canonical one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final, NamedTuple

from .meaning import COMPARE, OPS, Op, bfe, bfi, compare_float, flush, maximum, minimum, signed, to_f32, to_int

_WORD: Final = 0xFFFFFFFF
_LONG: Final = (1 << 64) - 1


class Format(NamedTuple):
    """A binary floating-point format: bits of the significand with the hidden one, worth of the last bit of the smallest
    subnormal (a power of two), power of two that no finite number reaches, bits of the word, the canonical NaN."""

    precision: int
    lowest: int
    largest: int
    width: int
    nan: int


F16: Final = Format(11, -24, 16, 16, 0x7FFF)
BF16: Final = Format(8, -133, 128, 16, 0x7FFF)
F32: Final = Format(24, -149, 128, 32, 0x7FFFFFFF)
F64: Final = Format(53, -1074, 1024, 64, 0x7FF8000000000000)

_CUTS: Final[dict[str, Callable[[Fraction], int]]] = {"rn": round, "rz": math.trunc, "rm": math.floor, "rp": math.ceil}


def rounded(x: Fraction, form: Format, rounding: str = "rn") -> float:
    """The number of a format that a rounding gives for an exact number that is not zero."""
    sign = 1.0 if x > 0 else -1.0
    exponent = abs(x).numerator.bit_length() - abs(x).denominator.bit_length()
    exponent -= int(abs(x) < Fraction(2) ** exponent)
    unit = max(exponent - form.precision + 1, form.lowest)
    scaled = _CUTS[rounding](x / Fraction(2) ** unit)
    if abs(scaled) >= 1 << max(form.largest - unit, 0):  # beyond the finite numbers
        outwards = rounding in {"rn", "rp" if x > 0 else "rm"}
        top = math.ldexp((1 << form.precision) - 1, form.largest - form.precision)
        return math.copysign(math.inf if outwards else top, sign)
    return math.copysign(math.ldexp(abs(scaled), unit), sign)


def add(a: float, b: float, form: Format, rounding: str = "rn") -> float:
    """a + b rounded once."""
    return fma(a, 1.0, b, form, rounding)


def mul(a: float, b: float, form: Format, rounding: str = "rn") -> float:
    """a * b rounded once."""
    if not (math.isfinite(a) and math.isfinite(b)) or a == 0 or b == 0:
        return a * b
    return rounded(Fraction(a) * Fraction(b), form, rounding)


def fma(a: float, b: float, c: float, form: Format, rounding: str = "rn") -> float:
    """a * b + c rounded once."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact:
        return rounded(exact, form, rounding)
    sign = math.copysign(1.0, a) * math.copysign(1.0, b)
    if (a == 0 or b == 0) and sign == math.copysign(1.0, c):  # two zeros of one sign
        return math.copysign(0.0, sign)
    return -0.0 if rounding == "rm" else 0.0


def divide(a: float, b: float, form: Format, rounding: str = "rn") -> float:
    """a / b rounded once."""
    if math.isnan(a) or math.isnan(b) or (math.isinf(a) and math.isinf(b)) or (a == 0 and b == 0):
        return math.nan
    sign = math.copysign(1.0, a) * math.copysign(1.0, b)
    if math.isinf(a) or b == 0:
        return math.copysign(math.inf, sign)
    if math.isinf(b) or a == 0:
        return math.copysign(0.0, sign)
    return rounded(Fraction(a) / Fraction(b), form, rounding)


def root(a: float, form: Format) -> float:
    """The square root of a number of a format, to nearest."""
    if math.isnan(a) or a < 0:
        return math.nan
    if a == 0 or math.isinf(a):
        return a
    x = Fraction(a)
    shift = 2 * (form.precision + 2) + 2 * ((x.denominator.bit_length() - x.numerator.bit_length() + 1) // 2)
    scaled = x * Fraction(2) ** shift
    floor = math.isqrt(scaled.numerator // scaled.denominator)
    odd = floor | int(Fraction(floor * floor) != scaled)  # what is cut off goes into a last bit that no rounding ends at
    return rounded(Fraction(odd) / Fraction(2) ** (shift // 2), form)


def saturated(x: float) -> float:
    """.sat: between 0 and 1, a NaN becomes 0."""
    return 0.0 if math.isnan(x) or x <= 0 else min(x, 1.0)


# -- words as numbers ---------------------------------------------------------------------------------------------


def number(word: int, form: Format) -> float:
    """The number of a word of a format."""
    significand = form.precision - 1
    fraction, biased = word & (1 << significand) - 1, word >> significand & (1 << form.width - form.precision) - 1
    sign = -1.0 if word >> form.width - 1 else 1.0
    if biased == (1 << form.width - form.precision) - 1:
        return math.nan if fraction else math.copysign(math.inf, sign)
    if biased:
        return math.copysign(math.ldexp(fraction + (1 << significand), form.lowest + biased - 1), sign)
    return math.copysign(math.ldexp(fraction, form.lowest), sign)


def word(x: float, form: Format) -> int:
    """The word of a number that the format has."""
    if math.isnan(x):
        return form.nan
    significand = form.precision - 1
    sign = int(math.copysign(1.0, x) < 0) << form.width - 1
    if math.isinf(x):
        return sign | ((1 << form.width - form.precision) - 1) << significand
    units = int(math.ldexp(abs(x), -form.lowest))
    shift = max(units.bit_length() - form.precision, 0)
    return sign | (shift << significand) + (units >> shift)


def on_words(function: Callable[..., float], form: Format) -> Callable[..., int]:
    """A function of numbers as one of words."""
    return lambda *words: word(function(*(number(w, form) for w in words)), form)


def packed(function: Callable[..., int]) -> Callable[..., int]:
    """A function of words of 16 bits on both halves of words of 32."""
    return lambda *words: function(*(w & 0xFFFF for w in words)) | function(*(w >> 16 for w in words)) << 16


def _cvt(x: float, form: Format, rounding: str = "rn") -> float:
    return rounded(Fraction(x), form, rounding) if math.isfinite(x) and x else float(x)


def _minimum(form: Format, larger: bool) -> Callable[[int, int], int]:
    return on_words(maximum if larger else minimum, form)


def sixteen_ops() -> list[Op]:
    """f16 and bf16, alone and packed."""
    ops = []
    for name, form, plain, least in (("f16", F16, 0, 80), ("bf16", BF16, 90, 80)):

        def binary(function: Callable[..., float], form: Format = form) -> Callable[..., int]:
            return on_words(lambda *numbers: function(*numbers, form), form)

        sub = on_words(lambda a, b, f=form: add(a, -b, f), form)
        fma_ = binary(fma)
        both: list[tuple[str, str, Callable[..., int], int]] = [
            ("add.rn", "hh", binary(add), plain),
            ("sub.rn", "hh", sub, plain),
            ("mul.rn", "hh", binary(mul), plain),
            ("fma.rn", "hhh", fma_, 0 if name == "f16" else 80),
            ("min", "hh", _minimum(form, larger=False), least),
            ("max", "hh", _minimum(form, larger=True), least),
        ]
        if name == "f16":
            both.append(("fma.rn.sat", "hhh", on_words(lambda a, b, c: saturated(fma(a, b, c, F16)), F16), 0))
        for mnemonic, sources, function, since in both:
            ops.append(Op(f"{mnemonic}.{name}", "h", sources, function, since))
            ops.append(Op(f"{mnemonic}.{name}x2", "r", sources.replace("h", "r"), packed(function), since))
        ops.append(Op(f"cvt.rn.{name}.f32", "h", "f", lambda x, f=form: word(_cvt(x, f), f), 0 if name == "f16" else 80))
        ops.append(Op(f"cvt.rz.{name}.f32", "h", "f", lambda x, f=form: word(_cvt(x, f, "rz"), f), 0 if name == "f16" else 80))
        pair = lambda a, b, f=form: word(_cvt(a, f), f) << 16 | word(_cvt(b, f), f)  # noqa: E731
        ops.append(Op(f"cvt.rn.{name}x2.f32", "r", "ff", pair, 80))
        for test in COMPARE:
            for suffix in ("", "u"):
                compare = compare_float(test + suffix)
                function = lambda a, b, t=compare, f=form: int(t(number(a, f), number(b, f)))  # noqa: E731
                ops.append(Op(f"setp.{test}{suffix}.{name}", "p", "hh", function, plain))
    ops += [
        Op("cvt.f32.f16", "f", "h", lambda a: number(a, F16)),
        Op("cvt.rn.f16.s32", "h", "r", lambda a: word(_cvt(signed(a, 32), F16), F16)),
        Op("cvt.rn.f16.u16", "h", "h", lambda a: word(_cvt(a, F16), F16)),
        Op("cvt.rzi.s32.f16", "r", "h", lambda a: to_int(number(a, F16), 32, True, math.trunc)),
        Op("cvt.rni.u16.f16", "h", "h", lambda a: to_int(number(a, F16), 16, False, round)),
    ]
    return ops


# -- f32, f64 -----------------------------------------------------------------------------------------------------


def rounding_ops() -> list[Op]:
    """Directed roundings, division, roots, saturation."""
    ops = []
    for c, name, form in (("f", "f32", F32), ("g", "f64", F64)):
        for r in ("rz", "rm", "rp"):
            ops += [
                Op(f"add.{r}.{name}", c, c * 2, lambda a, b, f=form, r=r: add(a, b, f, r)),
                Op(f"sub.{r}.{name}", c, c * 2, lambda a, b, f=form, r=r: add(a, -b, f, r)),
                Op(f"mul.{r}.{name}", c, c * 2, lambda a, b, f=form, r=r: mul(a, b, f, r)),
                Op(f"fma.{r}.{name}", c, c * 3, lambda a, b, d, f=form, r=r: fma(a, b, d, f, r)),
            ]
        ops += [
            Op(f"div.rn.{name}", c, c * 2, lambda a, b, f=form: divide(a, b, f)),
            Op(f"rcp.rn.{name}", c, c, lambda a, f=form: divide(1.0, a, f)),
            Op(f"sqrt.rn.{name}", c, c, lambda a, f=form: root(a, f)),
        ]
        low = 2.0 ** (form.lowest + form.precision - 1)
        tests: dict[str, Callable[[float], bool]] = {
            "finite": math.isfinite,
            "infinite": math.isinf,
            "number": lambda a: not math.isnan(a),
            "notanumber": math.isnan,
            "normal": lambda a, low=low: math.isfinite(a) and not 0 < abs(a) < low,  # type: ignore[misc]
            "subnormal": lambda a, low=low: 0 < abs(a) < low,  # type: ignore[misc]
        }
        ops += [Op(f"testp.{test}.{name}", "p", c, lambda a, t=function: int(t(a))) for test, function in tests.items()]
    for r, cut in (("rni", round), ("rzi", math.trunc), ("rmi", math.floor), ("rpi", math.ceil)):
        for n, signs in (("r", 32), ("d", 64), ("h", 16)):
            for is_signed in (True, False):
                kind = f"{'s' if is_signed else 'u'}{signs}"
                nan = 1 << 63 if n == "d" else 0
                nan64 = (1 << 31 if n == "r" else 1 << 63) if n != "h" else 0
                to = lambda x, b=signs, s=is_signed, c=cut, v=nan: to_int(x, b, s, c, v)  # noqa: E731
                to64 = lambda x, b=signs, s=is_signed, c=cut, v=nan64: to_int(x, b, s, c, v)  # noqa: E731
                ops.append(Op(f"cvt.{r}.{kind}.f32", n, "f", to))
                if n != "h":
                    ops.append(Op(f"cvt.{r}.{kind}.f64", n, "g", to64))
    for r in ("rn", "rz", "rm", "rp"):
        for c, name, form in (("f", "f32", F32), ("g", "f64", F64)):
            for n, bits in (("r", 32), ("d", 64)):
                ops.append(Op(f"cvt.{r}.{name}.s{bits}", c, n, lambda a, b=bits, f=form, r=r: _cvt(signed(a, b), f, r)))
                ops.append(Op(f"cvt.{r}.{name}.u{bits}", c, n, lambda a, f=form, r=r: _cvt(a, f, r)))
        ops.append(Op(f"cvt.{r}.f32.f64", "f", "g", lambda a, r=r: _cvt(a, F32, r)))
    ops += [
        Op("add.sat.f32", "f", "ff", lambda a, b: saturated(to_f32(a + b))),
        Op("mul.rn.ftz.f32", "f", "ff", lambda a, b: flush(mul(flush(a), flush(b), F32))),
        Op("fma.rn.ftz.f32", "f", "fff", lambda a, b, c: flush(fma(flush(a), flush(b), flush(c), F32))),
        Op("fma.rn.sat.f32", "f", "fff", lambda a, b, c: saturated(fma(a, b, c, F32))),
        Op("cvt.sat.f32.f32", "f", "f", saturated),
        Op("min.f64", "g", "gg", minimum),
        Op("max.f64", "g", "gg", maximum),
        Op("slct.s32.f32", "r", "rrf", lambda a, b, c: a if c >= 0 else b),
        Op("slct.f32.s32", "f", "ffr", lambda a, b, c: b if c >> 31 else a),
        Op("set.gt.u32.f32", "r", "ff", lambda a, b: _WORD if a > b else 0),
        Op("set.le.f32.s32", "f", "rr", lambda a, b: float(signed(a, 32) <= signed(b, 32))),
    ]
    return ops


# -- integers -----------------------------------------------------------------------------------------------------


def _clamped(value: int, bits: int, is_signed: bool) -> int:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
    return min(max(value, low), high)


def _dot(a: int, b: int, c: int, signs: str) -> int:
    """dp4a: four products of bytes and a word; ``signs`` are those of a and b."""
    left, right = (
        [signed(x >> 8 * k & 255, 8) if s == "s" else x >> 8 * k & 255 for k in range(4)]
        for x, s in zip((a, b), signs, strict=True)
    )
    return sum(x * y for x, y in zip(left, right, strict=True)) + c & _WORD


def _dot2(a: int, b: int, c: int, signs: str, high: bool) -> int:
    """dp2a: two products of a half and a byte of the low or high half, and a word."""
    left = [signed(a >> 16 * k & 0xFFFF, 16) if signs[0] == "s" else a >> 16 * k & 0xFFFF for k in range(2)]
    right = [b >> 8 * k + 16 * high & 255 for k in range(2)]
    return sum(x * (signed(y, 8) if signs[1] == "s" else y) for x, y in zip(left, right, strict=True)) + c & _WORD


_PICKS: Final[dict[str, Callable[[int, int], int]]] = {  # byte of the eight, of a position and the two low bits of the selector
    "f4e": lambda k, s: s + k,
    "b4e": lambda k, s: (s - k) % 8,
    "rc8": lambda k, s: s,
    "ecl": max,
    "ecr": min,
    "rc16": lambda k, s: (k & 1) + 2 * (s & 1),
}


def _permuted(a: int, b: int, selector: int, mode: str) -> int:
    both = a | b << 32
    return sum((both >> 8 * _PICKS[mode](k, selector & 3) & 255) << 8 * k for k in range(4))


def _mask(a: int, b: int, clamp: bool) -> int:
    start, length = (min(a, 32), min(b, 32)) if clamp else (a & 31, b & 31)
    return (((1 << length) - 1) << start) & _WORD


def _extended(a: int, b: int, is_signed: bool, clamp: bool) -> int:
    length = min(b, 32) if clamp else b & 31
    low = a & (1 << length) - 1
    return signed(low, length) & _WORD if is_signed and length else low


def integer_ops() -> list[Op]:
    """Integers beyond those of every program."""
    ops = []
    for c, n in (("r", 32), ("d", 64)):
        for is_signed in (True, False):
            sign = "s" if is_signed else "u"
            ops.append(
                Op(f"bfe.{sign}{n}", c, c + ("BB" if n == 64 else "rr"), lambda a, p, k, n=n, s=is_signed: bfe(a, p, k, n, s))
            )
        ops.append(Op(f"bfi.b{n}", c, c + c + ("BB" if n == 64 else "rr"), lambda a, b, p, k, n=n: bfi(a, b, p, k, n)))
        ops.append(Op(f"cnot.b{n}", c, c, lambda a: int(a == 0)))
    for sa in "su":
        for sb in "su":
            names = f"{sa}32.{sb}32"
            ops.append(Op(f"dp4a.{names}", "r", "rrr", lambda a, b, c, s=sa + sb: _dot(a, b, c, s)))
            for high in (False, True):
                how = "hi" if high else "lo"
                ops.append(Op(f"dp2a.{how}.{names}", "r", "rrr", lambda a, b, c, s=sa + sb, h=high: _dot2(a, b, c, s, h)))
    ops += [Op(f"prmt.b32.{mode}", "r", "rrr", lambda a, b, s, m=mode: _permuted(a, b, s, m)) for mode in _PICKS]
    for clamp in (True, False):
        how = "clamp" if clamp else "wrap"
        ops.append(Op(f"bmsk.{how}.b32", "r", "rr", lambda a, b, c=clamp: _mask(a, b, c)))
        for is_signed in (True, False):
            sign = "s" if is_signed else "u"
            ops.append(Op(f"szext.{how}.{sign}32", "r", "rr", lambda a, b, s=is_signed, c=clamp: _extended(a, b, s, c)))
    for source, n in (("r", 32), ("d", 64), ("h", 16)):
        for s in (True, False):
            for target, to, width in (("h", 8, 16), ("h", 16, 16), ("r", 32, 32), ("d", 64, 64)):
                for d in (True, False):
                    if (d or not s) and to - d >= n - (s and d):  # holds every value: .sat has no meaning there
                        continue
                    name = f"cvt.sat.{'s' if d else 'u'}{to}.{'s' if s else 'u'}{n}"
                    mask = (1 << width) - 1
                    value = lambda a, n=n, s=s: signed(a, n) if s else a  # noqa: E731
                    function = lambda a, v=value, to=to, d=d, m=mask: _clamped(v(a), to, d) & m  # noqa: E731
                    ops.append(Op(name, target, source, function))
    ops += [
        Op("add.sat.s32", "r", "rr", lambda a, b: _clamped(signed(a, 32) + signed(b, 32), 32, True) & _WORD),
        Op("sub.sat.s32", "r", "rr", lambda a, b: _clamped(signed(a, 32) - signed(b, 32), 32, True) & _WORD),
        Op("mul24.lo.s32", "r", "rr", lambda a, b: signed(a & 0xFFFFFF, 24) * signed(b & 0xFFFFFF, 24) & _WORD),
        Op("mul24.hi.u32", "r", "rr", lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF) >> 16 & _WORD),
        Op("mad24.lo.u32", "r", "rrr", lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c & _WORD),
        Op("mul.hi.s16", "h", "hh", lambda a, b: signed(a, 16) * signed(b, 16) >> 16 & 0xFFFF),
        Op("mul.hi.u16", "h", "hh", lambda a, b: a * b >> 16),
        Op("mad.wide.u16", "r", "hhr", lambda a, b, c: a * b + c & _WORD),
        Op("mad.hi.s32", "r", "rrr", lambda a, b, c: (signed(a, 32) * signed(b, 32) >> 32) + c & _WORD),
        Op("mad.hi.s64", "d", "ddd", lambda a, b, c: (signed(a, 64) * signed(b, 64) >> 64) + c & _LONG),
        Op("sad.u32", "r", "rrr", lambda a, b, c: abs(a - b) + c & _WORD),
        Op("sad.s16", "h", "hhh", lambda a, b, c: abs(signed(a, 16) - signed(b, 16)) + c & 0xFFFF),
        Op("abs.s16", "h", "h", lambda a: abs(signed(a, 16)) & 0xFFFF),
        Op("bfind.shiftamt.s64", "r", "d", _shift_amount),
        Op("set.lt.u32.s32", "r", "rr", lambda a, b: _WORD if signed(a, 32) < signed(b, 32) else 0),
        Op("slct.u64.s32", "d", "ddr", lambda a, b, c: b if c >> 31 else a),
        Op("slct.b16.s32", "h", "hhr", lambda a, b, c: b if c >> 31 else a),
        Op("add.u64", "d", "di", lambda a, b: a + b & _LONG),
        Op("add.u16x2", "r", "rr", packed(lambda a, b: a + b & 0xFFFF), 90),
        Op("min.s16x2", "r", "rr", packed(lambda a, b: min(signed(a, 16), signed(b, 16)) & 0xFFFF), 90),
        Op("max.u16x2", "r", "rr", packed(max), 90),
        Op("max.s32.relu", "r", "rr", lambda a, b: max(signed(a, 32), signed(b, 32), 0), 90),
    ]
    return ops


def _shift_amount(a: int) -> int:
    """bfind.shiftamt.s64."""
    plain = ~a & _LONG if a >> 63 else a
    return 63 - (plain.bit_length() - 1) if plain else _WORD


ALL_OPS: Final[list[Op]] = [*OPS, *sixteen_ops(), *rounding_ops(), *integer_ops()]


def by_result(target: int) -> dict[str, list[Op]]:
    """The instructions that a target (its number) has, by the class of the result."""
    out: dict[str, list[Op]] = {}
    for op in ALL_OPS:
        if op.since <= target:
            out.setdefault(op.result, []).append(op)
    return out
