"""The kernels of tests/sim/suite: right on every target, in every mode, and without a report on any."""

from __future__ import annotations

from importlib import import_module

import pytest
from oric.sim import Modes

from .suite.case import ENTRIES, HERE, TARGETS, cubin_path, module

for source in sorted(HERE.glob("*.cu")):
    import_module(f"{__package__}.suite.{source.stem}")

FAST, STRICT, MEMCHECK = Modes(), Modes(strict=True), Modes(memcheck=True)
WORDS = {"fast": FAST, "strict": STRICT, "memcheck": MEMCHECK}
EVERYWHERE = [(name, target) for name, entry in ENTRIES.items() for target in entry.targets]
LEVELS = [
    (name, target, level)
    for name, target in EVERYWHERE
    for level in ("O0", "O1", "G")
    if cubin_path(ENTRIES[name].source, target, level).exists()
]
FEW = ("quicksort", "virtual_functions", "module_variables", "group_tiles", "linked_lists", "block_radix_sort")


def judge(name: str, target: str, modes: Modes, level: str = "") -> None:
    entry = ENTRIES[name]
    case, loaded = entry.case(), module(entry.source, target, level)
    if case.fault:
        with pytest.raises(case.fault[0], match=case.fault[1]) as stopped:
            case.launch(loaded, name, modes)
        reports, printed = stopped.value.reports, stopped.value.printed
    else:
        done = case.launch(loaded, name, modes)
        reports, printed = done.reports, done.printed
    assert not reports, "\n".join(str(r) for r in reports[:8])
    assert printed == case.printed
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


@pytest.mark.parametrize(("name", "target", "level"), [row for row in LEVELS if row[0] in FEW])
def test_low_levels_and_code_for_the_debugger(name: str, target: str, level: str) -> None:
    """Other code for the same sources: every variable in local memory, calls between sections, no scheduling."""
    judge(name, target, STRICT, level)


@pytest.mark.measure
@pytest.mark.parametrize("mode", WORDS)
@pytest.mark.parametrize(("name", "target", "level"), LEVELS)
def test_every_mode_on_every_level(name: str, target: str, level: str, mode: str) -> None:
    judge(name, target, WORDS[mode], level)


def test_the_suite_is_large() -> None:
    assert len(ENTRIES) >= 80
    assert set(TARGETS) == {t for entry in ENTRIES.values() for t in entry.targets}
