"""Numbers that C and Python share come from one generated header, and nobody writes them a second time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from oric_tables import numbers, registers
from oric_tables._native import lib
from oricgen import native
from oricgen.spec import Spec
from oricgen.tables import numbers as table

ROOT = Path(__file__).resolve().parents[2]
SPEC = Spec(ROOT / "spec")
GROUPS = {group.name: group for group in table.groups(SPEC)}
HAND_WRITTEN = [path for name, path in native.files(ROOT).items() if not path.is_relative_to(ROOT / "build")]
PYTHON = sorted((ROOT / "runtime/oric").rglob("*.py"))
# A literal as the amount of a shift of control bits: `control >> 11`.
RAW = re.compile(r"control\w*\)?\s*(?:>>|<<)\s*\(?\d")


@pytest.mark.parametrize("group", GROUPS)
def test_both_sides_have_the_numbers_of_the_table(group: str) -> None:
    for name, number, _ in GROUPS[group].numbers:
        assert getattr(numbers, name) == number
        assert getattr(lib, f"ORIC_{name}") == number
    if GROUPS[group].dense:
        assert getattr(numbers, group.upper()) == tuple(name.lower() for name in GROUPS[group].bare)
        assert getattr(lib, f"ORIC_{group.upper()}") == len(GROUPS[group].numbers)


def test_fields_of_the_control_bits_follow_the_frame_of_a_word() -> None:
    frame = SPEC.load("formats.yaml")["frame"]
    control = table.control(SPEC)
    assert (control.first, control.bits, control.reuse, control.reuse_places, control.guard) == (105, 17, 122, 4, 12)
    for field, place in zip(control.fields, ("stall", "yield", "write_barrier", "read_barrier", "wait_mask"), strict=True):
        first, _, last = str(frame[place]).partition("-")
        assert (control.first + field.shift, field.mask) == (int(first), (1 << int(last or first) - int(first) + 1) - 1)
        name = field.name.upper()
        assert (getattr(numbers, f"{name}_SHIFT"), getattr(numbers, f"{name}_MASK")) == (field.shift, field.mask)
        assert (getattr(lib, f"ORIC_{name}_SHIFT"), getattr(lib, f"ORIC_{name}_MASK")) == (field.shift, field.mask)


def test_registers_that_read_as_a_constant_have_one_number_in_a_word() -> None:
    assert (registers.INSN_RZ, registers.INSN_PT) == (lib.ORIC_INSN_RZ, lib.ORIC_INSN_PT) == (255, 7)


def test_nobody_takes_control_bits_apart_by_hand() -> None:
    assert RAW.search("control >> 11 & 63") and RAW.search("(control << 5)")
    wrong = [f"{path}: {line}" for path in (*HAND_WRITTEN, *PYTHON) for line in path.read_text().splitlines() if RAW.search(line)]
    assert wrong == []


def test_no_c_file_defines_a_name_of_the_table() -> None:
    names = "|".join(name for group in GROUPS.values() for name, _, _ in group.numbers)
    own = re.compile(rf"\bORIC_({names})\s*=\s*[0-9(]|#define\s+ORIC_({names})\b")
    assert own.search("enum { ORIC_LANES = 32 };") and not own.search("if (x == ORIC_LANES)")
    assert [path for path in HAND_WRITTEN if own.search(path.read_text(encoding="utf-8"))] == []


def test_every_number_is_read() -> None:
    c = "\n".join(path.read_text(encoding="utf-8") for path in HAND_WRITTEN)
    python = "\n".join(path.read_text(encoding="utf-8") for path in PYTHON)
    unread = [
        name
        for group in GROUPS.values()
        for name, _, _ in group.numbers
        if not re.search(rf"\bORIC_{name}\b", c) and not re.search(rf"\b(ORIC_)?{name}\b", python)
    ]
    assert set(unread) <= {name for group in GROUPS.values() if group.dense for name, _, _ in group.numbers}
