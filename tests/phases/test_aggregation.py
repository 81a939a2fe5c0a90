"""Phase 30: one thread does the atomics of its warp, seen by the interpreter as a thread that runs by itself."""

from __future__ import annotations

import pytest
from oric.ir.text import write
from oric.phases.aggregation import aggregate_atomics

from tests.ir.functions import context
from tests.phases.ori import after, function

# R0: the thread, P501: whether it is below 7, P502: whether it is the third one; R8:2: an address of each; R12 = 1, R13 = -1.
HEAD = [
    "    S2R R0, SR33", "    ISETP{cmp=LT} P501, R0, 0x7", "    ISETP{cmp=EQ} P502, R0, 0x3", "    IMAD.WIDE R8:2, R0, 0x4, R2:2",
    "    MOV R12, 0x1", "    MOV R13, 0xffffffff", "    MOV R14.0, 0x5", "    MOV R14.1, RZ",
]  # fmt: skip
USE = "    STG R8:2, 0x40, R20"
# what there is -> the operations that vote, combine and pass on, in their order
APPLIED = {
    "one": (["    RED R2:2, 0x8, R12"], ["TOGETHER.COUNT"]),
    "nothing": (["    RED R2:2, 0x8, RZ"], ["TOGETHER"]),
    "a_number_of_the_warp": (["    RED R2:2, 0x8, R10"], ["TOGETHER.COUNT"]),
    "what_was_there_goes_on": (["    ATOMG R20, R2:2, 0x8, R12, _, PT", USE], ["TOGETHER.RANK", "FROM_LAST"]),
    "less_each_time": (["    ATOMG R20, R2:2, 0x8, R13, _, PT", USE], ["TOGETHER.RANK", "FROM_LAST"]),
    "a_look": (["    ATOMG R20, R2:2, 0x8, RZ, _, PT", USE], ["TOGETHER.LAST", "FROM_LAST"]),
    "nobody_wants_it": (["    ATOMG R20, R2:2, 0x8, R12, _, PT"], ["TOGETHER.COUNT"]),
    "a_guard": (["    @P501 RED R2:2, 0x8, R12"], ["TOGETHER.COUNT"]),
    "a_guard_and_a_result": (
        ["    MOV R20, RZ", "    @!P501 ATOMG R20, R2:2, 0x8, R10, _, PT", USE], ["TOGETHER.RANK", "FROM_LAST"],
    ),
    "different_operands": (["    RED R2:2, 0x8, R0"], ["TOGETHER", "COMBINED{op=SUM}"]),
    "different_operands_under_a_guard": (["    @P501 RED R2:2, 0x8, R0"], ["TOGETHER", "COMBINED{op=SUM}"]),
    "smallest": (["    RED{op=MIN type=S32} R2:2, 0x8, R0"], ["TOGETHER", "COMBINED{op=MIN sign=S32}"]),
    "smallest_of_one_number": (["    RED{op=MIN} R2:2, 0x8, R10"], ["TOGETHER"]),
    "bits_that_change": (["    RED{op=XOR} R2:2, 0x8, R10"], ["TOGETHER", "COMBINED{op=XOR}"]),
    "shared": (["    ATOMS R20, RZ, 0x8, R12", USE], ["TOGETHER.RANK", "FROM_LAST"]),
    "64_bits": (
        ["    ATOMG{type=64} R20:2, R2:2, 0x8, R14:2, _, PT", "    STG{size=64} R8:2, 0x40, R20:2"],
        ["TOGETHER.RANK", "FROM_LAST64"],
    ),
    "a_loop_of_64_bits": (
        ["    ATOMS.LOOP.ADD.64 R20:2, RZ, 0x8, R14:2", "    STG{size=64} R8:2, 0x40, R20:2"],
        ["TOGETHER.RANK", "TOGETHER.MASK", "FROM_LAST64.MET"],
    ),
    "a_loop_of_64_bits_that_nobody_asks": (["    ATOM.ANY.ADD.64 RZ, R2:2, 0x8, R14:2"], ["TOGETHER.COUNT"]),
    "one_vote_for_two": (["    RED R2:2, 0x8, R12", "    ATOMG R20, R2:2, 0xc, R12, _, PT", USE], ["TOGETHER.RANK", "FROM_LAST"]),
    "a_vote_behind_a_meeting": (
        ["    RED R2:2, 0x8, R12", "    WARPSYNC 0xffffffff", "    RED R2:2, 0xc, R12"], ["TOGETHER.COUNT", "TOGETHER.COUNT"],
    ),
    "where_threads_have_parted": (["    @P501 BRA bix2", "bix1:", "    RED R2:2, 0x8, R12", "bix2:"], ["TOGETHER.COUNT"]),
    "an_address_that_they_have_just_read": (
        ["    @P501 BRA bix2", "bix1:", "    LDS R22, RZ, 0x0", "    ATOMS RZ, R22, 0x0, R12", "bix2:"], ["TOGETHER.COUNT"],
    ),
    "in_a_loop": (
        ["    MOV R22, RZ", "bix1:", "    RED R2:2, 0x8, R12", "    IADD3 R22, R22, 0x1, RZ", "    ISETP{cmp=LT} P503, R22, R0",
         "    @P503 BRA bix1", "bix2:"],
        ["TOGETHER.COUNT"],
    ),
}  # fmt: skip
NOT_APPLIED = {
    "addresses_of_threads": ["    RED R8:2, 0x8, R12"],
    "different_operands_and_a_result": ["    ATOMG R20, R2:2, 0x8, R0, _, PT", USE],
    "smallest_and_a_result": ["    ATOMG{op=MIN} R20, R2:2, 0x8, R10, _, PT", USE],
    "a_counter_that_wraps": ["    RED{op=INC} R2:2, 0x8, R10"],
    "a_counter_downwards": ["    RED{op=DEC} R2:2, 0x8, R13"],
    "exchange": ["    ATOMG{op=EXCH} R20, R2:2, 0x8, R12, _, PT", USE],
    "compare_and_swap": ["    ATOMG.CAS R20, R2:2, 0x8, R12, R10, PT", USE],
    "floats": ["    RED{type=F32.FTZ.RN} R2:2, 0x8, R12"],
    "smallest_of_64_bits": ["    RED{op=MIN type=64} R2:2, 0x8, R14:2"],
    "a_guard_of_one_thread": ["    @P502 RED R2:2, 0x8, R12"],
    "behind_a_branch_of_one_thread": ["    @!P502 BRA bix2", "bix1:", "    RED R2:2, 0x8, R12", "bix2:"],
    "behind_an_exit_of_all_others": ["    @!P502 EXIT", "bix1:", "    RED R2:2, 0x8, R12"],
    "an_address_that_changes_as_threads_leave": [
        "    MOV R22, RZ", "bix1:", "    IADD3 R22, R22, 0x4, RZ", "    ISETP{cmp=LT} P503, R22, R0", "    @P503 BRA bix1",
        "bix2:", "    ATOMS RZ, R22, 0x0, R12",
    ],
    "an_address_of_two_ways": [
        "    MOV R22, RZ", "    @P501 BRA bix2", "bix1:", "    MOV R22, 0x8", "bix2:", "    ATOMS RZ, R22, 0x0, R12",
    ],
}  # fmt: skip
OF_VOTES = ("TOGETHER", "COMBINED", "FROM_LAST")


def votes(lines: list[str], target: str = "sm_90") -> list[str]:
    """What phase 30 makes of lines, of its own operations; it does what they did."""
    made = after(aggregate_atomics, [*HEAD, *lines], target=target)
    return [line.split(" R")[0].split(" P")[0] for line in made if line.startswith(OF_VOTES)]


@pytest.mark.parametrize("name", APPLIED)
def test_one_thread_does_it(name: str) -> None:
    lines, wanted = APPLIED[name]
    assert votes(lines) == wanted


@pytest.mark.parametrize("name", NOT_APPLIED)
def test_every_thread_does_it(name: str) -> None:
    assert votes(NOT_APPLIED[name]) == []


def test_a_target_that_combines_nothing_counts() -> None:
    assert votes(["    RED{op=XOR} R2:2, 0x8, R10"], "sm_75") == ["TOGETHER.COUNT"]
    assert votes(["    RED R2:2, 0x8, R0"], "sm_75") == []


def test_a_counter_to_the_largest_number_is_a_sum() -> None:
    f = function([*HEAD, "    ATOMG{op=INC} R20, R2:2, 0x8, R13, _, PT", USE])
    assert aggregate_atomics(f, context("sm_90"))
    text = write(f)
    assert "TOGETHER.RANK" in text
    assert "ATOMG R" in text
    assert "INC" not in text


def test_a_block_of_one_thread() -> None:
    """Nobody else is there."""
    f = function([*HEAD, *APPLIED["one"][0]])
    f.attributes.reqntid = (1, 1, 1)
    before = write(f)
    assert not aggregate_atomics(f, context("sm_90"))
    assert write(f) == before
