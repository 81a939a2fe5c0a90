"""Delta debugging on lists of numbers."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from oric.reduce.chunks import drop_chunks


def reduced(items: list[int], needed: set[int], ahead: int) -> tuple[list[int], int]:
    """What is left of a list of which some items are needed together, and how often it was asked."""
    left = list(items)
    asked = 0

    def keep(edits: Sequence[tuple[int, int]]) -> int | None:
        nonlocal asked
        for number, (start, end) in enumerate(edits):
            asked += 1
            made = left[:start] + left[end:]
            if needed <= set(made):
                left[:] = made
                return number
        return None

    drop_chunks(len(left), lambda size: [(at, min(at + size, len(left))) for at in range(0, len(left), size)], keep, ahead)
    return left, asked


@pytest.mark.parametrize("seed", range(20))
def test_what_is_needed_is_left(seed: int) -> None:
    """Nothing else, in order, however many are tried at a time; few questions when few are needed."""
    rng = random.Random(seed)
    items = list(range(rng.randint(1, 400)))
    needed = set(rng.sample(items, min(len(items), rng.choice([0, 1, 3, 10]))))
    results = [reduced(items, needed, ahead) for ahead in (1, 2, 7)]
    assert all(left == sorted(needed) for left, _ in results)
    assert results[0][1] <= 40 + 60 * (len(needed) + 1)


def test_nothing() -> None:
    assert reduced([], set(), 1) == ([], 0)
