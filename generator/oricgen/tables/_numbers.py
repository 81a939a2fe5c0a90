"""Numbers in the specification: lists ``[0, 29-30, 56]``, bits ``7-10``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

from ..errors import SpecError
from ..strictyaml import Seq


def expand(items: Seq, path: PurePath, what: str) -> list[tuple[int, int]]:
    """The numbers with their lines: an item is a number, or a range ``29-30`` with both its ends.

    Raises:
        SpecError: a range whose end is not above its start; ``what`` begins the message.
    """
    out: list[tuple[int, int]] = []
    for index, item in enumerate(items):
        line = items.line_of(index)
        if isinstance(item, int):
            out.append((item, line))
            continue
        first, last = map(int, item.split("-"))
        if last <= first:
            raise SpecError(path, line, f"{what}: the range '{item}' does not go up")
        out += [(number, line) for number in range(first, last + 1)]
    return out


def numbers(items: Iterable[int | str]) -> tuple[int, ...]:
    """The numbers of a list as it stands in a file; a range that does not go up gives none."""
    out: list[int] = []
    for item in items:
        first, _, last = str(item).partition("-")
        out += range(int(first, 0), int(last or first, 0) + 1)
    return tuple(out)


def bits(text: int | str) -> tuple[int, int]:
    """First bit and number of bits of ``7-10`` or ``16``; the number is below 1 when the range does not go up."""
    first, _, last = str(text).partition("-")
    return int(first), int(last or first) - int(first) + 1


def spans(ids: Iterable[int]) -> str:
    """Ascending numbers in short: ``7 9-12``."""
    out: list[list[int]] = []
    for number in ids:
        if out and number == out[-1][1] + 1:
            out[-1][1] = number
        else:
            out.append([number, number])
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in out)
