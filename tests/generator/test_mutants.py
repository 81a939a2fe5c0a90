"""Mistakes planted by a machine in every column of the specification: all are refused with file, line, row and reason."""

from __future__ import annotations

import random
from functools import cache

import pytest

from tests.generator import mutants
from tests.generator.mutants import Mutant

SEED = 20
SHARE = 20  # one of so many is tried where all of them take too long
PARTS = 24  # of the whole set: each may run in a process of its own
LEAST = 8000


@cache
def planted() -> list[Mutant]:
    """All of them, in an order of chance."""
    found = mutants.all_mutants()
    random.Random(SEED).shuffle(found)
    return found


def passing(tried: list[Mutant]) -> list[str]:
    """Those that are not refused as they should be, and why not."""
    return [f"{mutant.name}: {wrong}" for mutant in tried if (wrong := mutants.said(mutant))]


def test_there_are_enough() -> None:
    assert len(planted()) >= LEAST
    spec, _ = mutants.planted.sound()
    assert {mutant.file for mutant in planted()} == set(spec.schemas)


def test_free_columns_are_columns() -> None:
    known = {(spec.schemas[m.file], m.column) for spec in [mutants.planted.sound()[0]] for m in planted()}
    assert [
        f"{stem} {column}" for stem, columns in mutants.free().items() for column in columns if (stem, column) not in known
    ] == []


@pytest.mark.long
def test_a_sample_is_refused() -> None:
    assert passing(planted()[::SHARE]) == []


@pytest.mark.measure
@pytest.mark.parametrize("part", range(PARTS))
def test_all_are_refused(part: int) -> None:
    assert passing(planted()[part::PARTS]) == []
