"""Bit vectors against Python's sets, at sizes that do not fill their last word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oric_tables._native import ffi, lib

SIZES = st.one_of(st.integers(0, 200), st.sampled_from([63, 64, 65, 127, 128, 129, 191, 192, 193]))


@st.composite
def sets(draw, count: int):
    size = draw(SIZES)
    member = st.integers(0, max(size - 1, 0))
    return size, [draw(st.sets(member, max_size=size)) if size else set() for _ in range(count)]


def vector(size: int, members: set[int], beyond: bool = False):
    """A vector with the members; ``beyond`` sets all bits of the last word that are no members' place."""
    words = ffi.new("uint64_t[]", size // 64 + 1)
    for m in members:
        words[m // 64] |= 1 << m % 64
    if beyond:
        words[size // 64] |= (1 << 64) - (1 << size % 64)
    return words


def members(words, size: int) -> set[int]:
    return {i for i in range(size) if words[i // 64] >> i % 64 & 1}


def tail(words, size: int) -> int:
    return words[size // 64] >> size % 64


@pytest.mark.row("R4-36")
@given(sets(2), st.booleans(), st.booleans())
def test_combinations_equal_those_of_sets(drawn, dirty_a, dirty_b):
    size, (a, b) = drawn
    for function, expected in (
        (lib.oric_bv_or, a | b),
        (lib.oric_bv_and, a & b),
        (lib.oric_bv_and_not, a - b),
    ):
        x, y = vector(size, a, dirty_a), vector(size, b, dirty_b)
        before = tail(x, size)
        assert bool(function(x, y, size)) == (expected != a)
        assert members(x, size) == expected
        assert members(y, size) == b
        assert tail(x, size) == before


@pytest.mark.row("R4-36")
@given(sets(4), st.booleans())
def test_transfer(drawn, dirty):
    size, (old, gen, out, kill) = drawn
    x = vector(size, old)
    changed = lib.oric_bv_transfer(x, vector(size, gen, dirty), vector(size, out, dirty), vector(size, kill), size)
    assert members(x, size) == gen | (out - kill)
    assert bool(changed) == (old != gen | (out - kill))
    assert tail(x, size) == 0


@given(sets(2), st.booleans(), st.booleans())
def test_copy_equal_clear(drawn, dirty_a, dirty_b):
    size, (a, b) = drawn
    x, y = vector(size, a, dirty_a), vector(size, b, dirty_b)
    assert bool(lib.oric_bv_equal(x, y, size)) == (a == b)
    before = tail(x, size)
    lib.oric_bv_copy(x, y, size)
    assert lib.oric_bv_equal(x, y, size)
    assert tail(x, size) == before
    lib.oric_bv_clear(x, size)
    assert members(x, size) == set()
    assert tail(x, size) == before


@pytest.mark.row("R4-36")
@given(sets(1), st.booleans(), st.integers(0, 200))
def test_count_and_iteration(drawn, dirty, start):
    size, (a,) = drawn
    x = vector(size, a, dirty)
    assert lib.oric_bv_count(x, size) == len(a)
    assert lib.oric_bv_next(x, size, start) == min((m for m in a if m >= start), default=size)
    out = ffi.new("uint32_t[]", size + 1)
    assert lib.oric_bv_members(x, size, out) == len(a)
    assert list(out[0 : len(a)]) == sorted(a)
