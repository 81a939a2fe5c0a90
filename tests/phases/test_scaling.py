"""Phase 60: accesses of shared memory multiply their register by themselves, where that saves a shift."""

from __future__ import annotations

import random
import re

import pytest
from oric.phases.scaling import scale_addresses
from oric_tables.targets import TARGETS

from tests import campaigns
from tests.phases.ori import after

SHIFT = "    SHF{type=U32} R12, R10, 0x2, RZ"
SHOWN = "    STG R2:2, 0x40, R20"


def scaled(lines: list[str], target: str = "sm_80") -> list[str]:
    """What becomes of a function, which does what it did."""
    return after(scale_addresses, [*lines, "    STG R2:2, 0x60, R11"], target=target)


def accesses(lines: list[str]) -> list[str]:
    """The accesses of shared memory: what is scaled by how much, and the offset."""
    found = []
    for line in lines:
        if line.startswith(("LDS", "STS")):
            words = line.partition("}" if "{" in line else " ")[2].replace(",", "").split()
            at = int(line.startswith("LDS"))
            scale = re.search(r"scale=(\w+)", line)
            found.append(f"{words[at]} {scale[1] if scale else 'X1'} {words[at + 1]}")
    return found


MADE = {
    "four": ([SHIFT, "    LDS R20, R12, 0x0", SHOWN], ["R10 X4 0x0"]),
    "eight": (["    SHF{type=U32} R12, R10, 0x3, RZ", "    LDS R20, R12, 0x8", SHOWN], ["R10 X8 0x8"]),
    "sixteen": (["    SHF{type=U32} R12, R10, 0x4, RZ", "    LDS R20, R12, 0x8", SHOWN], ["R10 X16 0x8"]),
    "of_bytes": ([SHIFT, "    LDS{size=U8} R20, R12, 0x1", SHOWN], ["R10 X4 0x1"]),
    "a_product": (["    IMAD R12, R10, 0x8, RZ", "    LDS R20, R12, 0x0", SHOWN], ["R10 X8 0x0"]),
    "a_product_and_a_number": (
        ["    MOV R13, 0x400", "    IMAD R12, R10, 0x8, R13", "    LDS R20, R12, 0x4", SHOWN], ["R10 X8 0x404"],
    ),
    "a_sum": (["    LEA{shift=0x2} R12, R10, 0x400", "    LDS R20, R12, -0x4", SHOWN], ["R10 X4 0x3fc"]),
    "several": (
        [SHIFT, "    LDS R20, R12, 0x4", "    STS R12, 0x8, R20", "    LDS R20, R12, 0x0", SHOWN],
        ["R10 X4 0x4", "R10 X4 0x8", "R10 X4 0x0"],
    ),
    "a_mask": ([SHIFT, "    LOP3{lut=0xc0} R13, R12, 0x3fc, RZ", "    LDS R20, R13, 0x4", SHOWN], ["R13 X4 0x4"]),
    "a_mask_of_low_bits": ([SHIFT, "    LOP3{lut=0xc0} R13, R12, 0x3ff, RZ", "    LDS R20, R13, 0x4", SHOWN], ["R13 X4 0x4"]),
    "one_bit_changed": ([SHIFT, "    LOP3{lut=0x3c} R13, R12, 0x40, RZ", "    LDS R20, R13, 0x4", SHOWN], ["R13 X4 0x4"]),
    "rows": ([SHIFT, "    IMAD R13, R11, 0x84, R12", "    LDS R20, R13, 0x4", SHOWN], ["R13 X4 0x4"]),
    "a_sum_of_two": ([SHIFT, "    LEA{shift=0x2} R13, R11, R12", "    LDS R20, R13, 0x0", SHOWN], ["R13 X4 0x0"]),
    "rows_of_blocks": ([SHIFT, "    LEA{shift=0x5} R13, R11, R12", "    LDS R20, R13, 0x0", SHOWN], ["R13 X4 0x0"]),
    "two_shifts": (
        [SHIFT, "    SHF{type=U32} R13, R11, 0x2, RZ", "    IADD3 R14, R12, R13, RZ", "    LDS R20, R14, 0x0", SHOWN],
        ["R14 X4 0x0"],
    ),
    "a_longer_shift": (
        [SHIFT, "    SHF{type=U32} R13, R11, 0x7, RZ", "    IADD3 R14, R12, R13, 0x400", "    LDS R20, R14, 0x4", SHOWN],
        ["R14 X4 0x404"],
    ),
    "numbers_on_the_way": (
        ["    SHF{type=U32} R13, R11, 0x7, RZ", "    IADD3 R14, R13, 0x420, RZ", "    LEA{shift=0x2} R15, R10, R14",
         "    LDS R20, R15, 0x4", SHOWN],
        ["R15 X4 0x424"],
    ),
    "a_copy": ([SHIFT, "    MOV R13, R12", "    LDS R20, R13, 0x4", SHOWN], ["R10 X4 0x4"]),
    "a_copy_of_a_sum": (
        [SHIFT, "    LEA{shift=0x2} R13, R11, R12", "    MOV R14, R13", "    LDS R20, R14, 0x4", SHOWN], ["R14 X4 0x4"],
    ),
    "under_a_guard": (
        [SHIFT, "    MOV R20, 0x0", "    ISETP{cmp=LT} P500, R10, R11", "    @P500 LDS R20, R12, 0x0", SHOWN], ["R10 X4 0x0"],
    ),
    "another_block": (
        [SHIFT, "    MOV R20, 0x0", "    ISETP{cmp=LT} P500, R10, R11", "    @P500 BRA bix2", "bix1:", "    LDS R20, R12, 0x0",
         "bix2:", SHOWN],
        ["R10 X4 0x0"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "wanted"), MADE.values(), ids=MADE)
def test_what_is_scaled(lines: list[str], wanted: list[str]) -> None:
    found = [line.removeprefix("@P500 ") for line in scaled(lines)]
    assert accesses(found) == wanted
    assert not any(line.startswith("SHF") and ", 0x2," in line for line in found)


STAYS = {
    "by_two": (["    SHF{type=U32} R12, R10, 0x1, RZ", "    LDS{size=U16} R20, R12, 0x0", SHOWN], 1),
    "by_more": (["    SHF{type=U32} R12, R10, 0x5, RZ", "    LDS R20, R12, 0x0", SHOWN], 1),
    "to_the_right": (["    SHF{dir=R type=U32} R12, R10, 0x2, RZ", "    LDS R20, R12, 0x0", SHOWN], 1),
    "read_elsewhere": ([SHIFT, "    LDS R20, R12, 0x0", "    IADD3 R20, R20, R12, RZ", SHOWN], 1),
    "stored": ([SHIFT, "    STS R12, 0x0, R12"], 1),
    "local": ([SHIFT, "    LDL R20, R12, 0x0", SHOWN], 0),
    "changed": ([SHIFT, "    IADD3 R10, R10, 0x1, RZ", "    LDS R20, R12, 0x0", SHOWN], 1),
    "a_mask_read_elsewhere": (
        [SHIFT, "    LOP3{lut=0xc0} R13, R12, 0x3fc, RZ", "    LDS R20, R13, 0x4", "    IADD3 R20, R20, R13, RZ", SHOWN], 1,
    ),
    "low_bits_set": ([SHIFT, "    LOP3{lut=0xfc} R13, R12, 0x3, RZ", "    LDS R20, R13, 0x4", SHOWN], 1),
    "low_bits_inverted": ([SHIFT, "    LOP3{lut=0xf} R13, R12, RZ, RZ", "    LDS R20, R13, 0x4", SHOWN], 1),
    "a_mask_of_a_sum": (
        ["    LEA{shift=0x2} R12, R10, 0x400", "    LOP3{lut=0xc0} R13, R12, 0x3fc, RZ", "    LDS R20, R13, 0x4", SHOWN], 1,
    ),
    "odd_rows": ([SHIFT, "    IMAD R13, R11, 0x83, R12", "    LDS R20, R13, 0x4", SHOWN], 1),
    "an_offset_too_far": (["    LEA{shift=0x2} R12, R10, 0x7ffff0", "    LDS R20, R12, 0x7ffff0", SHOWN], 1),
    "with_a_carry": (
        [SHIFT, "    SHF{type=U32} R13, R11, 0x2, RZ", "    IADD3 R14, R12, R13, RZ, P501", "    LDS R20, R14, 0x0",
         "    @P501 STG R2:2, 0x44, R20", SHOWN],
        1,
    ),
    "a_counter": (
        [SHIFT, "bix1:", "    LDS R20, R12, 0x0", "    IADD3 R12, R12, 0x4, RZ", "    ISETP{cmp=LT} P500, R12, 0x100",
         "    @P500 BRA bix1", "bix2:", SHOWN],
        1,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "accessed"), STAYS.values(), ids=STAYS)
def test_what_stays(lines: list[str], accessed: int) -> None:
    found = accesses(scaled(lines))
    assert len(found) == accessed
    assert all(" X1 " in line for line in found)


def test_targets() -> None:
    """Observed: ptxas 13.0.88 scales addresses on sm_75 to sm_89 and on none that came later."""
    lines = [SHIFT, "    LDS R20, R12, 0x0", SHOWN]
    made = {name for name in TARGETS if " X4 " in accesses(scaled(lines, name))[0]}
    assert made >= {"sm_75", "sm_80", "sm_86", "sm_89"}
    assert not made & {"sm_90", "sm_90a", "sm_100", "sm_100a", "sm_103a", "sm_120", "sm_120a", "sm_121a"}


@pytest.mark.parametrize("seed", campaigns.seeds(400, first=25))
def test_random_functions(seed: int) -> None:
    """Trees of shifts, sums, masks and products, which accesses and others read; threads have words of all bits."""
    rng = random.Random(seed)
    words = ["R10", "R11"]
    lines = ["    MOV R30, 0x400"]
    for n in range(40, 40 + rng.randrange(3, 16)):
        a, b, c = rng.choice(words), rng.choice(words[-5:]), rng.choice(words[-3:])
        shift, number = rng.choice((1, 2, 2, 2, 3, 4, 5)), rng.choice((0x4, 0x10, 0x84, 0x3FC, 0x7, 0xFFFFFFF8))
        lines.append("    " + rng.choice((
            f"SHF{{type=U32}} R{n}, {a}, {hex(shift)}, RZ", f"SHF{{type=U32}} R{n}, {a}, {hex(shift)}, RZ",
            f"IMAD R{n}, {a}, {hex(1 << shift)}, {rng.choice(('RZ', 'R30'))}", f"IMAD R{n}, {a}, {hex(number)}, {b}",
            f"LEA{{shift={hex(shift)}}} R{n}, {a}, {rng.choice((b, hex(number)))}", f"IADD3 R{n}, {b}, {c}, RZ",
            f"IADD3 R{n}, {b}, {rng.choice((c, 'RZ'))}, {hex(number)}", f"MOV R{n}, {b}", f"IADD3 R{n}, {b}, {c}, {a}",
            f"LOP3{{lut={hex(rng.choice((0xc0, 0xfc, 0x3c)))}}} R{n}, {b}, {rng.choice((c, hex(number)))}, RZ",
            f"LOP3{{lut={hex(rng.randrange(256))}}} R{n}, {b}, {hex(number)}, RZ",
            f"LOP3{{lut=0xc0}} R{n}, {b}, {hex(number)}, RZ", f"LOP3{{lut={hex(rng.randrange(256))}}} R{n}, {a}, {b}, {c}",
        )))  # fmt: skip
        words.append(f"R{n}")
        if rng.randrange(8) == 0:
            lines.append(f"bix{sum(line.startswith('bix') for line in lines) + 1}:")
    for n in range(rng.randrange(1, 8)):
        base, offset = rng.choice(words[-4:]), hex(rng.choice((0, 4, 9, 0x100)))
        lines.append(rng.choice((f"    LDS R{20 + n}, {base}, {offset}", f"    STS {base}, {offset}, R11")))
        if lines[-1].startswith("    LDS"):
            lines.append(f"    STG R2:2, {hex(0x40 + 4 * n)}, R{20 + n}")
    if rng.randrange(3) == 0:
        lines.append(f"    STG R2:2, 0x80, {rng.choice(words)}")
    scaled(lines)
