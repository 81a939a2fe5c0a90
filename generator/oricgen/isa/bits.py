"""Bit positions in a 128-bit instruction word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property

WORD = 128


@dataclass(frozen=True)
class Bits:
    """A field: bit positions, least significant first."""

    positions: tuple[int, ...]

    @property
    def width(self) -> int:
        """Number of bits."""
        return len(self.positions)

    @cached_property
    def mask(self) -> int:
        """The field as a mask of the word."""
        return sum(1 << p for p in self.positions)

    def place(self, value: int) -> int:
        """``value`` put into the field, as bits of the word."""
        return sum((value >> i & 1) << p for i, p in enumerate(self.positions))

    def extract(self, word: int) -> int:
        """The field's value in ``word``."""
        return sum((word >> p & 1) << i for i, p in enumerate(self.positions))

    @cached_property
    def segments(self) -> tuple[tuple[int, int], ...]:
        """Runs of adjacent bits as (lowest position, length), least significant run first."""
        out: list[tuple[int, int]] = []
        for p in self.positions:
            if out and sum(out[-1]) == p:
                out[-1] = (out[-1][0], out[-1][1] + 1)
            else:
                out.append((p, 1))
        return tuple(out)

    def __str__(self) -> str:
        return ",".join(str(lo) if n == 1 else f"{lo}-{lo + n - 1}" for lo, n in self.segments)


@cache
def parse(text: str) -> Bits:
    """Parse ``"72,75-76"``: comma-separated runs, least significant first.

    Raises:
        ValueError: not in this form, a bit outside the word, or a bit named twice.
    """
    positions: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            raise ValueError(f"'{text}' is no list of bits such as 72,75-76")
        low = int(first)
        high = int(last) if dash else low
        if not 0 <= low <= high < WORD:
            raise ValueError(f"'{part}' is no run of bits of a {WORD}-bit word")
        positions += range(low, high + 1)
    if len(set(positions)) != len(positions):
        raise ValueError(f"'{text}' names a bit twice")
    return Bits(tuple(positions))


def parse_set(text: object) -> int:
    """A mask from blank-separated runs: ``"64-67 71"``; empty or None gives 0."""
    mask = 0
    for part in str(text if text is not None else "").split():
        field = parse(part).mask
        if mask & field:
            raise ValueError(f"'{text}' names a bit twice")
        mask |= field
    return mask


def names(mask: int) -> str:
    """The bits of a mask as text: ``64-67,71``."""
    return str(Bits(tuple(_ones(mask)))) if mask else "none"


def said(mask: int) -> str:
    """The bits of a mask as messages call them: ``bit 36``, ``bits 64–71, 80``."""
    runs = [str(lo) if n == 1 else f"{lo}–{lo + n - 1}" for lo, n in Bits(tuple(_ones(mask))).segments]
    return f"bit{'s' if mask & (mask - 1) else ''} {', '.join(runs)}"


def _ones(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
