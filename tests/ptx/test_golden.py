"""The parser against what ptxas said of thousands of instructions, and that against ptxas again where there is one.

What differs is listed in docs/deviations.md, in the table under HEADING: a pattern (`...` stands for anything), who refuses, why.
"""

import re
import shutil
from functools import cache
from pathlib import Path

import pytest

from tests.ptx import golden
from tests.ptx.signature_examples import examples

DEVIATIONS = Path(__file__).parents[2] / "docs/deviations.md"
HEADING = "## Instructions that ptxas judges otherwise"
REFUSER = {"ptxas": False, "Oric": True}


@cache
def answers():
    return golden.load()


@cache
def listed():
    """(pattern, ptxas accepts, text of the pattern) of each row of the table."""
    section = DEVIATIONS.read_text(encoding="utf-8").split(HEADING)[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([^`]+)` \| (ptxas|Oric) \|", section, re.MULTILINE)
    return [(re.compile(".*".join(map(re.escape, text.split("...")))), REFUSER[who], text) for text, who in rows]


@cache
def differing():
    return golden.disagreements(answers())


def rows_for(answer):
    return [text for pattern, accepted, text in listed() if accepted == answer.accepted and pattern.fullmatch(answer.text)]


def test_there_are_thousands_of_both():
    assert sum(a.accepted for a in answers()) >= 6000
    assert sum(not a.accepted for a in answers()) >= 6000
    assert golden.FILE.stat().st_size < 1_000_000


def test_every_form_is_asked_about():
    asked = {a.text for a in answers()}
    covered, known = set(), set()
    for example in examples():
        known.add((example.name, example.form))
        if example.text in asked:
            covered.add((example.name, example.form))
    missing = sorted(known - covered)
    assert not missing, f"{golden.FILE.name} is older than the signatures, run {golden.COMMAND} (needs ptxas): {missing[:10]}"


def test_the_parser_agrees():
    assert len(differing()) <= 0.005 * len(answers())


def test_what_differs_is_listed():
    unlisted = [
        f"{a.place.target} {a.place.version}: {a.text}: {why or 'ptxas refuses'}" for a, why in differing() if not rows_for(a)
    ]
    assert not unlisted, f"not in {DEVIATIONS.name} ({HEADING[3:]}):\n" + "\n".join(unlisted[:40])


def test_what_is_listed_differs():
    used = {text for a, _ in differing() for text in rows_for(a)}
    assert not [text for _, _, text in listed() if text not in used], f"these agree now: take them out of {DEVIATIONS.name}"


@pytest.mark.measure
def test_ptxas_says_it_again():
    if shutil.which("ptxas") is None:
        pytest.skip("NOT CHECKED: there is no ptxas on PATH, the stored answers were not asked for again")
    stored = answers()
    again = golden.ask({place: [a.text for a in found] for place, found in golden.by_place(stored).items()})
    assert [a for a, b in zip(stored, again, strict=True) if a != b] == []
