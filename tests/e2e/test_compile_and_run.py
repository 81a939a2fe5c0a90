"""The test kernels, compiled by Oric from nvcc's PTX, run in the simulator and give what numpy gives."""

from __future__ import annotations

from functools import cache

import oric
import pytest
from oric.sass.check import check_cubin
from oric.sim import Modes
from oric.support.elf import read

from tests.kernels import cases

pytestmark = pytest.mark.memcheck
MODES = (Modes(), Modes(strict=True), Modes(memcheck=True), Modes(strict=True, memcheck=True))


@cache
def image(file: str, target: str, level: int) -> bytes:
    """The cubin of a kernel file; the verifier runs after every phase."""
    return oric.compile(cases.ptx(file, target), arch=target, opt_level=level, verify=True).image


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("target", cases.TARGETS)
@pytest.mark.parametrize("case", cases.CASES, ids=lambda c: c.id)
def test_compiled_kernel(case: cases.Case, target: str, level: int) -> None:
    run(case, image(case.file, target, level), Modes())


def run(case: cases.Case, made: bytes, modes: Modes) -> None:
    """The launches of a case on a fresh module: nothing is reported, and the buffers hold what they should."""
    module = oric.sim.load(made)
    for step in case.build():
        done = module.launch(step.kernel, grid=step.grid, block=step.block, args=step.args, modes=modes)
        assert [str(r) for r in done.reports] == []
        step.check()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", cases.EACH_MODEL)
@pytest.mark.parametrize("file", cases.files())
def test_kernels_on_every_other_target(file: str, target: str) -> None:
    """The last case of every kernel of a file at -O3: the schedule is proved, and judged as it runs."""
    made = image(file, target, 3)
    assert [str(finding) for finding in check_cubin(read(made)).findings] == []
    last = {case.build()[0].kernel: case for case in cases.CASES if case.file == file}
    for case in last.values():
        run(case, made, MODES[-1])


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("file", cases.files())
def test_levels_between(file: str, level: int) -> None:
    """The last case of every kernel of a file at -O1 and -O2."""
    last = {case.build()[0].kernel: case for case in cases.CASES if case.file == file}
    for case in last.values():
        test_compiled_kernel(case, "sm_90", level)


@pytest.mark.measure
@pytest.mark.parametrize("level", range(4))
@pytest.mark.parametrize("target", [*cases.TARGETS, *cases.OTHERS])
@pytest.mark.parametrize("case", cases.CASES, ids=lambda c: c.id)
def test_every_level_in_every_mode(case: cases.Case, target: str, level: int) -> None:
    made = image(case.file, target, level)
    assert [str(finding) for finding in check_cubin(read(made)).findings] == []
    for modes in MODES if target in cases.TARGETS else MODES[-1:]:
        run(case, made, modes)


@pytest.mark.parametrize("file", cases.files())
def test_check_sees_wrong_results(file: str) -> None:
    """The judge itself: unchanged buffers do not pass for right results."""
    case = next(c for c in cases.CASES if c.file == file)
    with pytest.raises(AssertionError, match="expected"):
        for step in case.build():
            step.check()


def test_cases_are_deterministic() -> None:
    for case in cases.CASES:
        for one, two in zip(case.build(), case.build(), strict=True):
            assert repr(one.before) == repr(two.before)
            assert repr(one.expected) == repr(two.expected)
