"""The worklist of operations that wait for a phase: what it visits, and that it keeps its place."""

from __future__ import annotations

import pytest
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function
from oric.ir.read import read
from oric.ir.worklist import Worklist
from oric.lower.expand import PASSES
from oric_tables import ops
from oric_tables.macros import EXPANSIONS

from .functions import context

TEXT = """entry test sm_90 final_flow
bix0:
    MOV R0, c[0x0][0x218]
    MOV R1, c[0x0][0x21c]
    UDIV R2, R0, R1
    ADD64 R3:2, R4:2, R5:2
    UREM R6, R0, R2
bix1:
    FSQRT R7, R0
    IADD3 R8, R7, R6, RZ
    UDIV R9, R8, R1
bix2:
    STG R3:2, 0x0, R9
    EXIT
"""
PHASE = EXPANSIONS["expand_control_flow"]
pytestmark = pytest.mark.row("R3-06")


def names(f: Function, waiting: Worklist) -> list[str]:
    """What is visited from here on."""
    found = []
    while (i := waiting.next()) != NONE:
        found.append(ops.op(f.op[i]).name)
    return found


def test_only_what_waits_for_the_phase_is_visited() -> None:
    f = read(TEXT)
    waiting = Worklist(f, PHASE)
    assert (len(waiting), names(f, waiting)) == (4, ["UDIV", "UREM", "FSQRT", "UDIV"])
    assert waiting.next() == NONE
    assert names(f, Worklist(f, EXPANSIONS["expand_sums"])) == ["ADD64"]
    assert len(Worklist(f, EXPANSIONS["expand_rest"])) == 0
    waiting.rewind()
    assert len(names(f, waiting)) == 4


@pytest.mark.parametrize("removed", [0, 1, 2, 3])
@pytest.mark.parametrize("visited", [1, 2, 3])
def test_removal_keeps_the_place(removed: int, visited: int) -> None:
    """The one at hand, one that is still to come, one that has been visited."""
    f = read(TEXT)
    waiting = Worklist(f, PHASE)
    order = [waiting.next() for _ in range(4)]
    waiting.rewind()
    assert [waiting.next() for _ in range(visited)] == order[:visited]
    Cursor(f).remove(order[removed])
    rest = []
    while (i := waiting.next()) != NONE:
        rest.append(i)
    assert rest == [i for i in order[visited:] if i != order[removed]]


def test_what_moves_is_visited_once() -> None:
    f = read(TEXT)
    waiting = Worklist(f, PHASE)
    order = [waiting.next() for _ in range(4)]
    waiting.rewind()
    waiting.next()
    cursor = Cursor(f)
    cursor.remove(order[1])
    cursor.at_end(1)
    cursor.link(order[1])
    assert [waiting.next() for _ in range(4)] == [*order[1:], NONE]


def test_phases_visit_what_waits_for_them() -> None:
    """Each expansion takes its own operations out of the code and leaves the others."""
    f = read(TEXT)
    assert PASSES["expand_control_flow"](f, context())
    assert len(Worklist(f, PHASE)) == 0
    assert names(f, Worklist(f, EXPANSIONS["expand_sums"])) == ["ADD64"]
    assert not PASSES["expand_control_flow"](f, context())
