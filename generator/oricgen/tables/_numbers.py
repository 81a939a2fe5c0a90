"""Lists of numbers in the specification: ``[0, 29-30, 56]``."""

from __future__ import annotations

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
