"""Blocks that take over the work of blocks that have not begun."""

from __future__ import annotations

import numpy as np
import pytest
from oric.sim import Modes

from tests.sim import vendor_cubins

targets = pytest.mark.parametrize("target", ["sm_100a", "sm_120a"])
MODES = [Modes(), Modes(workers=3), Modes(strict=True), Modes(memcheck=True)]
THREADS = 64


@targets
@pytest.mark.parametrize("modes", MODES)
def test_every_block_is_done_once(target: str, modes: Modes) -> None:
    """The first block finds all others unbegun and does their work."""
    grid = (5, 3, 2)
    out, taken = np.zeros(30, np.int32), np.zeros(30, np.int32)
    done = vendor_cubins.module("work", target).launch("steal", grid, THREADS, [out, taken], modes=modes)
    doers = out // THREADS - 1
    assert (out % THREADS == 0).all()
    assert (np.bincount(doers, minlength=30) == taken).all()
    assert taken.sum() == 30
    assert done.ctas == np.count_nonzero(taken) == 1
    assert not done.reports


@targets
@pytest.mark.parametrize("modes", MODES)
def test_clusters_get_the_answer_in_every_block(target: str, modes: Modes) -> None:
    out, taken = np.zeros(12, np.int32), np.zeros(12, np.int32)
    done = vendor_cubins.module("work", target).launch("steal_pairs", 12, THREADS, [out, taken], modes=modes, cluster=2)
    assert (out == THREADS * np.tile([1, 2], 6)).all()
    assert taken.tolist() == [6, 6] + [0] * 10
    assert done.ctas == 2
    assert not done.reports
