"""What PTX instructions compute, on bit patterns, written from the PTX ISA manual. Knows nothing of the compiler."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Any

FORMATS = {"f16": (11, 5), "bf16": (8, 8), "f32": (24, 8), "f64": (53, 11)}  # precision, exponent bits


def s(value: int, bits: int) -> int:
    """The signed value of a pattern."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def u(value: int, bits: int) -> int:
    """The pattern of a value."""
    return value & (1 << bits) - 1


class Float:
    """Exact arithmetic of a binary format: patterns to fractions and back."""

    def __init__(self, name: str) -> None:
        self.precision, self.exponent = FORMATS[name]
        self.bits = self.precision + self.exponent
        self.bias = (1 << self.exponent - 1) - 1
        self.mantissa = self.precision - 1
        self.inf = ((1 << self.exponent) - 1) << self.mantissa
        self.nan = self.inf | 1 << self.mantissa - 1
        self.sign = 1 << self.bits - 1

    def is_nan(self, x: int) -> bool:
        return x & ~self.sign > self.inf

    def is_inf(self, x: int) -> bool:
        return x & ~self.sign == self.inf

    def is_subnormal(self, x: int) -> bool:
        return 0 < x & ~self.sign < 1 << self.mantissa

    def value(self, x: int) -> Fraction:
        """The value of a finite pattern."""
        exponent = x >> self.mantissa & (1 << self.exponent) - 1
        fraction = x & (1 << self.mantissa) - 1
        if exponent:
            fraction |= 1 << self.mantissa
        out = Fraction(fraction) * Fraction(2) ** (max(exponent, 1) - self.bias - self.mantissa)
        return -out if x & self.sign else out

    def round(self, x: Fraction, mode: str = "rn", zero_sign: int = 0) -> int:
        """The pattern of a value, rounded."""
        if x == 0:
            return zero_sign * self.sign
        sign = self.sign if x < 0 else 0
        magnitude = abs(x)
        power = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
        if magnitude < Fraction(2) ** power:
            power -= 1
        unit = max(power, 1 - self.bias) - self.mantissa
        scaled = magnitude / Fraction(2) ** unit
        down = scaled.numerator // scaled.denominator
        rest = scaled - down
        up = {"rn": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and down & 1), "rz": False,
              "rp": rest > 0 and not sign, "rm": rest > 0 and bool(sign)}[mode]  # fmt: skip
        down += bool(up)
        exponent = max(power, 1 - self.bias)
        if down >> self.precision:
            down >>= 1
            exponent += 1
        if exponent > self.bias:
            overflow = {"rn": True, "rz": False, "rp": not sign, "rm": bool(sign)}[mode]
            return sign | (self.inf if overflow else self.inf - 1)
        biased = exponent + self.bias if down >> self.mantissa else 0
        return sign | biased << self.mantissa | down & (1 << self.mantissa) - 1

    def flush(self, x: int) -> int:
        return x & self.sign if self.is_subnormal(x) else x

    def add(self, a: int, b: int, mode: str = "rn") -> int:
        if self.is_nan(a) or self.is_nan(b):
            return self.nan
        if self.is_inf(a) or self.is_inf(b):
            if self.is_inf(a) and self.is_inf(b) and a != b:
                return self.nan
            return a if self.is_inf(a) else b
        total = self.value(a) + self.value(b)
        if total == 0:
            both = a & b & self.sign
            same = not (a ^ b) & self.sign
            return self.round(total, mode, int(bool(both)) if same else int(mode == "rm"))
        return self.round(total, mode)

    def mul(self, a: int, b: int, mode: str = "rn") -> int:
        if self.is_nan(a) or self.is_nan(b):
            return self.nan
        sign = (a ^ b) & self.sign
        if self.is_inf(a) or self.is_inf(b):
            return self.nan if 0 in (a & ~self.sign, b & ~self.sign) else sign | self.inf
        return self.round(self.value(a) * self.value(b), mode, int(bool(sign)))

    def fma(self, a: int, b: int, c: int, mode: str = "rn") -> int:
        if self.is_nan(a) or self.is_nan(b) or self.is_nan(c):
            return self.nan
        sign = (a ^ b) & self.sign
        if self.is_inf(a) or self.is_inf(b):
            if 0 in (a & ~self.sign, b & ~self.sign) or (self.is_inf(c) and c & self.sign != sign):
                return self.nan
            return sign | self.inf
        if self.is_inf(c):
            return c
        product = self.value(a) * self.value(b)
        total = product + self.value(c)
        if total == 0:
            if product == 0 and self.value(c) == 0 and sign == c & self.sign:
                return sign
            return self.sign if mode == "rm" else 0
        return self.round(total, mode)

    def div(self, a: int, b: int, mode: str = "rn") -> int:
        if self.is_nan(a) or self.is_nan(b):
            return self.nan
        sign = (a ^ b) & self.sign
        zero_a, zero_b = not a & ~self.sign, not b & ~self.sign
        if (zero_a and zero_b) or (self.is_inf(a) and self.is_inf(b)):
            return self.nan
        if self.is_inf(a) or zero_b:
            return sign | self.inf
        if self.is_inf(b) or zero_a:
            return sign
        return self.round(self.value(a) / self.value(b), mode)

    def sqrt(self, a: int, mode: str = "rn") -> int:
        if self.is_nan(a) or (a & self.sign and a & ~self.sign):
            return self.nan
        if not a & ~self.sign or self.is_inf(a):
            return a
        x = self.value(a)
        shift = 400 + (self.bias + self.mantissa) * 2
        shift += shift & 1
        n = x.numerator * (1 << shift) // x.denominator
        root = math.isqrt(n)
        sticky = 0 if root * root == n and x.numerator * (1 << shift) % x.denominator == 0 else 1
        return self.round((Fraction(root) * 2 + sticky) / Fraction(2) ** (shift // 2 + 1), mode)

    def minimum(self, a: int, b: int, larger: bool = False, nan: bool = False) -> int:
        if nan and (self.is_nan(a) or self.is_nan(b)):
            return self.nan
        if self.is_nan(a):
            return self.nan if self.is_nan(b) else b
        if self.is_nan(b):
            return a
        ka, kb = (self._key(v) for v in (a, b))
        return (a if ka > kb else b) if larger else (a if ka < kb else b)

    def minimum_of_magnitudes(self, a: int, b: int, larger: bool = False, nan: bool = False) -> int:
        """``.xorsign.abs``: of what has no signs, with the sign of the product where it is a number."""
        least = self.minimum(a & ~self.sign, b & ~self.sign, larger, nan)
        return least if self.is_nan(least) else least | (a ^ b) & self.sign

    def _key(self, x: int) -> int:
        return -(x & ~self.sign) - 1 if x & self.sign else x

    def compare(self, name: str, a: int, b: int) -> bool:
        unordered = self.is_nan(a) or self.is_nan(b)
        if name == "num":
            return not unordered
        if name == "nan":
            return unordered
        if unordered:
            return name in ("equ", "neu", "ltu", "leu", "gtu", "geu")
        x, y = (math.inf * (-1 if v & self.sign else 1) if self.is_inf(v) else self.value(v) for v in (a, b))
        base = name[:2]
        return {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}[base]

    def from_int(self, value: int, mode: str = "rn") -> int:
        return self.round(Fraction(value), mode)

    def to_int(self, x: int, bits: int, signed: bool, mode: str, nan: int) -> int:
        """Rounded to an integer, saturated; ``nan`` is the result for NaN."""
        if self.is_nan(x):
            return nan
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        if self.is_inf(x):
            value = low if x & self.sign else high
        else:
            value = whole(self.value(x), mode)
        return u(min(max(value, low), high), bits)

    def to_whole(self, x: int, mode: str) -> int:
        if self.is_nan(x) or self.is_inf(x):
            return self.nan if self.is_nan(x) else x
        return self.round(Fraction(whole(self.value(x), mode)), "rn", int(bool(x & self.sign)))

    def convert(self, x: int, other: Float, mode: str = "rn") -> int:
        """A pattern of ``other`` as one of this format."""
        if other.is_nan(x):
            return self.nan
        sign = self.sign if x & other.sign else 0
        if other.is_inf(x):
            return sign | self.inf
        return self.round(other.value(x), mode, int(bool(sign)))


def whole(x: Fraction, mode: str) -> int:
    """A fraction rounded to an integer: rni, rzi, rmi, rpi."""
    return {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}[mode](x)


F16, BF16, F32, F64 = (Float(n) for n in ("f16", "bf16", "f32", "f64"))


def f32(x: float) -> int:
    """Pattern of a Python float as f32."""
    try:
        return int(struct.unpack("<I", struct.pack("<f", x))[0])
    except OverflowError:
        return 0x7F800000 if x > 0 else 0xFF800000


def as_f32(x: int) -> float:
    """A f32 pattern as a Python float."""
    return float(struct.unpack("<f", struct.pack("<I", x))[0])


def prmt(a: int, b: int, selector: int) -> int:
    bytes_ = [(b << 32 | a) >> 8 * k & 255 for k in range(8)]
    out = 0
    for k in range(4):
        pick = selector >> 4 * k & 15
        byte = bytes_[pick & 7]
        out |= (255 * (byte >> 7) if pick & 8 else byte) << 8 * k
    return out


def field(pos: int, length: int, bits: int) -> tuple[int, int]:
    """Position and length of a bit field: bytes; of 64 bits whole numbers (ptxas 13.0.88; the manual says bytes there too)."""
    return (pos & 255, length & 255) if bits == 32 else (min(pos, 64), min(length, 64))


def bfe(a: int, pos: int, length: int, bits: int, signed: bool) -> int:
    pos, length = field(pos, length, bits)
    if length == 0:
        return 0
    top = bits - 1
    sign = signed and a >> min(pos + length - 1, top) & 1
    out = 0
    for k in range(bits):
        bit = a >> (pos + k) & 1 if k < length and pos + k <= top else int(sign)
        out |= bit << k
    return out


def bfi(a: int, b: int, pos: int, length: int, bits: int) -> int:
    pos, length = field(pos, length, bits)
    mask = u(((1 << length) - 1) << pos, bits)
    return b & ~mask | a << pos & mask


def lop3(a: int, b: int, c: int, lut: int) -> int:
    out = 0
    for k in range(32):
        out |= (lut >> ((a >> k & 1) << 2 | (b >> k & 1) << 1 | c >> k & 1) & 1) << k
    return out


def clz(a: int, bits: int) -> int:
    return bits - a.bit_length()


def brev(a: int, bits: int) -> int:
    return int(f"{a:0{bits}b}"[::-1], 2)


def bfind(a: int, bits: int, signed: bool, shift: bool = False) -> int:
    if signed and a >> bits - 1:
        a ^= (1 << bits) - 1
    position = a.bit_length() - 1
    return 0xFFFFFFFF if position < 0 else (bits - 1 - position if shift else position)


def saturate(value: int, bits: int, signed: bool) -> int:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return u(min(max(value, low), high), bits)


def truncated(a: int, b: int) -> tuple[int, int]:
    """Quotient toward zero and remainder."""
    q = abs(a) // abs(b)
    q = -q if (a < 0) != (b < 0) else q
    return q, a - q * b


def halves(function: Callable[..., int], *xs: int) -> int:
    """A function of 16-bit patterns on both halves of 32-bit ones."""
    return function(*(x & 0xFFFF for x in xs)) | function(*(x >> 16 for x in xs)) << 16


INTEGER_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}  # fmt: skip
