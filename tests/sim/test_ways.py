"""What warps executed, and what hazards lie on the ways of their threads: small programs whose right answer is plain."""

from __future__ import annotations

import numpy as np
import oric.sim
import pytest
from oric.sim.modes import Modes
from oric_tables._native import lib

from tests.sim.program import SM_90
from tests.sim.test_strict import load, op, text
from tests.sim.vendor_cubins import module
from tests.sim.ways import Finding, Ways

R, P = lib.ORIC_FILE_R, lib.ORIC_FILE_P
RAW, WAIT = lib.ORIC_H_RAW, lib.ORIC_H_RAW_WAIT
# 0 to 4: a load without a wait behind it, unless the branch at 1 leads past the wait at 2.
BODY = [load("R8", write=1, read=2), op("BRA", 16, guard="P0", wait=0), op("NOP", wait=1 << 1), op("NOP", wait=0),
        op("IADD3", "R9", "R8", "R8", "RZ", wait=0, guard="P1")]  # fmt: skip
LATE = Finding(WAIT, 0, 4, R, 8)
THROUGH = [1, 2, 5, 7, 9]  # what a thread executes: twice the number, and one when the guard holds
PAST = [1, 3, 7, 9]


def met(way: list[int], finding: Finding, body: list[object] = BODY) -> bool:
    return Ways([np.array(way, np.int64)]).met(SM_90, text(SM_90, body), finding)  # type: ignore[arg-type]


def test_a_hazard_lies_on_one_way_and_not_on_the_other() -> None:
    assert met(PAST, LATE)
    assert not met(THROUGH, LATE)


@pytest.mark.parametrize(
    "way", [[1, 3, 7, 8], [0, 3, 7, 9], [3, 7, 9], [9, 1, 3, 7], [1, -2, 9]],
    ids=["second off", "first off", "no first", "other order", "elsewhere"],
)  # fmt: skip
def test_both_instructions_have_to_execute_in_order(way: list[int]) -> None:
    assert not met(way, LATE)


def test_a_guard_is_read_where_it_is_off() -> None:
    body = [op("ISETP", "P1", "R0", 16, cmp="GE", sign="U32", stall=1), op("MOV", "R8", 2, guard="P1")]
    assert met([1, 2], Finding(RAW, 0, 1, P, 1), body)
    assert not met([1, 2], Finding(RAW, 0, 1, R, 8), body)


def test_steps_are_what_the_statistics_count() -> None:
    loaded: oric.sim.Module = module("clock", "sm_90")
    x, y = np.arange(80, dtype=np.float32), np.zeros(80, np.float32)
    done = loaded.launch("sine", 2, 40, [x, y, 80], modes=Modes(steps=True))
    steps = done.steps
    assert steps is not None
    assert len(steps) == done.warp_instructions
    assert sum(int(n).bit_count() for n in steps["executed"]) == done.thread_instructions
    assert not (steps["executed"] & ~steps["active"]).any()
    assert {(int(s["cta"]), int(s["warp"])) for s in steps} == {(c, w) for c in range(2) for w in range(2)}
    assert {int(n) for n in steps["active"][steps["warp"] == 1]} <= set(range(256))  # eight threads
    assert int(steps["pc"].min()) == loaded.image.code["sine"]
    assert loaded.launch("sine", 2, 40, [x, y, 80]).steps is None


def test_a_scoreboard_is_used_where_the_guard_is_off() -> None:
    body = [load("R8", write=1, read=2, guard="P0", stall=1), op("NOP", wait=1 << 1)]
    assert met([0, 3], Finding(lib.ORIC_H_SETTLE, 0, 1, 0, 1), body)
