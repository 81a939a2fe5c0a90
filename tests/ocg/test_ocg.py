"""Calls of intrinsics beside the stored answers of ptxas: of legal calls the instructions, of others the first message."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import oric
import pytest
from oric.lower.intrinsics import UnknownIntrinsic, resolve
from oric.sass.check import check_cubin
from oric.support.elf import read
from oric.support.ocg_source import PREFIX, module
from oricgen.spec import Spec

from . import store
from .answer import of_ours
from .comparison import ASTRAY, CRASHED, SAME, verdict
from .enumeration import Item

SPEC = Spec(Path(__file__).resolve().parents[2] / "spec")
PARTS = 24
KNOWN = Path(__file__).with_name("differences.txt")
Answer = tuple[Item, str]


def operation(item: Item) -> str:
    """The operation of a call; "" for a name of none."""
    try:
        return resolve(PREFIX + item.call).operation
    except UnknownIntrinsic:
        return ""


def known() -> dict[tuple[str, str], str]:
    """(verdict, operation) -> why ours differs there, from the list of differences."""
    found = {}
    for line in KNOWN.read_text().splitlines():
        if line and not line.startswith("#"):
            kind, name, why = line.split("\t")
            found[kind, name] = why
    return found


def unlike(answers: list[Answer]) -> Iterator[tuple[str, Item, str, str]]:
    """What differs: how, the call, ptxas's answer and ours."""
    for item, theirs in answers:
        ours = of_ours(*item)
        kind = verdict(SPEC, item.target, item.call, theirs, ours)
        if kind != SAME:
            yield kind, item, theirs, ours


def part(answers: list[Answer], number: int) -> list[Answer]:
    return [pair for pair in answers if zlib.crc32(repr(pair[0]).encode()) % PARTS == number]


def check(answers: list[Answer], name: str) -> None:
    """All that differs is known; few where ptxas does what the call says."""
    reasons = known()
    found = list(unlike(answers))
    unknown = [row for row in found if row[0] not in (ASTRAY, CRASHED) and (row[0], operation(row[1])) not in reasons]
    assert not unknown, "\n".join(map(str, unknown[:20]))
    judged = len(answers) - sum(kind in (ASTRAY, CRASHED) for kind, *_ in found)
    differ = Counter(kind for kind, *_ in found if kind not in (ASTRAY, CRASHED))
    assert sum(differ.values()) <= 0.01 * judged + 3, (name, judged, differ)


SAMPLED = [pytest.param(n, marks=[pytest.mark.measure] * (n > 0)) for n in range(PARTS)]


@pytest.mark.parametrize("number", SAMPLED)
def test_legal_calls(number: int) -> None:
    check(part(store.stored(store.LEGAL), number), store.LEGAL)


@pytest.mark.parametrize("number", SAMPLED)
def test_refused_calls(number: int) -> None:
    check(part(store.stored(store.BROKEN), number), store.BROKEN)


@pytest.mark.parametrize("number", SAMPLED)
def test_code_is_clean(number: int) -> None:
    """The verifier has nothing to say after any phase, and the hazard checker nothing of the machine code."""
    clean = 0
    for item, _ in part(store.stored(store.LEGAL), number)[:: 1 if number else 8]:
        try:
            made = oric.compile(module([(item.call, item.params)], item.target, item.variables), item.target, verify=True)
        except oric.CompileError:
            continue
        assert not check_cubin(read(made.image)).findings, item
        clean += 1
    assert clean


@pytest.mark.measure
@pytest.mark.parametrize("number", range(PARTS // 6))
def test_broken_calls_that_ptxas_takes(number: int) -> None:
    """Whatever comes of them here, it is code or a message."""
    for item, _ in store.stored(store.STRANGE)[number :: PARTS // 6]:
        assert of_ours(*item)


def test_there_are_enough() -> None:
    assert len(store.stored(store.LEGAL)) >= 20_000
    assert len(store.stored(store.BROKEN)) >= 10_000
