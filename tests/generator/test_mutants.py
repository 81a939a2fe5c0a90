"""Mistakes planted by a machine in every column of the specification: all are refused with file, line, row and reason."""

from __future__ import annotations

import random
from functools import cache

import pytest
from oricgen import checking
from oricgen.errors import SpecError

from tests import specification
from tests.generator import mutants
from tests.generator.mutants import Mutant

SEED = 20
SHARE = 80  # one of so many is tried where all of them take too long
PARTS = 24  # of the whole set: each may run in a process of its own
MEASURED = 6  # of them
LEAST = 8000
MANY = 25  # files


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


@pytest.mark.long
def test_mistakes_of_many_files_are_told_in_one_run() -> None:
    """One in each of so many files; names are left out, since a file with mistakes hides what others say of its names."""
    chosen = {mutant.file: mutant for mutant in planted() if mutant.column and mutant.kind != "a name of nothing"}
    one_each = list(chosen.values())[:MANY]
    with pytest.raises(SpecError) as caught:
        checking.checked(specification.spec().edited({mutant.file: mutant.text for mutant in one_each}))
    assert {error.path for error in caught.value.all()} == {f"spec/{mutant.file}" for mutant in one_each}


@pytest.mark.measure
@pytest.mark.parametrize("part", range(MEASURED))
def test_many_are_refused(part: int) -> None:
    assert passing(planted()[part::PARTS]) == []
