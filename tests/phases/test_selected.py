"""Phase 13: a comparison of what a predicate has chosen is that predicate."""

from __future__ import annotations

import itertools

import pytest
from oric.phases.optimize import general_optimize_early

from tests.phases.ori import after

START = ["    ISETP{cmp=LT} P500, R10, R11", "    ISETP{cmp=LT} P501, R11, 0x9", "    MOV R20, 0x5"]
STORE = ["    @P502 STG R2:2, 0x100, R10", "    @!P502 STG R2:2, 0x104, R10"]


def guards(lines: list[str]) -> list[str]:
    """The guards of the stores behind a pass, which keeps what the function does."""
    return [line.split()[0] for line in after(general_optimize_early, [*START, *lines, *STORE]) if " STG " in line]


@pytest.mark.parametrize(("compare", "number"), list(itertools.product(("EQ", "NE"), (5, 0))))
@pytest.mark.parametrize("sign", ["", "!"])
@pytest.mark.parametrize("kind", ["", " sign=U32"])
def test_the_predicate_itself(compare: str, number: int, sign: str, kind: str) -> None:
    choice = f"    SEL R21, R20, RZ, {sign}P500"
    found = guards([choice, f"    ISETP{{cmp={compare}{kind}}} P502, R21, {hex(number) if number else 'RZ'}"])
    same = (compare == "EQ") == (number == 5)
    assert found == (["@P500", "@!P500"] if same != bool(sign) else ["@!P500", "@P500"])


STAYS = {
    "another_number": ["    SEL R21, R20, RZ, P500", "    ISETP{cmp=EQ} P502, R21, 0x3"],
    "a_predicate_that_changes": [
        "    SEL R21, R20, RZ, P500",
        "    ISETP{cmp=LT} P500, R11, R10",
        "    ISETP{cmp=EQ} P502, R21, 0x5",
        "    @P500 STG R2:2, 0x108, R11",
    ],
    "a_choice_that_changes": [
        "    SEL R21, R20, RZ, P500",
        "    @P501 IADD3 R21, R21, 0x5, RZ",
        "    ISETP{cmp=EQ} P502, R21, 0x5",
    ],
    "a_second_condition": ["    SEL R21, R20, RZ, P500", "    ISETP{cmp=EQ} P502, R21, 0x5, PT, P501"],
    "only_under_a_guard": [
        "    ISETP{cmp=EQ} P502, R10, 0x3",
        "    SEL R21, R20, RZ, P500",
        "    @P501 ISETP{cmp=EQ} P502, R21, 0x5",
    ],
}


@pytest.mark.parametrize("lines", STAYS.values(), ids=STAYS)
def test_what_stays(lines: list[str]) -> None:
    assert guards(lines)[-2:] == ["@P502", "@!P502"]


def test_in_its_own_place() -> None:
    """The result takes the place of the predicate that has chosen."""
    lines = ["    SEL R21, R20, RZ, P500", "    ISETP{cmp=NE} P500, R21, 0x5", "    @P500 STG R2:2, 0x100, R10"]
    found = after(general_optimize_early, [*START, *lines])
    assert sum("ISETP" in line for line in found) >= 2
