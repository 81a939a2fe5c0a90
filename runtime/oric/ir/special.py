"""What system registers can hold. Source: PTX ISA, "Special Registers" and "Performance-Tuning Directives"."""

from __future__ import annotations

from mypy_extensions import i64
from oric_tables.operand_kinds import BLOCK_PLACES, LARGEST_SPECIAL

from .attributes import FunctionAttributes
from .facts import MASK32


def largest_special(facts: FunctionAttributes, number: i64) -> i64:
    """The largest number that a system register holds; of a place in a block as the function is told its size."""
    most: i64 = LARGEST_SPECIAL.get(number, MASK32)
    for dimension in range(len(BLOCK_PLACES)):
        if number == BLOCK_PLACES[dimension]:
            if facts.reqntid is not None:
                most = min(most, facts.reqntid[dimension] - 1)
            elif facts.maxntid is not None:
                most = min(most, facts.maxntid[0] * facts.maxntid[1] * facts.maxntid[2] - 1)
    return most
