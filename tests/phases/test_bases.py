"""Phase 50: numbers in bases of addresses go into offsets, numbers behind products in front of them."""

from __future__ import annotations

import random

import pytest
from oric.ir.interpret import difference
from oric.ir.text import all_instructions, format_instruction
from oric.ir.verify import verify
from oric.phases.addends import add_early
from oric.phases.makers import Makers
from oric.phases.reassociation import share_sums

from tests import campaigns
from tests.phases.ori import START, after, function, threads

WORDS = ["    LOP3{lut=0xc0} R12, R10, 0xfc, RZ", "    LOP3{lut=0xc0} R13, R11, 0x7c, RZ"]
PAIR = ["    MOV R14.0, R13", "    MOV R14.1, RZ"]


def count(lines: list[str], name: str) -> int:
    return sum(name in line for line in lines)


def test_arrays_of_one_frame_have_one_sum() -> None:
    found = after(share_sums, [
        *WORDS, *PAIR, "    MOV R16.0, R12", "    MOV R16.1, RZ", "    ADD64 R18:2, R16:2, 0x40", "    ADD64 R20:2, R16:2, 0x80",
        "    LEA64 R22:2, R14:2, R16:2, 0x2", "    STS R22.0, 0x0, R10", "    LEA64 R24:2, R14:2, R18:2, 0x2",
        "    STS R24.0, 0x4, R11",
        "    LEA64 R26:2, R14:2, R20:2, 0x2", "    STS R26.0, 0x8, R10", "    LDS R28, R24.0, 0x4", "    STG R2:2, 0x8, R28",
    ])  # fmt: skip
    assert count(found, "LEA64") == 1 and count(found, "ADD64") == 0
    assert [line.split(", ")[1] for line in found if line.startswith("STS")] == ["0x0", "0x44", "0x88"]


def test_the_order_of_a_sum_of_pairs_does_not_matter() -> None:
    found = after(share_sums, [
        *WORDS, *PAIR, "    ADD64 R18:2, R2:2, 0x40", "    ADD64 R20:2, R18:2, R14:2", "    STG R20:2, 0x0, R10",
        "    ADD64 R22:2, R14:2, R2:2", "    STG R22:2, 0x80, R11",
    ])  # fmt: skip
    assert count(found, "ADD64") == 1
    assert [line.split(", ")[1] for line in found if line.startswith("STG")] == ["0x40", "0x80"]


STAYS = {
    "read by others": ["    IADD3 R20, R12, 0x40, RZ", "    LEA{shift=2} R21, R13, R20", "    STS R21, 0x0, R21"],
    "too far": ["    IADD3 R20, R12, 0x900000, RZ", "    LEA{shift=2} R21, R13, R20", "    STS R21, 0x0, R10"],
    "two registers": ["    IADD3 R20, R12, 0x40, R10", "    LEA{shift=2} R21, R13, R20", "    STS R21, 0x0, R10"],
    "another base since": [
        "    IADD3 R20, R12, 0x40, RZ", "    LOP3{lut=0xc0} R12, R11, 0x3c, RZ", "    LEA{shift=2} R21, R13, R20",
        "    STS R21, 0x0, R10",
    ],
    "a carry": ["    IADD3 R20, R12, 0x40, RZ", "    LEA{shift=2} R21, R13, R20, P500", "    STS R21, 0x0, R10",
    "    @P500 STG R2:2, 0x8, R10"],
}  # fmt: skip


@pytest.mark.parametrize("lines", STAYS.values(), ids=STAYS)
def test_what_stays(lines: list[str]) -> None:
    found = after(share_sums, [*WORDS, *lines])
    assert count(found, "IADD3") == 1
    assert count(found, "0x0, ") + count(found, "0x8, ") > 0


@pytest.mark.parametrize("seed", campaigns.seeds(300, first=20))
def test_random_functions(seed: int) -> None:
    """Scaled sums of bases with and without numbers, in blocks and a loop."""
    rng = random.Random(seed)
    lines = [*WORDS, *PAIR, "    MOV R4, RZ"]
    number, bases, pairs, words, wide = 40, [12, 13], [2, 14], [], []
    for part in range(3):
        if part == 1:
            lines.append("bix1:")
        for _ in range(14):
            roll, made = rng.random(), number
            number += 1
            if roll < 0.2:
                lines.append(f"    IADD3 R{made}, R{rng.choice(bases)}, {hex(4 * rng.randrange(64))}, RZ")
                bases.append(made)
            elif roll < 0.4:
                lines.append(f"    ADD64 R{made}:2, R{rng.choice(pairs)}:2, {hex(4 * rng.randrange(64))}")
                pairs.append(made)
            elif roll < 0.5:
                form = rng.choice(("LEA{{shift=2}} R{}, R13, R{}", "IMAD R{}, R13, 0xc, R{}"))
                lines.append("    " + form.format(made, rng.choice(bases)))
                words.append(made)
            elif roll < 0.6:
                base = rng.choice([p for p in pairs if p != 14] or [2])
                form = rng.choice(
                    (
                        "LEA64 R{}:2, R14:2, R{}:2, 0x2",
                        "IMAD.WIDE{{sign=U32}} R{}:2, R13, 0x4, R{}:2",
                        "ADD64 R{}:2, R14:2, R{}:2",
                    )
                )
                lines.append("    " + form.format(made, base))
                wide.append(made)
            elif words and roll < 0.75:
                lines.append(f"    STS R{rng.choice(words)}, {hex(4 * rng.randrange(16))}, R10")
            elif words and roll < 0.85:
                lines += [
                    f"    LDS R{made}, R{rng.choice(words)}, {hex(4 * rng.randrange(16))}",
                    f"    STG R2:2, {hex(4 * rng.randrange(64, 128))}, R{made}",
                ]
            elif wide:
                lines.append(f"    STG R{rng.choice(wide)}:2, {hex(0x400 + 4 * rng.randrange(16))}, R11")
            elif roll > 0.97:
                lines.append(f"    LOP3{{lut=0xc0}} R{rng.choice((12, 13))}, R11, {hex(4 * rng.randrange(1, 8))}, RZ")
        if part == 1:
            lines += ["    IADD3 R4, R4, 0x1, RZ", "    ISETP{cmp=LT} P500, R4, 0x3", "    @P500 BRA bix1", "bix2:"]
    after(share_sums, lines)


def added(lines: list[str]) -> list[str]:
    """What becomes of products in partial SSA form, which do what they did."""
    f = function(lines)
    f.in_window = True
    before = threads(f)
    add_early(f, Makers(f))
    verify(f)
    for one, other in zip(before, threads(f), strict=True):
        assert not difference(one, other, scheduled=False)
    return [format_instruction(f, i) for i in all_instructions(f)][len(START) - 1 :]


CHAIN = ["    SHF{type=U32 dir=R hi} R20, RZ, 0x1e, R10", "    LOP3{lut=0x3c} R21, R20, R10, RZ"]


def test_numbers_behind_products() -> None:
    found = added([*CHAIN, "    IMAD R22, R21, 0x6c078965, R11", "    IADD3 R23, R22, 0x3, RZ", "    STG R2:2, 0x8, R23"])
    assert ["IADD3" in line for line in found] == [False, False, True, False, False, False]


@pytest.mark.parametrize("lines", [
    [*CHAIN, "    IMAD R22, R11, 0x6c078965, R21", "    IADD3 R23, R22, 0x3, RZ",
    "    STG R2:2, 0x8, R23"],  # it waits for the addend
    [*CHAIN, "    IMAD R22, R21, 0x6c078965, R11", "    IADD3 R23, R22, 0x3, RZ", "    STG R2:2, 0x8, R23",
    "    STG R2:2, 0xc, R22"],
    [*CHAIN, "    IMAD R22, R21, 0x6c078965, R11", "    IADD3 R23, R22, 0x3, R10", "    STG R2:2, 0x8, R23"],
    [*CHAIN, "    IMAD R22, R21, 0x6c078965, -R11", "    IADD3 R23, -R22, 0x3, RZ", "    STG R2:2, 0x8, R23"],
])  # fmt: skip
def test_products_that_stay(lines: list[str]) -> None:
    found = added(lines)
    assert [line.split()[0] for line in found if "IADD3" in line or "IMAD" in line] == ["IMAD", "IADD3"]
