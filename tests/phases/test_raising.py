"""Phase 68: loads behind the place where two ways meet join those in front of the place where they part."""

from __future__ import annotations

import pytest
from oric.phases.raising import raise_loads
from oric_tables import knobs

from tests.phases.ori import after

TEST = "    ISETP{cmp=LT} P500, R10, 0x10"
FIRST = "    LDG R20, R2:2, 0x10"
SECOND = "    LDG R21, R2:2, 0x14"
SHOWN = ["    STG R2:2, 0x40, R20", "    STG R2:2, 0x44, R21", "    STG R2:2, 0x48, R22"]


def placed(lines: list[str]) -> list[str]:
    """What becomes of a function: its loads and jumps, in order."""
    found = [line.split() for line in after(raise_loads, lines, joins_stores=True)]
    kept = []
    for words in found:
        name = next(word for word in words if not word.startswith("@"))
        if name.startswith(("LD", "BRA")):
            kept.append(words[-1] if name == "BRA" else words[words.index(name) + 1].rstrip(","))
    return kept


def diamond(
    arm: list[str] | None = None, front: list[str] | None = None, behind: list[str] | None = None, second: str = SECOND
) -> list[str]:
    """``front`` and the first load, a branch round ``arm``, ``behind`` and the second load."""
    return [
        *(front or []), FIRST, "    MOV R22, R11", TEST, "    @P500 BRA bix2", "bix1:", *(arm or ["    IADD3 R22, R20, R11, RZ"]),
        "bix2:", *(behind or []), second, *SHOWN,
    ]  # fmt: skip


COPIED = ["    MOV R30.0, R2.0", "    MOV R30.1, R2.1"]
BASED = "    LDG R21, R30:2, 0x14"
UP = ["R20", "R21", "bix2"]
DOWN = ["R20", "bix2", "R21"]

MOVED = {
    "over_an_arm": diamond(),
    "over_a_store_of_shared_memory": diamond(["    STS R10, 0x0, R11"]),
    "over_a_load": diamond(["    LDS R22, RZ, 0x0"])[:-1],
    "from_behind_other_code": diamond(behind=["    IADD3 R23, R22, R10, RZ", "    STS RZ, 0x0, R23"]),
    "an_address_of_the_block_in_front": diamond(front=COPIED, second=BASED),
    "an_address_that_changes_afterwards": [
        *diamond(front=COPIED, second=BASED),
        "    IADD3 R30.0, R30.0, 0x4, RZ",
    ],
}  # fmt: skip


@pytest.mark.parametrize("lines", MOVED.values(), ids=MOVED)
def test_what_moves(lines: list[str]) -> None:
    assert [name for name in placed(lines) if name in UP] == UP


STAYS = {
    "a_store_in_the_arm": diamond(["    STG R2:2, 0x14, R11"]),
    "a_generic_store_in_the_arm": diamond(["    ST R2:2, 0x14, R11"]),
    "a_store_in_front_of_it": diamond(behind=["    STG R2:2, 0x14, R11"]),
    "an_atomic_in_the_arm": diamond(["    ATOMG{op=ADD} R22, R2:2, 0x14, R11, _, PT"]),
    "a_barrier_in_front_of_it": diamond(behind=["    BAR.SYNC 0x0"]),
    "a_fence_in_the_arm": diamond(["    MEMBAR"]),
    "a_strong_load_in_the_arm": diamond(["    LDG{order=STRONG.SYS} R22, R2:2, 0x14"]),
    "an_address_of_the_arm": [
        *COPIED, *diamond(["    IADD3 R30.0, R2.0, 0x8, RZ"], second=BASED)
    ],
    "an_address_made_behind_the_arm": diamond(
        behind=["    IADD3 R30.0, R2.0, 0x8, RZ", "    MOV R30.1, R2.1"], second=BASED
    ),
    "itself_strong": diamond(second="    LDG{order=STRONG.SYS} R21, R2:2, 0x14"),
    "under_a_guard": diamond(front=["    MOV R21, RZ"], second="    @P500 LDG R21, R2:2, 0x14"),
    "written_elsewhere": diamond(front=["    MOV R21, R11", "    STG R2:2, 0x4c, R21"]),
    "of_another_kind": diamond(second="    LDS R21, R10, 0x14"),
    "over_too_much": diamond([f"    IADD3 R22, R22, {hex(n)}, RZ" for n in range(1, knobs.NUMBERS[knobs.RAISE_LOOK] + 2)]),
    "of_an_arm": diamond([SECOND.replace("R21", "R23"), "    IADD3 R22, R23, R11, RZ"], behind=["    MEMBAR"]),
}  # fmt: skip


@pytest.mark.parametrize("lines", STAYS.values(), ids=STAYS)
def test_what_stays(lines: list[str]) -> None:
    assert [name for name in placed(lines) if name in UP] == DOWN


def test_a_chain_of_rounds() -> None:
    """Rounds of an unrolled loop: all loads are under way when the first is waited for."""
    lines = ["    MOV R22, RZ"]
    for n in range(4):
        lines += [
            f"    LDG R{40 + n}, R2:2, {hex(16 * n)}", f"    ISETP{{cmp=GE sign=U32}} P{500 + n}, R{40 + n}, R11",
            f"    @P{500 + n} BRA bix{2 * n + 2}", f"bix{2 * n + 1}:", f"    IADD3 R22, R22, R{40 + n}, RZ", f"bix{2 * n + 2}:",
        ]  # fmt: skip
    found = placed([*lines, "    STG R2:2, 0x80, R22"])
    assert found[:4] == ["R40", "R41", "R42", "R43"]


def test_no_more_than_there_is_room_for() -> None:
    lines = []
    for n in range(knobs.NUMBERS[knobs.RAISE_WORDS] + 3):
        lines += [
            f"    LDG R{40 + n}, R2:2, {hex(16 * n)}", TEST, f"    @P500 BRA bix{2 * n + 2}", f"bix{2 * n + 1}:",
            f"    STS RZ, {hex(4 * n)}, R{40 + n}", f"bix{2 * n + 2}:",
        ]  # fmt: skip
    found = placed(lines)
    assert found.index("bix2") == 1 + knobs.NUMBERS[knobs.RAISE_WORDS]


def test_loops_are_not_passed() -> None:
    """A load behind a loop stays behind it."""
    lines = [
        FIRST, "    MOV R22, RZ", "bix1:", "    IADD3 R22, R22, 0x1, RZ", "    ISETP{cmp=LT} P500, R22, 0x3",
        "    @P500 BRA bix1", "bix2:", SECOND, *SHOWN,
    ]  # fmt: skip
    assert placed(lines) == ["R20", "bix1", "R21"]


def test_a_reader_of_the_round_before() -> None:
    """What a round loads, the next one reads in front of its own load: that one stays."""
    lines = [
        "    MOV R22, RZ", "    MOV R24, RZ", "bix1:", "    LDG R20, R2:2, 0x10", "    @P500 IADD3 R24, R24, R21, RZ",
        "    ISETP{cmp=LT} P500, R22, 0x1", "    @P500 BRA bix3", "bix2:", "    IADD3 R24, R24, R20, RZ", "bix3:",
        "    LDG R21, R2:2, 0x14", "    IADD3 R22, R22, 0x1, RZ", "    ISETP{cmp=LT} P500, R22, 0x3", "    @P500 BRA bix1",
        "bix4:", "    STG R2:2, 0x40, R24",
    ]  # fmt: skip
    assert placed(["    ISETP{cmp=LT} P500, RZ, RZ", *lines])[:3] == ["R20", "bix3", "R21"]
