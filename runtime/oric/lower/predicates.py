"""Conditions on operands that rules name with ``if``. Each takes the PTX operand nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oric.support import nodes


def third_is_constant(operands: Sequence[Any]) -> bool:
    """The third operand is an integer immediate."""
    return bool(operands[2][0] == nodes.INT)


def fields_are_constant(operands: Sequence[Any]) -> bool:
    """The last two operands are integer immediates."""
    return bool(operands[-1][0] == nodes.INT and operands[-2][0] == nodes.INT)


def has_pair(operands: Sequence[Any]) -> bool:
    """The first operand is a pair ``d|p``."""
    return bool(operands[0][0] == nodes.PAIR)
