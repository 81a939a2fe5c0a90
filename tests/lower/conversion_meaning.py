"""What ``cvt`` and ``cvt.pack`` compute, on bit patterns, written from the PTX ISA manual. Knows nothing of the compiler.

A NaN is a pattern that is one: which of them a conversion gives the manual leaves open.
"""

from __future__ import annotations

import re
from fractions import Fraction

from .meaning import BF16, F16, F32, F64, Float, s, u

FORMATS = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64}
ROUNDINGS = ("rn", "rz", "rm", "rp")
INTEGRAL = ("rni", "rzi", "rmi", "rpi")


def convert(mnemonic: str, *sources: int) -> int:
    """The result of a conversion, as a pattern of its type.

    Raises:
        LookupError: no meaning is written here.
    """
    words = mnemonic.split(".")
    if words[1] == "pack":
        return _pack(words, *sources)
    *qualifiers, to, by = words[1:]
    if to in ("f16x2", "bf16x2") and by == "f32":
        single = [_convert(set(qualifiers), to.removesuffix("x2"), by, source) for source in sources]
        return single[0] << 16 | single[1]
    return _convert(set(qualifiers), to, by, *sources)


def result_bits(to: str) -> int:
    """Bits of a type."""
    return int(re.sub(r"\D", "", to.removesuffix("x2"))) * (2 if to.endswith("x2") else 1) if to != "tf32" else 32


def _convert(qualifiers: set[str], to: str, by: str, x: int) -> int:
    rounding = next((word for word in qualifiers if word in ROUNDINGS), "rn")
    integral = next((word for word in qualifiers if word in INTEGRAL), "")
    if by in FORMATS:
        x &= (1 << result_bits(by)) - 1
        if "ftz" in qualifiers and by == "f32" and to != "f16":  # as on ptxas
            x = F32.flush(x)
        if to in FORMATS or to == "tf32":
            return _float_to_float(qualifiers, to, FORMATS[by], x, rounding, integral)
        return _to_integer(to, by, x, integral)
    bits = int(by[1:])
    value = s(x, bits) if by[0] == "s" else u(x, bits)
    if to in FORMATS:
        return _finish(qualifiers, to, FORMATS[to].from_int(value, rounding))
    least, most = _range(to)
    return u(min(max(value, least), most) if "sat" in qualifiers else value, int(to[1:]))


def _range(type_: str) -> tuple[int, int]:
    bits = int(type_[1:])
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if type_[0] == "s" else (0, (1 << bits) - 1)


def _to_integer(to: str, by: str, x: int, integral: str) -> int:
    """NaN gives 0; the number with only the top bit set where source or destination has 64 bits."""
    bits = int(to[1:])
    nan = 1 << bits - 1 if by == "f64" or bits == 64 else 0
    return FORMATS[by].to_int(x, bits, to[0] == "s", integral, nan)


def _float_to_float(qualifiers: set[str], to: str, by: Float, x: int, rounding: str, integral: str) -> int:
    if to == "tf32":
        return _to_tf32(qualifiers, x, rounding)
    format_ = FORMATS[to]
    if by.is_nan(x):
        return _finish(qualifiers, to, format_.nan)
    if integral:
        x = by.to_whole(x, integral)
    converted = format_.convert(x, by, rounding)
    return _finish(qualifiers, to, converted)


def _finish(qualifiers: set[str], to: str, x: int) -> int:
    """Flushing, saturation and the rest, of a pattern of the result's type."""
    format_ = FORMATS[to]
    if "ftz" in qualifiers and to == "f32":
        x = F32.flush(x)
    if "sat" in qualifiers:
        one = format_.round(Fraction(1))
        x = 0 if format_.is_nan(x) or x & format_.sign else min(x, one)
    if "satfinite" in qualifiers and format_.is_inf(x):
        x -= 1
    if "relu" in qualifiers and x & format_.sign and not format_.is_nan(x):
        x = 0
    return x


def _to_tf32(qualifiers: set[str], x: int, rounding: str) -> int:
    """Ten bits of fraction in the place of the 23 of f32, zeros behind them.

    To nearest with ties away, a NaN loses its last thirteen bits and may become infinity, as on ptxas.
    """
    if "rna" in qualifiers:
        x = x if F32.is_nan(x) or F32.is_inf(x) else x + 0x1000
        x &= ~0x1FFF
        return x - 0x2000 if "satfinite" in qualifiers and not x & ~F32.sign < F32.inf else x
    if not F32.is_nan(x):
        short = _TF32.convert(x, F32, rounding)
        short -= "satfinite" in qualifiers and _TF32.is_inf(short)
        x = short << 13
    return _finish(qualifiers, "f32", x)


class _Tf32(Float):
    def __init__(self) -> None:
        super().__init__("f32")
        self.precision, self.mantissa = 11, 10
        self.bits, self.sign = 19, 1 << 18
        self.inf = 255 << 10
        self.nan = self.inf | 1 << 9


_TF32 = _Tf32()


def _pack(words: list[str], a: int, b: int, c: int = 0) -> int:
    """The first source above the second; below 16 bits each, the third one, shifted up, above both."""
    to = words[3]
    bits = int(to[1:])
    least, most = _range(to)
    pair = [u(min(max(s(x, 32), least), most), bits) for x in (a, b)]
    return u(c << 2 * bits | pair[0] << bits | pair[1], 32)


def same(to: str, got: int, want: int) -> bool:
    """Whether a result is the one that is wanted, NaNs being alike."""
    if to in FORMATS or to == "tf32":
        format_ = FORMATS.get(to, F32)
        return got == want or (format_.is_nan(got) and format_.is_nan(want))
    if to in ("f16x2", "bf16x2"):
        return all(same(to.removesuffix("x2"), got >> at & 0xFFFF, want >> at & 0xFFFF) for at in (0, 16))
    return got == want
