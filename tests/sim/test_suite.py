"""The kernels of tests/sim/suite: right on every target, in every mode, and without a report on any."""

from __future__ import annotations

from importlib import import_module

import pytest
from oric.sim import Modes

from .suite.case import ENTRIES, HERE, TARGETS, module

for source in sorted(HERE.glob("*.cu")):
    import_module(f"{__package__}.suite.{source.stem}")

FAST, STRICT, MEMCHECK = Modes(), Modes(strict=True), Modes(memcheck=True)
WORDS = {"fast": FAST, "strict": STRICT, "memcheck": MEMCHECK}
EVERYWHERE = [(name, target) for name, entry in ENTRIES.items() for target in entry.targets]
LATE = {name: entry.targets[-1] for name, entry in ENTRIES.items()}


def judge(name: str, target: str, modes: Modes) -> None:
    entry = ENTRIES[name]
    case, loaded = entry.case(), module(entry.source, target)
    done = case.launch(loaded, name, modes)
    found = [str(r) for r in done.reports]
    assert not found, "\n".join(found[:8])
    case.judge(loaded)


@pytest.mark.parametrize(("name", "target"), EVERYWHERE)
def test_right(name: str, target: str) -> None:
    judge(name, target, FAST)


@pytest.mark.parametrize("name", ENTRIES)
@pytest.mark.parametrize("place", [0, -2])
def test_without_hazard(name: str, place: int) -> None:
    targets = ENTRIES[name].targets
    judge(name, targets[max(place, -len(targets))], STRICT)


@pytest.mark.parametrize("name", ENTRIES)
def test_without_memory_fault(name: str) -> None:
    judge(name, ENTRIES[name].targets[-1], MEMCHECK)


@pytest.mark.measure
@pytest.mark.parametrize("mode", ["strict", "memcheck"])
@pytest.mark.parametrize(("name", "target"), EVERYWHERE)
def test_every_mode_on_every_target(name: str, target: str, mode: str) -> None:
    judge(name, target, WORDS[mode])


def test_the_suite_is_large() -> None:
    assert len(ENTRIES) >= 80
    assert set(TARGETS) == {t for entry in ENTRIES.values() for t in entry.targets}
