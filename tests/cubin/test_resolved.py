"""Relocations that are settled (--preserve-relocs): what is told of them, whether it is so, and what the code does."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import oric
import pytest
from oric.support.elf import Cubin, read

from tests.cubin import resolved_facts as rf
from tests.cubin.object_facts import for_target
from tests.e2e import call_programs, call_runs, object_programs

CASES = [(name, target, way) for name, _ in rf.texts() for target in rf.TARGETS for way in rf.WAYS]
LEVELS = (0, 1, 3)
PROGRAMS = call_programs.PROGRAMS | object_programs.PROGRAMS


@cache
def stored() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(rf.FILE.read_text())
    return found


def compiled(text: str, target: str, way: str, level: int = 3) -> bytes:
    return oric.compile(text, arch=target, opt_level=level, preserve_relocs=True, extensible=way == "extensible").image


def wrong(cubin: Cubin) -> list[tuple[Any, ...]]:
    """Entries of code whose places do not hold what they tell. Shared variables of several kernels have no one place."""
    out: list[tuple[Any, ...]] = []
    for section, place, kind, symbol, addend in rf.entries(cubin):
        home = cubin.sections[symbol.section].name
        if not section.name.startswith(".text.") or home == ".nv_debug.shared":
            continue
        word = int.from_bytes(section.data[place : place + kind.size], "little")
        value = done = 0
        for first, count in kind.bits:
            value |= (word >> first & (1 << count) - 1) << done
            done += count
        if value << kind.shift != symbol.value + addend:
            out.append((section.name, place, kind.name, symbol.name, addend, value << kind.shift))
        bank = f".nv.constant{word >> kind.bank & 31}"
        if kind.bank and home != bank:
            out.append((section.name, place, kind.name, symbol.name, bank))
    return out


@pytest.mark.parametrize(("name", "target", "way"), CASES)
def test_as_ptxas_has_it(name: str, target: str, way: str) -> None:
    text = for_target(dict(rf.texts())[name], target)
    for level in LEVELS:
        image = compiled(text, target, way, level)
        assert json.loads(json.dumps(rf.facts(image))) == stored()[f"{name} {target} {way}"], level
        assert wrong(read(image)) == []


@pytest.mark.parametrize("way", rf.WAYS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_do_what_they_did(name: str, way: str) -> None:
    program = PROGRAMS[name]
    for turn, target in enumerate(rf.TARGETS, list(PROGRAMS).index(name)):
        image = compiled(call_runs.text(program, target), target, way, LEVELS[turn % len(LEVELS)])
        assert call_runs.launch(image, stack_bytes=1 << 16) == (call_runs.wanted(program), []), target
        assert wrong(read(image)) == [], target


@pytest.mark.parametrize("target", ["sm_90", "sm_100", "sm_120"])
def test_other_targets_have_none(target: str) -> None:
    text = for_target(dict(rf.texts())["variables"], target)
    assert compiled(text, target, "whole") == oric.compile(text, arch=target).image


def test_objects_have_none() -> None:
    text = dict(rf.texts())["variables"]
    plain = oric.compile(text, arch="sm_75", relocatable=True).image
    assert oric.compile(text, arch="sm_75", relocatable=True, preserve_relocs=True).image == plain
