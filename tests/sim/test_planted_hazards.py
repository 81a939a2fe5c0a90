"""Strict mode and ptxas-made kernels: nothing is reported in them, and hazards planted in them are, if a thread comes to them."""

from __future__ import annotations

import pytest
from oric.sim.modes import Modes
from oric.sim.reports import Kind
from oric.support import elf

from tests.corpus import golden, mutants, targets
from tests.kernels import cases
from tests.sim import corpus_launches, hazards

CORPUS = {"sm_75": 6, "sm_100a": 20, "sm_120a": 20}  # every so many modules
EACH_MODEL = [members[-1] for members in targets.MODELS.values()]  # a target of each table of latencies


def kernels(target: str) -> list[hazards.Kernel]:
    out = []
    for file in cases.files():
        image = cases.golden_cubin(file, target)
        mine = [c for c in cases.CASES if c.file == file]
        for function in elf.read(image).functions.values():
            out.append(hazards.Kernel(target, image, function, lambda mine=mine: [s for c in mine for s in c.build()]))
    return out


@pytest.mark.parametrize("target", cases.TARGETS)
def test_planted_hazards_are_reported(target: str) -> None:
    result = hazards.measure(kernels(target), every=31)
    assert (result.missed, result.unexplained) == ([], [])
    assert sum(result.caught.values()) >= 90
    assert set(result.caught) == set(hazards.KINDS)


def corpus_kernels(target: str, every: int) -> list[hazards.Kernel]:
    """Kernels of the corpus that come to their end."""
    out = []
    for kernel in corpus_launches.kernels(target, every):
        ends, found = kernel.run(Modes(strict=True))
        if ends and not found:
            function = kernel.function
            out.append(hazards.Kernel(target, kernel.image, function, lambda f=function: [corpus_launches.step(f)]))
    return out


@pytest.mark.parametrize("target", [pytest.param(t, marks=[pytest.mark.measure] * (t != "sm_120a")) for t in CORPUS])
def test_hazards_planted_in_the_corpus_are_reported(target: str) -> None:
    result = hazards.measure(corpus_kernels(target, CORPUS[target]), every=61)
    assert (result.missed, result.unexplained) == ([], [])
    assert sum(result.caught.values()) >= 35


@pytest.mark.parametrize("target", [*CORPUS, "sm_86", "sm_90a"])
def test_nothing_is_reported_in_the_corpus(target: str) -> None:
    assert reported(target, every=20) == []


def reported(target: str, every: int) -> list[str]:
    """Reports of kernels of the corpus. What its asynchronous copies do is a race: they have one place in memory."""
    found = [r for kernel in corpus_launches.kernels(target, every) for r in kernel.run(Modes(strict=True))[1]]
    return [str(r) for r in found if r.kind != Kind.ASYNC]


@pytest.mark.measure
@pytest.mark.parametrize("target", targets.TARGETS)
def test_nothing_is_reported_in_the_whole_corpus(target: str) -> None:
    assert reported(target, every=1) == []


@pytest.mark.measure
@pytest.mark.parametrize("target", EACH_MODEL)
def test_every_nth_hazard_planted_in_the_corpus_is_reported(target: str) -> None:
    result = hazards.measure(corpus_kernels(target, every=3), every=31)
    assert (result.missed, result.unexplained) == ([], [])
    assert sum(result.caught.values()) >= 50


@pytest.mark.measure
@pytest.mark.parametrize("target", EACH_MODEL)
def test_mutants_of_the_hazard_checker_are_reported(target: str) -> None:
    """Mutants that are unsafe in one stretch of code without branches, whatever the tables say: reported where it executes."""
    functions = mutants.Functions(target)
    images = [c.image for c in golden.cubins(functions.model) if c.target == target]
    seen: dict[tuple[int, str], hazards.Kernel | None] = {}
    caught, missed = 0, []
    for mutant in mutants.chosen({k: m for k, m in mutants.mutants(functions).items() if k != "shift"}, 800):
        key = (mutant.cubin, mutant.function)
        if key not in seen:
            seen[key] = _runnable(target, images[mutant.cubin], functions.cubins[mutant.cubin].functions[mutant.function])
        kernel = seen[key]
        if kernel is None or mutant.number not in kernel.ways.executed:
            continue
        if kernel.run(mutant.number, mutant.word).pairs:
            caught += 1
        else:
            missed.append(f"{mutant.kind} {mutant.function}+{mutant.number * hazards.BYTES:#x}: {mutant.why}")
    assert missed == []
    assert caught >= 75


def _runnable(target: str, image: bytes, function: elf.Function) -> hazards.Kernel | None:
    ends, found = corpus_launches.Kernel(target, image, function).run(Modes(strict=True)) if function.is_entry else (False, ())
    return hazards.Kernel(target, image, function, lambda: [corpus_launches.step(function)]) if ends and not found else None


@pytest.mark.measure
@pytest.mark.parametrize("target", cases.TARGETS)
def test_every_fourth_planted_hazard_is_reported(target: str) -> None:
    result = hazards.measure(kernels(target), every=4)
    assert (result.missed, result.unexplained) == ([], [])
    assert sum(result.caught.values()) >= 700
