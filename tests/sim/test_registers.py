"""Registers that warp groups give to each other."""

from __future__ import annotations

import numpy as np
import oric.sim
import pytest
from oric.sim import Modes

from tests.sim.vendor_cubins import module

targets = pytest.mark.parametrize("target", ["sm_90a", "sm_100a", "sm_120a"])


@targets
@pytest.mark.parametrize(
    "modes", [Modes(strict=True), Modes(memcheck=True), Modes(timing=True)], ids=["strict", "memcheck", "timing"]
)
def test_more_registers_than_a_warp_starts_with(target: str, modes: Modes) -> None:
    """The consumers have 200 values each; all numbers are small fractions, so that sums are exact."""
    x = np.random.default_rng(7).integers(-8, 9, (200, 128)).astype(np.float32)
    out = np.zeros(384, np.float32)
    stats = module("registers", target).launch("specialised", 1, 384, [x, out, 2], modes=modes)
    values = x.copy()
    for _ in range(2):
        for i in range(200):
            values[i] = values[i] * np.float32(0.5) + values[199 - i]
    want = (values * (np.arange(200) % 3)[:, None].astype(np.float32)).sum(axis=0) + 3 * x[0]
    assert (out[:128] == 1).all()
    assert (out[128:256] == want).all()
    assert (out[256:] == want).all()
    assert stats.reports == ()


@targets
def test_registers_that_nobody_gives(target: str) -> None:
    with pytest.raises(oric.sim.StepLimit):
        module("registers", target).launch("greedy", 1, 384, [np.zeros(384, np.float32)], max_steps=2000)
