"""Campaigns of random inputs with stored seeds: the first of them in `make test`, all others in `make measure`."""

from __future__ import annotations

from typing import Any

import pytest


def seeds(count: int, first: int) -> list[Any]:
    """``range(count)`` for ``parametrize``; those from ``first`` on are marked `measure`."""
    return [*range(first), *(pytest.param(seed, marks=pytest.mark.measure) for seed in range(first, count))]
