"""Phase 50: addresses that differ by constants have the sum of their registers in common."""

from __future__ import annotations

import random

import pytest
from oric.phases.reassociation import share_sums

from tests import campaigns
from tests.phases.ori import after


def shared(lines: list[str]) -> list[str]:
    """What becomes of a function, which does what it did."""
    return after(share_sums, lines)


def sums(lines: list[str]) -> int:
    return sum("IADD3" in line for line in lines)


def group(*offsets: int, stores: str = "STS R{n}, {offset}, R10") -> tuple[list[str], list[str]]:
    made = [f"    IADD3 R{20 + n}, R12, {hex(offset)}, R13" for n, offset in enumerate(offsets)]
    read_ = ["    " + stores.format(n=20 + n, offset=hex(4 * n)) for n in range(len(offsets))]
    return made, read_


BASE = ["    LOP3{lut=0xc0} R12, R10, 0xfc, RZ", "    LOP3{lut=0xc0} R13, R11, 0x7c, RZ"]


def test_one_sum_for_all() -> None:
    made, stores = group(0x100, 0x180, 0x2400, 0x10000)
    found = shared([*BASE, *made, *stores])
    assert sums(found) == 1
    assert [line.split(", ")[1] for line in found if line.startswith("STS")] == ["0x100", "0x184", "0x2408", "0x1000c"]


def test_sums_without_a_number_take_part() -> None:
    made, stores = group(0x100, 0x180)
    found = shared([*BASE, "    IADD3 R32, R13, R12, RZ", *made, *stores, "    STS R32, 0x8, R11"])
    assert sums(found) == 1


def test_sums_behind_the_first_one_in_other_blocks() -> None:
    made, stores = group(0x100, 0x180, 0x200)
    lines = [*BASE, *made[:2], "    MOV R4, RZ", "bix1:", *stores[:2], made[2], stores[2], "    IADD3 R4, R4, 0x1, RZ"]
    found = shared([*lines, "    ISETP{cmp=LT} P500, R4, 0x3", "    @P500 BRA bix1", "bix2:"])
    assert sums(found) == 2


STAYS = {
    "one_alone": [*BASE, *group(0x100)[0], *group(0x100)[1]],
    "read_by_others": [*BASE, *group(0x100, 0x180)[0], *group(0x100, 0x180)[1], "    STG R2:2, 0, R20", "    STG R2:2, 4, R21"],
    "stored": [*BASE, *group(0x100, 0x180)[0], *group(0x100, 0x180, stores="STS R{n}, {offset}, R{n}")[1]],
    "too_far": [*BASE, *group(0x100, 0x800000)[0], *group(0x100, 0x800000)[1]],
    "one_register_is_another_since": [
        *BASE, group(0x100)[0][0], group(0x100)[1][0], "    LOP3{lut=0xc0} R13, R10, 0x3c, RZ",
        group(0, 0x180)[0][1], group(0, 0)[1][1],
    ],
    "for_some_threads": [
        *BASE, "    ISETP{cmp=LT} P500, R10, R11", "    MOV R20, 0x10", "    MOV R21, 0x20",
        *(line.replace("IADD3", "@P500 IADD3") for line in group(0x100, 0x180)[0]), *group(0x100, 0x180)[1],
    ],
    "signs": [*BASE, *(line.replace("R13", "-R13") for line in group(0x100, 0x180)[0]), *group(0x100, 0x180)[1]],
    "carries": [
        *BASE, *(line + f", P{500 + n}" for n, line in enumerate(group(0x100, 0x180)[0])), *group(0x100, 0x180)[1],
        "    @P500 STG R2:2, 0x100, R10", "    @P501 STG R2:2, 0x104, R10",
    ],
}  # fmt: skip


@pytest.mark.parametrize("lines", STAYS.values(), ids=STAYS)
def test_what_stays(lines: list[str]) -> None:
    assert sums(shared(lines)) == sums(lines)


@pytest.mark.parametrize("seed", campaigns.seeds(300, first=20))
def test_random_functions(seed: int) -> None:
    """Sums of a few registers, some of which change, in blocks and a loop."""
    rng = random.Random(seed)
    lines, number = [*BASE, "    LOP3{lut=0xc0} R14, R11, 0x3c, RZ", "    MOV R4, RZ"], 40
    made: list[int] = []
    for part in range(3):
        if part == 1:
            lines.append("bix1:")
        for _ in range(14):
            roll = rng.random()
            if roll < 0.45:
                one, other = rng.sample((12, 13, 14), 2)
                form = rng.choice((f"R{one}, {hex(4 * rng.randrange(64))}, R{other}", f"R{one}, R{other}, RZ"))
                lines.append(f"    IADD3 R{number}, {form}")
                made.append(number)
                number += 1
            elif roll < 0.9 and made:
                at, offset = rng.choice(made), hex(4 * rng.randrange(16))
                lines.append(f"    {rng.choice((f'STS R{at}, {offset}, R10', f'LDS R{number}, R{at}, {offset}'))}")
                if "LDS" in lines[-1]:
                    lines.append(f"    STG R2:2, {hex(4 * rng.randrange(64, 128))}, R{number}")
                    number += 1
            elif roll > 0.97:
                lines.append(f"    LOP3{{lut=0xc0}} R{rng.choice((13, 14))}, R11, {hex(4 * rng.randrange(1, 8))}, RZ")
        if part == 1:
            lines += ["    IADD3 R4, R4, 0x1, RZ", "    ISETP{cmp=LT} P500, R4, 0x3", "    @P500 BRA bix1", "bix2:"]
    shared(lines)
