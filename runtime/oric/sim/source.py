"""Source lines of code addresses, where the cubin has line information (``nvcc -lineinfo``)."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from oric.support.elf import CubinError
from oric.support.lines import SourceLine, source_lines

if TYPE_CHECKING:
    from oric.support.elf import Cubin

_Table = tuple[list[int], list[tuple[SourceLine, ...]]]


class Sources:
    """The line table of a cubin, read when it is first asked for."""

    def __init__(self, cubin: Cubin) -> None:
        self._cubin = cubin
        self._tables: dict[int, _Table] | None = None

    def at(self, function: str, offset: int) -> tuple[SourceLine, ...]:
        """Where the instruction at a byte offset of a text section comes from: its line, then those of the calls that it was
        inlined through. Empty without line information."""
        if self._tables is None:
            self._tables = self._read()
        found = self._cubin.functions.get(function)
        offsets, places = self._tables.get(found.section if found else -1, ([], []))
        index = bisect_right(offsets, offset)
        return places[index - 1] if index else ()

    def _read(self) -> dict[int, _Table]:
        try:
            sections = source_lines(self._cubin)
        except CubinError:
            return {}  # damaged line information is no reason to say nothing
        out = {}
        for section, rows in sections.items():
            ordered = sorted(rows.items())
            out[section] = ([at for at, _ in ordered], [tuple(places or ()) for _, places in ordered])
        return out
