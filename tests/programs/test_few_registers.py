"""Whole programs at -O3 with 32 registers a thread: clean code, right in the strict machine, and whatever approximations give."""

from __future__ import annotations

import re
import zlib
from functools import cache

import oric
import pytest
from oric.sass.check import check_cubin
from oric.sim import Modes
from oric.support import elf

from bench.programs import Key, keys, subject
from tests.programs.measure import MODES, judge_run

FEW = 32
PERTURBED = Modes(strict=True, memcheck=True, perturb=11)
# What the hardware does not promise exactly: what is written with one of these in it may be another number.
APPROXIMATE = re.compile(r"\.approx|\.full\b|\bw?g?mma|tcgen05|\btex\.")
PARTS = 16  # every second one is run by ``make measure``
SAMPLE = 60  # one of so many programs is tried in each run of the tests
NO_ROOM = re.compile(r"registers")


@cache
def chosen() -> list[Key]:
    """Each program on one of the targets, by its name."""
    found: dict[tuple[str, str], list[Key]] = {}
    for key in keys():
        found.setdefault(key[:2], []).append(key)
    return [some[zlib.crc32(repr(name).encode()) % len(some)] for name, some in found.items()]


def problem(key: Key) -> str:
    """What is wrong with a program; "" when nothing is, or when the compiler says that it has no room."""
    one = subject(key)
    try:
        image = oric.compile(one.text, arch=one.arch, opt_level=3, maxrregcount=FEW).image
    except oric.CompileError as error:
        return "" if NO_ROOM.search(str(error)) else str(error)
    if found := check_cubin(elf.read(image)).findings:
        return f"{len(found)} hazards: {found[0]}"
    modes = [MODES] if APPROXIMATE.search(one.text) else [MODES, PERTURBED]
    return next((f"{told} {mode}" for mode in modes if (told := judge_run(one.case(), one.kernel, image, mode))), "")


def test_a_sample_is_right() -> None:
    assert {key: told for key in chosen()[::SAMPLE] if (told := problem(key))} == {}


@pytest.mark.measure
@pytest.mark.parametrize("part", range(0, PARTS, 2))
def test_all_are_right(part: int) -> None:
    assert {key: told for key in chosen()[part::PARTS] if (told := problem(key))} == {}
