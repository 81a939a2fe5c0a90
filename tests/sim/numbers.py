"""Reference arithmetic on number formats with Python's integers: exact values, rounded once.

A finite number is ``(negative, significand, exponent)``: significand * 2**exponent, zero with its sign. NaN is ``NAN``,
infinities are ``(negative, INF, 0)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

Number = tuple[int, int, int]
INF: Final = -1
NAN: Final[Number] = (0, -2, 0)
# Comparisons of integers, and what joins a result with a predicate, by the names of their modifiers.
CMP: Final[dict[str, Callable[[int, int], bool]]] = {
    "F": lambda a, b: False,
    "LT": lambda a, b: a < b,
    "EQ": lambda a, b: a == b,
    "LE": lambda a, b: a <= b,
    "GT": lambda a, b: a > b,
    "NE": lambda a, b: a != b,
    "GE": lambda a, b: a >= b,
    "T": lambda a, b: True,
}
BOP: Final[dict[str, Callable[[int, int], int]]] = {
    "AND": lambda a, b: a & b,
    "OR": lambda a, b: a | b,
    "XOR": lambda a, b: a ^ b,
}


@dataclass(frozen=True)
class Format:
    """A binary format: stored significand bits, exponent of the smallest normal number, largest number and NaN as bits."""

    bits: int
    mantissa: int
    low: int
    largest: int
    nan: int
    infinite: bool = True

    @property
    def sign(self) -> int:
        return 1 << (self.bits - 1)

    @property
    def normal(self) -> int:
        """The smallest normal number's bits."""
        return 1 << self.mantissa

    def number(self, bits: int) -> Number:
        magnitude, negative = bits & (self.sign - 1), bits >> (self.bits - 1) & 1
        if magnitude > self.largest:
            return (negative, INF, 0) if self.infinite and magnitude == self.largest + 1 else NAN
        exponent, low = magnitude >> self.mantissa, self.low - self.mantissa
        if exponent == 0:
            return negative, magnitude, low
        return negative, magnitude & (self.normal - 1) | self.normal, low + exponent - 1

    def bits_of(self, x: Number, rnd: str = "RN", satfinite: bool = False, random: int = 0) -> int:
        """Rounded: RN, RZ, RM, RP, or RS (stochastic) with 16 random bits."""
        negative, m, e = x
        sign = self.sign if negative else 0
        if x == NAN:
            return self.nan
        if m == INF:
            return sign | (self.largest + 1 if self.infinite and not satfinite else self.largest)
        if m == 0:
            return sign
        quantum = max(m.bit_length() - 1 + e, self.low) - self.mantissa
        drop = quantum - e
        if drop <= 0:
            n = m << -drop
        else:
            n, rest, unit = m >> drop, m & (1 << drop) - 1, 1 << drop
            if rnd == "RN":
                n += rest * 2 > unit or (rest * 2 == unit and n & 1)
            elif rnd == "RS":
                n += rest * 65536 + random * unit >= unit * 65536
            elif rest:
                n += rnd == ("RM" if negative else "RP")
        field = n + (quantum - (self.low - self.mantissa) << self.mantissa)
        if field > self.largest:
            over = rnd in ("RN", "RS", "RM" if negative else "RP") and self.infinite and not satfinite
            field = self.largest + over
        return sign | field

    def flushed(self, bits: int) -> int:
        return bits & self.sign if bits & (self.sign - 1) < self.normal else bits


F64 = Format(64, 52, -1022, 0x7FEFFFFFFFFFFFFF, 0xFFF8000000000000)
F32 = Format(32, 23, -126, 0x7F7FFFFF, 0x7FFFFFFF)
F16 = Format(16, 10, -14, 0x7BFF, 0x7FFF)
BF16 = Format(16, 7, -126, 0x7F7F, 0x7FFF)
TF32 = Format(19, 10, -126, 0x3FBFF, 0x3FFFF)
E5M2 = Format(8, 2, -14, 0x7B, 0x7F)
E4M3 = Format(8, 3, -6, 0x7E, 0x7F, infinite=False)
E3M2 = Format(6, 2, -2, 0x1F, 0x1F, infinite=False)
E2M3 = Format(6, 3, 0, 0x1F, 0x1F, infinite=False)
E2M1 = Format(4, 1, 0, 0x7, 0x7, infinite=False)


def add(x: Number, y: Number, rnd: str = "RN") -> Number:
    """The exact sum; `rnd` decides the sign of an exact zero."""
    if NAN in (x, y):
        return NAN
    if x[1] == INF or y[1] == INF:
        if x[1] == y[1] == INF and x[0] != y[0]:
            return NAN
        return x if x[1] == INF else y
    e = min(x[2], y[2])
    total = ((-x[1] if x[0] else x[1]) << x[2] - e) + ((-y[1] if y[0] else y[1]) << y[2] - e)
    if total == 0:
        same = x[1] == 0 and y[1] == 0 and x[0] == y[0]
        return (x[0] if same else int(rnd == "RM")), 0, 0
    return int(total < 0), abs(total), e


def multiply(x: Number, y: Number) -> Number:
    if NAN in (x, y):
        return NAN
    negative = x[0] ^ y[0]
    if x[1] == INF or y[1] == INF:
        return NAN if 0 in (x[1], y[1]) else (negative, INF, 0)
    return negative, x[1] * y[1], x[2] + y[2]


def fma(x: Number, y: Number, z: Number, rnd: str = "RN") -> Number:
    return add(multiply(x, y), z, rnd)


def compare(x: Number, y: Number) -> int | None:
    """-1, 0, 1; None when a NaN takes part."""
    if NAN in (x, y):
        return None
    if x[1] == INF or y[1] == INF:
        ranks = [(-1 if v[0] else 1) if v[1] == INF else 0 for v in (x, y)]
        return (ranks[0] > ranks[1]) - (ranks[0] < ranks[1])
    e = min(x[2], y[2])
    a, b = (((-v[1] if v[0] else v[1]) << v[2] - e) for v in (x, y))
    return (a > b) - (a < b)


def integer(x: Number, how: str) -> int:
    """A finite number rounded to an integer: RN (ties to even), FLOOR, CEIL, TRUNC."""
    negative, m, e = x
    if e >= 0:
        return -m << e if negative else m << e
    whole, rest, half = m >> -e, m & (1 << -e) - 1, 1 << -e - 1
    if how == "RN":
        whole += rest > half or (rest == half and whole & 1)
    elif rest:
        whole += how == ("FLOOR" if negative else "CEIL")
    return -whole if negative else whole


def of_integer(value: int) -> Number:
    return int(value < 0), abs(value), 0
