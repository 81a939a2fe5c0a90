"""Phase 67: loads leave out words that nobody reads."""

from __future__ import annotations

import re

import pytest
from oric.phases.narrowing import narrow_loads

from tests.phases.ori import after

_LOAD = re.compile(r"\s*(?:@\S+ )?(LD[GSL]?(?:\{.*?\})?) \S+, \S+, (-?0x[0-9a-f]+|RZ)")


def loads(lines: list[str]) -> list[str]:
    """The loads of lines, without registers."""
    return [f"{found[1]} {found[2]}" for line in lines if (found := _LOAD.match(line))]


def narrowed(lines: list[str]) -> list[str]:
    """The loads of a function behind the phase."""
    return loads(after(narrow_loads, lines))


def load(size: int, op: str = "LDG", base: str = "R2:2", offset: str = "0x10", more: str = "") -> str:
    return f"    {op}{{size={32 * size}{more}}} R20:{size}, {base}, {offset}"


def reads(*words: int) -> list[str]:
    """Each word is stored, or two beside each other where that is asked for by a negative number."""
    return [
        f"    STG R2:2, {hex(0x40 + 4 * w)}, R20.{w}" if w >= 0 else f"    STG{{size=64}} R2:2, 0x60, R20.{-w}:2" for w in words
    ]


MADE = {
    "the_first_of_two": ([load(2), *reads(0)], ["LDG 0x10"]),
    "the_second_of_two": ([load(2), *reads(1)], ["LDG 0x14"]),
    "the_last_of_four": ([load(4), *reads(3)], ["LDG 0x1c"]),
    "the_first_half": ([load(4), *reads(0, 1)], ["LDG{size=64} 0x10"]),
    "the_second_half": ([load(4), *reads(3, 2)], ["LDG{size=64} 0x18"]),
    "a_half_as_a_whole": ([load(4), *reads(-2)], ["LDG{size=64} 0x18"]),
    "shared": ([load(4, "LDS", "R10"), *reads(1)], ["LDS 0x14"]),
    "local": ([load(2, "LDL", "RZ", "0x0"), *reads(1)], ["LDL 0x4"]),
    "generic": ([load(2, "LD"), *reads(1)], ["LD 0x14"]),
    "below_the_base": ([load(4, offset="-0x4"), *reads(1)], ["LDG 0x0"]),
    "under_a_guard": (
        ["    ISETP{cmp=LT} P500, R10, 0x10", *[line.replace("    ", "    @P500 ", 1) for line in (load(4), *reads(2))]],
        ["LDG 0x18"],
    ),
    "read_in_a_loop": (
        [load(4), "    MOV R30, RZ", "bix1:", *reads(1), "    IADD3 R30, R30, 0x1, RZ", "    ISETP{cmp=LT} P500, R30, 0x3",
         "    @P500 BRA bix1", "bix2:"],
        ["LDG 0x14"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "wanted"), MADE.values(), ids=MADE)
def test_what_is_left_out(lines: list[str], wanted: list[str]) -> None:
    assert narrowed(lines) == wanted


STAYS = {
    "all_words": [load(4), *reads(0, 1, 2, 3)],
    "three_words": [load(4), *reads(0, 1, 2)],
    "the_outer_words": [load(4), *reads(0, 3)],
    "words_over_the_middle": [load(4), *reads(1, 2)],
    "one_word": ["    LDG R20, R2:2, 0x10", *reads(0)],
    "nothing": [load(2)],
    "volatile": [load(2, more=" order=STRONG.SYS"), *reads(1)],
    "relaxed": [load(2, more=" order=STRONG.GPU"), *reads(1)],
    "written_elsewhere": [load(2), *reads(1), "    MOV R20.1, R10", *reads(1)],
    "a_guard_with_a_value_for_the_other_case": [
        "    MOV R20.1, R11", "    ISETP{cmp=LT} P500, R10, 0x10", load(2).replace("    ", "    @P500 ", 1), *reads(1),
    ],
    "out_of_reach": [load(2, offset="0x3ffffc"), *reads(1)],
}  # fmt: skip


@pytest.mark.parametrize("lines", STAYS.values(), ids=STAYS)
def test_what_stays(lines: list[str]) -> None:
    assert narrowed(lines) == loads(lines)
