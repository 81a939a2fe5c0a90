"""What decoded machine words read and write, in the units of the back end."""

from __future__ import annotations

from oric.sass.access import FILES
from oric.sass.code import Code
from oric_tables._native import lib

_FIRST = {"R": lib.ORIC_U_R, "P": lib.ORIC_U_P, "B": lib.ORIC_U_B, "UR": lib.ORIC_U_UR, "UP": lib.ORIC_U_UP}
assert set(_FIRST) == set(FILES)


def registers(code: Code) -> list[tuple[set[int], set[int]]]:
    """Units that each instruction reads, and those that it writes."""
    out = []
    for uses in code.uses():
        sets: tuple[set[int], set[int]] = (set(), set())
        for use in uses:
            first = _FIRST[use.file] + use.number
            sets[use.writes].update(range(first, first + use.width))
        out.append(sets)
    return out
