"""Campaigns of random inputs with stored seeds, and samples of long lists: a part in `make test`, the rest in `make measure`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest


def seeds(count: int, first: int) -> list[Any]:
    """``range(count)`` for ``parametrize``; those from ``first`` on are marked `measure`."""
    return [*range(first), *(pytest.param(seed, marks=pytest.mark.measure) for seed in range(first, count))]


def leave_to_measure(items: Iterable[pytest.Item]) -> None:
    """Mark `measure` the cases of tests marked `sampled(n)` but for one in n.

    Of each n in a row the next place is taken, so that no value of a second parameter is left out throughout.
    """
    seen: Counter[str] = Counter()
    for item in items:
        mark = item.get_closest_marker("sampled")
        if mark is not None and item.get_closest_marker("measure") is None:
            test = item.nodeid.partition("[")[0]
            row, place = divmod(seen[test], mark.args[0])
            seen[test] += 1
            if place != row % mark.args[0]:
                item.add_marker(pytest.mark.measure)
