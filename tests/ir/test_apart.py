"""Stretches of code in which threads of a warp may be apart."""

from __future__ import annotations

from oric.ir.apart import stretches_apart
from oric.ir.read import read

HEAD = "entry test sm_90 final_flow\n    reg R1 P2\n"
BRANCHES = """bix0:
    ISETP{cmp=NE} P2, R1, RZ
bix1:
    BSSY B0, bix5
    @P2 BRA bix3
bix2:
    MOV R1, 0x1
    BRA bix4
bix3:
    MOV R1, 0x2
bix4:
    BSYNC B0
bix5:
    MOV R1, 0x3
"""
NEXT = """bix6:
    BSSY B0, bix9
    @P2 BRA bix8
bix7:
    MOV R1, 0x4
bix8:
    BSYNC B0
bix9:
    EXIT
"""


def stretches(text: str) -> list[int]:
    return list(stretches_apart(read(HEAD + text)))


def test_between_a_branch_and_where_its_threads_meet() -> None:
    assert stretches(BRANCHES + "    EXIT\n") == [0, 1, 1, 1, 1, 0]
    assert stretches(BRANCHES + NEXT) == [0, 1, 1, 1, 1, 0, 2, 2, 2, 0]


def test_code_that_stands_further_down() -> None:
    """What one way does stands behind the next branch: it may be done at a time with nothing of that, but lies in its stretch."""
    moved = BRANCHES.replace("bix2:\n    MOV R1, 0x1\n", "bix2:\n") + NEXT.replace(
        "    EXIT\n", "    EXIT\nbix10:\n    BRA bix2\n"
    )
    assert stretches(moved.replace("@P2 BRA bix3", "@P2 BRA bix10")) == [0, *[1] * 10]


def test_what_a_way_out_leads_to() -> None:
    """Who leaves with a BREAK is apart from the others further on."""
    text = BRANCHES.replace("    MOV R1, 0x2\n", "    @P2 BREAK B0\n    @P2 BRA bix5\n")
    assert stretches(text + NEXT) == [0, 1, 1, 1, 1, 0, 2, 2, 2, 0]
    text = BRANCHES.replace("    MOV R1, 0x2\n", "    @P2 BREAK B0\n    @P2 BRA bix7\n")
    assert stretches(text + NEXT) == [0, *[1] * 9]


def test_who_never_meet() -> None:
    f = read(HEAD + BRANCHES + "    EXIT\n")
    f.attributes.parts_for_good = True
    assert list(stretches_apart(f)) == [1] * 6
    assert stretches(BRANCHES + "    BMOV.B B0, R1\n    EXIT\n") == [1] * 6


def test_without_barriers() -> None:
    assert stretches("bix0:\n    EXIT\n") == [0]
