"""Legalization by opcode: the specification against the documented table, and what dispatch() answers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from oric_tables import dispatch as generated
from oric_tables import opcodes as names
from oricgen.tables import dispatch

from tests import specification

HERE = Path(__file__).resolve().parent
SPEC = specification.spec()
TABLE = dispatch.load(SPEC)


def numbers(text: str) -> list[int]:
    """``2,3`` and ``139--141`` and ``46..62``."""
    out = []
    for part in text.split(","):
        first, *last = map(int, re.findall(r"\d+", part))
        out += list(range(first, (last[0] if last else first) + 1))
    return out


def documented() -> dict[int, str]:
    """Id -> where the document sends it."""
    out: dict[int, str] = {}
    for line in (HERE / "dispatch_table.txt").read_text(encoding="utf-8").splitlines()[1:]:
        cases, where = line.split(" ", 1)
        ids = numbers(cases)
        slots = numbers(",".join(re.findall(r"v\[([\d.]+)\]", where))) if where.startswith("v[") else []
        for number, one in enumerate(ids):
            assert one not in out
            out[one] = f"slot {slots[number if len(slots) > 1 else 0]}" if slots else where
    return out


def test_every_documented_row_goes_where_the_document_says() -> None:
    expected = documented()
    assert sorted(expected) == list(TABLE.by_id)
    special = {
        58: "emit 0xa2", 148: "emit 0x2d", 269: "emit 0xffff",
        47: "info_flag ? sub_9E74E0 : default", 277: "operand_type_5 ? slot 65 : slot 11",
    }  # fmt: skip
    shown = {58: "emit(162)", 148: "emit(45)", 269: "emit(0xFFFF)", 47: "sub_9E74E0 conditional", 277: "type==5?v[65]:v[11]"}
    assert {one: expected[one] for one in shown} == shown
    assert {one: entry.text for one, entry in TABLE.by_id.items()} == expected | special


def test_counts() -> None:
    assert dispatch.counts(SPEC) == {
        "dispatch rows": 140, "ids with a row": 242, "vtable slots": 85, "direct handlers": 73, "conditional ids": 2,
        "inline emits": 3, "ids that skip predication": 5,
    }  # fmt: skip
    assert (min(TABLE.slots), max(TABLE.slots)) == (0, 93)


def test_the_predication_step_is_left_out_for_five_ids() -> None:
    skipped = {one for one in TABLE.by_id if not generated.dispatch(one, flags=1).predication}
    assert skipped == {15, 52, 54, 72, 97}


@pytest.mark.parametrize(
    ("word", "arguments", "kind", "target"),
    [
        (1, {}, "direct", "sub_9DA5C0"),
        (3, {}, "vtable", 0),
        (331, {}, "vtable", 33),
        (348, {}, "vtable", 62),
        (58, {}, "inline", 162),
        (148, {}, "inline", 45),
        (269, {}, "inline", 0xFFFF),
        (277, {"operand_type": 5}, "vtable", 65),
        (277, {"operand_type": 0b1101}, "vtable", 65),
        (277, {"operand_type": 4}, "vtable", 11),
        (47, {"flags": 1}, "direct", "sub_9E74E0"),
        (47, {"flags": 3}, "direct", "sub_9E74E0"),
        (47, {"flags": 2}, "pass", None),
        (47, {"legal": False}, "inline", 0xFFFF),
        (12, {}, "pass", None),
        (12, {"legal": False}, "inline", 0xFFFF),
        (512, {}, "pass", None),
        (0xFFF, {"legal": False}, "inline", 0xFFFF),
        (0x3001, {}, "direct", "sub_9DA5C0"),
    ],
)
def test_dispatch(word: int, arguments: dict[str, int], kind: str, target: str | int | None) -> None:
    found = generated.dispatch(word, **arguments)  # type: ignore[arg-type]
    given = {"direct": found.handler, "vtable": found.slot, "inline": found.emit, "pass": None}
    assert (found.kind, given[found.kind]) == (kind, target)
    assert (bool(found.handler), found.slot >= 0, found.emit >= 0).count(True) == (kind != "pass")


def test_generated_table_is_the_specification() -> None:
    assert len(generated.DISPATCH) == names.IDS
    for one in range(names.IDS):
        entry = TABLE.by_id.get(one)
        found = generated.dispatch(one, operand_type=5, flags=1)
        if entry is None:
            assert found == generated.PASS
        else:
            assert (found.handler, found.slot, found.emit, found.predication) == (
                entry.handler, entry.slot, entry.emit, entry.predication,
            )  # fmt: skip
