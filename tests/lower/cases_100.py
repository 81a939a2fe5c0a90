"""Instructions since sm_100, and those whose code differs there: what the PTX manual says that they compute."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from . import meaning as m
from .cases import Case
from .meaning import BF16, F16, F32, s, u

TARGETS = ("sm_100", "sm_110", "sm_120")
_M32 = (1 << 32) - 1


def _pairs(function: Callable[..., int]) -> Callable[..., int]:
    """A function of singles on both words."""
    return lambda *xs: function(*(x & _M32 for x in xs)) | function(*(x >> 32 for x in xs)) << 32


def _same_pairs(got: int, want: int, *_: Any) -> bool:
    words = ((got & _M32, want & _M32), (got >> 32, want >> 32))
    return all(x == y or (F32.is_nan(x) and F32.is_nan(y)) for x, y in words)


def _flushed(function: Callable[..., int]) -> Callable[..., int]:
    """The same with subnormal numbers as zeros."""
    return lambda *xs: F32.flush(function(*map(F32.flush, xs)))


def packed_singles() -> Iterator[Case]:
    """add, sub, mul, fma of .f32x2."""
    sub = lambda a, b: F32.add(a, b ^ F32.sign)  # noqa: E731
    for name, function, sources in (
        ("add", F32.add, "dd"),
        ("sub", sub, "dd"),
        ("mul", F32.mul, "dd"),
        ("fma.rn", F32.fma, "ddd"),
    ):
        operands = ", ".join("ABC"[: len(sources)])
        for ftz, of in (("", function), (".ftz", _flushed(function))):
            yield Case(f"{name}{ftz}.f32x2 D, {operands}", "d", sources, _pairs(of), check=_same_pairs, targets=TARGETS)


def mixed() -> Iterator[Case]:
    """Sums and products of halves in single precision."""
    for form, name in ((F16, "f16"), (BF16, "bf16")):

        def wide(a: int, form: m.Float = form) -> int:
            sign = F32.sign if a & form.sign else 0
            if form.is_nan(a):
                return 0x7FFFFFFF
            return sign | F32.inf if form.is_inf(a) else F32.round(form.value(a), zero_sign=1 if sign else 0)

        yield Case(f"add.f32.{name} D, A, B", "f", "hf", lambda a, b, w=wide: F32.add(w(a), b), kinds="Hf", targets=TARGETS)
        yield Case(
            f"sub.f32.{name} D, A, B", "f", "hf", lambda a, b, w=wide: F32.add(w(a), b ^ F32.sign), kinds="Hf", targets=TARGETS
        )
        yield Case(
            f"fma.rn.f32.{name} D, A, B, C",
            "f",
            "hhf",
            lambda a, b, c, w=wide: F32.fma(w(a), w(b), c),
            kinds="HHf",
            targets=TARGETS,
        )


def extremes() -> Iterator[Case]:
    """min and max of three singles, of integers with .relu, of packed halves; sad."""
    for op, most in (("min", False), ("max", True)):
        for nan in (False, True):

            def three(a: int, b: int, c: int, nan: bool = nan, most: bool = most) -> int:
                return F32.minimum(F32.minimum(a, b, most, nan), c, most, nan)

            word = ".NaN" if nan else ""
            yield Case(f"{op}{word}.f32 D, A, B, C", "f", "fff", three, targets=TARGETS)
            yield Case(f"{op}{word}.abs.f32 D, A, B, C", "f", "fff",
                       lambda a, b, c, f=three: f(a & ~F32.sign, b & ~F32.sign, c & ~F32.sign), targets=TARGETS)  # fmt: skip
            for k in (0xBF800000, 0xC0400000, 0x80000000, 0x40A00000):
                of = lambda a, b, f=three, k=k: f(a & ~F32.sign, b & ~F32.sign, k & ~F32.sign)  # noqa: E731
                yield Case(f"{op}{word}.abs.f32 D, A, B, 0f{k:08x}", "f", "ff", of, targets=TARGETS)
                of = lambda a, b, f=three, k=k: f(a & ~F32.sign, k & ~F32.sign, b & ~F32.sign)  # noqa: E731
                yield Case(f"{op}{word}.abs.f32 D, A, 0f{k:08x}, B", "f", "ff", of, targets=TARGETS)
        pick = max if most else min
        yield Case(f"{op}.relu.s32 D, A, B", "r", "rr", lambda a, b, f=pick: max(0, f(s(a, 32), s(b, 32))), targets=TARGETS)
        yield Case(f"{op}.u16x2 D, A, B", "r", "rr", lambda a, b, f=pick: m.halves(f, a, b), targets=TARGETS)
        signed = lambda x, y, f=pick: u(f(s(x, 16), s(y, 16)), 16)  # noqa: E731
        yield Case(f"{op}.s16x2 D, A, B", "r", "rr", lambda a, b, f=signed: m.halves(f, a, b), targets=TARGETS)
        relu = lambda x, y, f=pick: max(0, f(s(x, 16), s(y, 16)))  # noqa: E731
        yield Case(f"{op}.relu.s16x2 D, A, B", "r", "rr", lambda a, b, f=relu: m.halves(f, a, b), targets=TARGETS)
    for bits, c in ((16, "h"), (32, "r")):
        yield Case(f"sad.s{bits} D, A, B, C", c, c * 3, lambda a, b, x, n=bits: u(abs(s(a, n) - s(b, n)) + x, n), targets=TARGETS)
        yield Case(f"sad.u{bits} D, A, B, C", c, c * 3, lambda a, b, x, n=bits: u(abs(a - b) + x, n), targets=TARGETS)


def all_cases() -> list[Case]:
    return [*packed_singles(), *mixed(), *extremes()]
