"""Multipliers for division by constants: exact at the borders of every quotient that could go wrong."""

from __future__ import annotations

import random

from oric.lower.constants import signed_magic, unsigned_magic

_RNG = random.Random(5)
_POWERS = [2**k + d for k in range(2, 32) for d in (-1, 0, 1)]
_DIVISORS = [*range(2, 1200), *_POWERS, *(_RNG.randrange(2, 2**32) for _ in range(2000))]


def _values(divisor: int, top: int) -> list[int]:
    """Multiples of the divisor and their neighbours, the largest among them."""
    last = top // divisor
    quotients = {0, 1, 2, last - 1, last, *(_RNG.randrange(0, last + 1) for _ in range(6))}
    return [n for q in quotients for n in (q * divisor - 1, q * divisor, q * divisor + 1) if 0 <= n <= top] + [top]


def test_unsigned() -> None:
    for divisor in _DIVISORS:
        if divisor >= 2**32:
            continue
        multiplier, shift, wide = unsigned_magic(divisor)
        assert multiplier < 2**32
        for n in _values(divisor, 2**32 - 1):
            high = n * multiplier >> 32
            got = ((n - high >> 1) + high >> shift - 1) if wide else high >> shift
            assert got == n // divisor, (n, divisor)


def test_signed() -> None:
    for divisor in _DIVISORS:
        if divisor > 2**31:
            continue
        multiplier, shift = signed_magic(divisor)
        assert multiplier < 2**32
        for magnitude in _values(divisor, 2**31):
            for n in {min(magnitude, 2**31 - 1), -magnitude}:
                high = n * multiplier >> 32
                got = (high >> shift) + (high < 0)
                want = abs(n) // divisor * (1 if n >= 0 else -1)
                assert got == want, (n, divisor)
