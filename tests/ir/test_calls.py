"""Where the calling convention puts arguments: as functions of ptxas 13.0.88 read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oric.ir.calls import Shape, places, reached
from oric_tables.registers import ARGUMENTS, FIRST_ARGUMENT

# (size, alignment) of arguments -> registers, or "+" and the byte on the stack. Observed.
OBSERVED = [
    ([(4, 4), (8, 8), (4, 4)], ["R4", "R6", "R5"]),
    ([(1, 1), (2, 2), (4, 4)], ["R4", "R5", "R6"]),
    ([(12, 4), (8, 8)], ["R4", "R8"]),
    ([(4, 4), (16, 16), (8, 8), (4, 4)], ["R4", "R8", "R6", "R5"]),
    ([(4, 4), (8, 4), (8, 8), (4, 4)], ["R4", "R5", "R8", "R7"]),
    ([(4, 4), (12, 1), (8, 8), (4, 4)], ["R4", "R5", "R8", "R10"]),
    ([(4, 4), (5, 1), (8, 8), (4, 4)], ["R4", "R5", "R8", "R7"]),
    ([(4, 4), (48, 4), (4, 4)], ["R4", "+0", "R5"]),
    ([(4, 4)] * 15, [*(f"R{n}" for n in range(4, 16)), "+0", "+4", "+8"]),
    ([(4, 4)] * 7 + [(32, 8), (8, 8), (4, 4)], [*(f"R{n}" for n in range(4, 11)), "+0", "R12", "R11"]),
    ([(4, 4)] * 12 + [(4, 4), (32, 16), (8, 8), (4, 4)], [*(f"R{n}" for n in range(4, 16)), "+0", "+16", "+48", "+56"]),
]


def named(word: int) -> str:
    return f"R{FIRST_ARGUMENT + word}" if word < ARGUMENTS else f"+{4 * (word - ARGUMENTS)}"


@pytest.mark.parametrize(("arguments", "where"), OBSERVED)
def test_as_observed(arguments: list[tuple[int, int]], where: list[str]) -> None:
    found, _ = places([Shape(size, align, False) for size, align in arguments])
    assert [named(word) for word in found] == where


@given(st.lists(st.tuples(st.integers(1, 80), st.sampled_from([1, 2, 4, 8, 16])), max_size=20))
def test_no_two_arguments_share_a_word(arguments: list[tuple[int, int]]) -> None:
    found, end = places([Shape(size, align, False) for size, align in arguments])
    taken: set[int] = set()
    for first, (size, align) in zip(found, arguments, strict=True):
        words = set(range(first, first + -(-size // 4)))
        assert not words & taken and max(words) < end
        assert words <= set(range(ARGUMENTS)) or min(words) >= ARGUMENTS
        assert (4 * first if first < ARGUMENTS else 4 * (first - ARGUMENTS)) % min(align, 16) == 0
        taken |= words


def test_who_is_reached() -> None:
    calls = {1: {2}, 2: {3}, 3: {2}, 4: {1, 9}}
    assert reached(1, calls) == {2, 3} and reached(2, calls) == {2, 3} and reached(4, calls) == {1, 2, 3, 9}
