"""The parser against what ptxas said of thousands of instructions, and that against ptxas again where there is one."""

import shutil
from functools import cache

import pytest

from tests.ptx import golden


@cache
def answers():
    return golden.load()


def test_there_are_thousands_of_both():
    assert sum(a.accepted for a in answers()) >= 6000
    assert sum(not a.accepted for a in answers()) >= 6000
    assert golden.FILE.stat().st_size < 1_000_000


def test_the_parser_agrees():
    differing = golden.disagreements(answers())
    shown = [f"{a.place.target} {a.place.version}: {a.text}: {why or 'ptxas refuses'}" for a, why in differing[:40]]
    assert len(differing) <= 0.005 * len(answers()), "\n".join([f"{len(differing)} of {len(answers())}:", *shown])


@pytest.mark.measure
def test_ptxas_says_it_again():
    if shutil.which("ptxas") is None:
        pytest.skip("NOT CHECKED: there is no ptxas on PATH, the stored answers were not asked for again")
    stored = answers()
    again = golden.ask({place: [a.text for a in found] for place, found in golden.by_place(stored).items()})
    assert [a for a, b in zip(stored, again, strict=True) if a != b] == []
