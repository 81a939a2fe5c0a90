"""Conditions and computations that rewrite rules name (``functions`` in ``spec/rewrites``).

Numbers are 32-bit patterns, those of 64 bits are signed.
"""

from __future__ import annotations

from mypy_extensions import i64
from oric_tables.numbers import OFFSET_REACH


def signed(value: i64) -> i64:
    """A 32-bit pattern as a signed number."""
    value &= 0xFFFFFFFF
    return value - 0x100000000 if value >> 31 else value


def reachable(one: i64, other: i64) -> bool:
    """Whether an offset of a memory operation can hold the sum of two signed words."""
    return in_reach(signed(one) + signed(other))


def reachable64(number: i64, word: i64) -> bool:
    """Whether an offset of a memory operation can hold the sum of a signed 64-bit number and a signed word."""
    return in_reach(number + signed(word))


def exponent(number: i64) -> i64:
    """The number of zeros behind the last bit that is set; 64 when none is."""
    at: i64 = 0
    while at < 64 and not number >> at & 1:
        at += 1
    return at


def in_reach(offset: i64) -> bool:
    """Whether an offset of a memory operation can hold a number."""
    return -OFFSET_REACH <= offset < OFFSET_REACH


def logic(table: i64, a: i64, b: i64, c: i64) -> i64:
    """The truth table of a function (``table``) of three functions, which are given by their own tables over x, y, z."""
    out: i64 = 0
    row: i64 = 0
    while row < 8:
        if table >> row & 1:
            out |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
        row += 1
    return out & 0xFF
