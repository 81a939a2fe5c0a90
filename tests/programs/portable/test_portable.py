"""Whole programs for every target, at few registers and at many: right, without hazards, nothing read that was not written."""

from __future__ import annotations

import re
from pathlib import Path

import oric
import pytest
from oric.sass.instruction import disassemble
from oric.support import elf

from tests.cubin.loader_facts import ptxas_image
from tests.e2e.conftest import ptxas  # noqa: F401
from tests.programs.measure import judge
from tests.programs.portable.case import TARGETS, module, programs
from tests.programs.portable.measure import WAYS, problem

NAMES = sorted(programs())
LEAST = 90


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", NAMES)
def test_each_in_one_way(name: str) -> None:
    """Over all programs every target and way has its turn."""
    turn, targets = NAMES.index(name), programs()[name].targets
    assert problem(name, targets[turn % len(targets)], *WAYS[turn % len(WAYS)]) == ""


@pytest.mark.measure
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", NAMES)
def test_every_way(name: str, target: str) -> None:
    """Of the ways each second one; for the next target the others."""
    if target in programs()[name].targets:
        ways = WAYS[(NAMES.index(name) + TARGETS.index(target)) % 2 :: 2]
        assert [(way, found) for way in ways if (found := problem(name, target, *way))] == []


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", NAMES)
def test_ptxas_means_the_same(name: str, ptxas: str) -> None:  # noqa: F811
    turn, targets = NAMES.index(name), programs()[name].targets
    target = targets[turn % len(targets)]
    image = ptxas_image(ptxas, module(name, target), target)
    assert image is not None
    assert judge(programs()[name], image, checked=False)[0] == ""


def test_there_are_enough_and_no_text_without_launches() -> None:
    assert len(NAMES) >= LEAST
    sources = {entry.source for entry in programs().values()}
    assert {path.stem for path in Path(__file__).parent.glob("*.cu")} <= sources


def test_nothing_waits_in_memory_before_the_stack_is_aligned() -> None:
    """A function with few registers that aligns its stack: stores need the top of the stack, which is known then.

    The proof of the allocation sees it, and so does a walk over the code.
    """
    image = oric.compile(
        module("call_graph_11", "sm_120"), arch="sm_120", opt_level=3, maxrregcount=24, verify=True, relocatable=True
    ).image
    lines = list(disassemble(elf.read(image).functions["f4"].text, "sm_120"))
    aligned = next(i for i, line in enumerate(lines) if re.search(r"LOP3.LUT R1, R1, 0xfffffff0", line))
    stores = [line for line in lines[:aligned] if "STL" in line]
    assert stores and all("[R1" in line for line in stores)
