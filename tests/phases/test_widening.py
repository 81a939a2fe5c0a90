"""Phase 56: neighbours in shared and local memory are accessed at once, where the address is known to be aligned."""

from __future__ import annotations

import random

import pytest
from oric.phases.widening import widen_accesses

from tests import campaigns
from tests.phases.ori import after

ALIGNED = "    SHF{type=U32} R12, R10, 0x4, RZ"
HALF = "    SHF{type=U32} R12, R10, 0x3, RZ"


def widened(lines: list[str]) -> list[str]:
    """What becomes of a function, which does what it did."""
    return after(widen_accesses, lines, joins_stores=True)


def accesses(lines: list[str]) -> list[str]:
    """The accesses of shared and local memory, without registers of data."""
    return [line.split(",")[0].split()[0] for line in lines if line.split()[0].startswith(("LDS", "STS", "LDL", "STL"))]


def loads(*offsets: int, op: str = "LDS", base: str = "R12") -> list[str]:
    return [f"    {op} R{20 + n}, {base}, {hex(offset)}" for n, offset in enumerate(offsets)]


def stores(*offsets: int, op: str = "STS", base: str = "R12") -> list[str]:
    return [f"    {op} {base}, {hex(offset)}, R{10 + n % 2}" for n, offset in enumerate(offsets)]


def shown(count: int) -> list[str]:
    return [f"    STG R2:2, {hex(0x40 + 4 * n)}, R{20 + n}" for n in range(count)]


MADE = {
    "four_words": ([ALIGNED, *loads(0, 4, 8, 12), *shown(4)], ["LDS{size=128}"]),
    "in_any_order": ([ALIGNED, *loads(8, 0, 12, 4), *shown(4)], ["LDS{size=128}"]),
    "two_words": ([HALF, *loads(0, 4, 8, 12), *shown(4)], ["LDS{size=64}", "LDS{size=64}"]),
    "what_fills_a_whole": ([ALIGNED, *loads(4, 8, 12), *shown(3)], ["LDS", "LDS{size=64}"]),
    "local": ([ALIGNED, *loads(0, 4, op="LDL"), *shown(2)], ["LDL{size=64}"]),
    "stores": ([ALIGNED, *stores(0, 4, 8, 12)], ["STS{size=128}"]),
    "zeros": ([ALIGNED, "    STS R12, 0x0, RZ", "    STS R12, 0x4, RZ"], ["STS{size=64}"]),
    "numbers": ([*stores(0x10, 0x14, base="RZ")], ["STS{size=64}"]),
    "pairs": (
        [ALIGNED, "    LDS{size=64} R20:2, R12, 0x0", "    LDS{size=64} R22:2, R12, 0x8", "    STG{size=64} R2:2, 0x40, R20:2",
         "    STG{size=64} R2:2, 0x48, R22:2"],
        ["LDS{size=128}"],
    ),
    "a_store_elsewhere_between": ([ALIGNED, *loads(0), *stores(0x40), *loads(0, 4)[1:], *shown(2)], ["LDS{size=64}", "STS"]),
    "a_store_of_global_memory_between": (
        [ALIGNED, *loads(0), "    STG R2:2, 0x4, R10", *loads(0, 4)[1:], *shown(2)], ["LDS{size=64}"],
    ),
    "a_counter_of_a_loop": (
        [ALIGNED, "bix1:", *loads(0, 4, 8, 12), *shown(4), "    IADD3 R12, R12, 0x10, RZ",
         "    ISETP{cmp=LT} P500, R12, 0x100", "    @P500 BRA bix1", "bix2:"],
        ["LDS{size=128}"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "wanted"), MADE.values(), ids=MADE)
def test_what_becomes_one(lines: list[str], wanted: list[str]) -> None:
    assert accesses(widened(lines)) == wanted


STAYS = {
    "not_aligned": ["    SHF{type=U32} R12, R10, 0x2, RZ", *loads(0, 4), *shown(2)],
    "off": [ALIGNED, *loads(4, 8), *shown(2)],
    "a_gap": [ALIGNED, *loads(0, 8), *shown(2)],
    "unknown": ["    MOV R12, R10", *loads(0, 4), *shown(2)],
    "one_way_in": [
        ALIGNED, "    ISETP{cmp=LT} P500, R10, R11", "    @P500 BRA bix2", "bix1:", "    IADD3 R12, R12, 0x4, RZ", "bix2:",
        *loads(0, 4), *shown(2),
    ],
    "a_counter_of_words": [
        ALIGNED, "bix1:", *loads(0, 4), *shown(2), "    IADD3 R12, R12, 0x4, RZ", "    ISETP{cmp=LT} P500, R12, 0x100",
        "    @P500 BRA bix1", "bix2:",
    ],
    "a_store_that_may_meet": [ALIGNED, *loads(0), *stores(0, base="R11"), *loads(0, 4)[1:], *shown(2)],
    "a_store_that_meets": [ALIGNED, *loads(0), *stores(4), *loads(0, 4)[1:], *shown(2)],
    "a_load_that_may_meet": [ALIGNED, *stores(0), *loads(0, base="R11"), *stores(4), *shown(1)],
    "a_load_that_meets": [ALIGNED, *stores(0), *loads(0), *stores(4), *shown(1)],
    "a_barrier": [ALIGNED, *loads(0), "    BAR.SYNC{defer=DEFER_BLOCKING} 0x0", *loads(0, 4)[1:], *shown(2)],
    "a_fence": [ALIGNED, *stores(0), "    MEMBAR{sem=SC scope=GPU}", *stores(4)],
    "an_atomic": [ALIGNED, *stores(0), "    ATOMS R20, R12, 0x40, R10", *stores(4), *shown(1)],
    "the_register_changes": [ALIGNED, *loads(0), "    IADD3 R12, R12, 0x10, RZ", *loads(0, 4)[1:], *shown(2)],
    "for_some_threads": [
        ALIGNED, "    ISETP{cmp=LT} P500, R10, R11", *(line.replace("LDS", "@P500 LDS") for line in loads(0, 4)),
    ],
    "volatile": [ALIGNED, *(line + " [line=1 aux=0x400000]" for line in loads(0, 4)), *shown(2)],
    "global": [ALIGNED, "    LDG R20, R2:2, 0x0", "    LDG R21, R2:2, 0x4", *shown(2)],
    "different_blocks": [
        ALIGNED, *loads(0), "    ISETP{cmp=LT} P500, R10, R11", "    @P500 BRA bix2", "bix1:", *loads(0, 4)[1:], "bix2:",
    ],
}  # fmt: skip


@pytest.mark.parametrize("lines", STAYS.values(), ids=STAYS)
def test_what_stays(lines: list[str]) -> None:
    before = [line.strip().removeprefix("@P500 ").split()[0] for line in lines]
    kept = [word for word in before if word.startswith(("LDS", "STS", "LDL", "STL"))]
    assert [word.split()[-1] for word in accesses([line.removeprefix("@P500 ") for line in widened(lines)])] == kept


@pytest.mark.parametrize("seed", campaigns.seeds(300, first=20))
def test_random_functions(seed: int) -> None:
    """Accesses from registers of all alignments, some of which change, in blocks."""
    rng = random.Random(seed)
    lines = [
        "    LOP3{lut=0xc0} R12, R10, 0xf0, RZ", "    LOP3{lut=0xc0} R13, R11, 0xf8, RZ", "    LEA{shift=0x4} R14, R13, R12",
        "    IADD3 R15, R12, 0x8, RZ",
        *(f"    LOP3{{lut=0xc0}} R{20 + n}, R10, {hex(rng.randrange(1 << 16))}, RZ" for n in range(6)),
    ]  # fmt: skip
    for n in range(40):
        if n == 20:
            lines += ["bix1:"]
        kind, base, offset = rng.randrange(8), rng.choice(("R12", "R13", "R14", "R15")), hex(4 * rng.randrange(6))
        if kind < 3:
            lines.append(f"    LDS R{20 + rng.randrange(6)}, {base}, {offset}")
        elif kind < 6:
            lines.append(f"    STS {base}, {offset}, R{20 + rng.randrange(6)}")
        elif kind == 6:
            lines.append(f"    IADD3 R{20 + rng.randrange(6)}, R{20 + rng.randrange(6)}, R{20 + rng.randrange(6)}, RZ")
        else:
            lines.append(f"    IADD3 {base}, {base}, {hex(rng.choice((4, 8, 16)))}, RZ")
    widened([*lines, *shown(6)])
