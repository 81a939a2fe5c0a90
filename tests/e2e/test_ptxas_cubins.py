"""Cubins that ptxas 13.0 made, run in the simulator, give what numpy gives: decoder and semantics, none of our compiler."""

from __future__ import annotations

import oric
import pytest

from tests.kernels import cases


@pytest.mark.parametrize("target", cases.TARGETS)
@pytest.mark.parametrize("case", cases.CASES, ids=lambda c: c.id)
def test_golden_cubin(case: cases.Case, target: str) -> None:
    module = oric.sim.load(cases.golden_cubin(case.file, target))
    for step in case.build():
        module.launch(step.kernel, grid=step.grid, block=step.block, args=step.args)
        step.check()
