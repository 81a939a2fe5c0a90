"""Source lines in listings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oric.support.lines import SourceLine, source_lines

if TYPE_CHECKING:
    from oric.support.elf import Cubin

    from .listing import FunctionListing, Listing


def add_sources(listing: Listing, cubin: Cubin) -> None:
    """Fill ``sources`` of the functions: at every offset where the source line changes, where the code comes from.

    Raises:
        CubinError: the line information is damaged or of a version that is not known.
    """
    by_section = source_lines(cubin)
    for function in listing.functions:
        if function.facts is not None:
            _add(function, by_section.get(function.facts.section, {}))


def _add(function: FunctionListing, table: dict[int, list[SourceLine] | None]) -> None:
    before: list[SourceLine] | None = None  # nvdisasm is silent where only the calls differ
    for line in function.lines:
        if line.offset not in table:
            continue
        places = table[line.offset]
        if places is not None and (before is None or places[0] != before[0]):
            function.sources[line.offset] = places
        before = places
