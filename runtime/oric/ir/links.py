"""What an object leaves to a linker: parts of addresses that it puts into instructions.

Source: observed (objects of ptxas 13.0.88 -c).
"""

from __future__ import annotations

from typing import Final

from oric_tables.named import NamedTuple

LOW: Final = "low"  # parts: a word of an address ...
HIGH: Final = "high"
CALL: Final = "call"  # ... or all of it, in a call
ENTRY: Final = "entry"
FUNCTION: Final = "function"
PLACE: Final = "place"  # of an instruction behind a call
SIZE: Final = "size"  # of an entry of a table of the driver: a symbol of that name
POINTER: Final = "pointer"
BANK: Final = "bank"  # a place in a constant bank; the part is "operand" or the operation that loads it, in small letters
OPERAND: Final = "operand"


class Link(NamedTuple):
    """A part of an address: of a variable (``symbol``, its id in the module), or of a function or entry by its name.

    ``space``: the state space of the variable, or ``FUNCTION``, ``ENTRY``, ``PLACE``; ``POINTER``: what addresses of functions
    count from, in calls through registers. ``BANK``: ``symbol`` is the number of a constant bank, ``addend`` the place in it.
    """

    part: str
    space: str
    symbol: int
    function: str = ""
    addend: int = 0
