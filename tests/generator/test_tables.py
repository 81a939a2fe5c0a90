"""The tables of the specification as uniform rows: keys, places, resolved columns, counts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from oricgen.isa import bits
from oricgen.rows import Row
from oricgen.tables import all_tables, check_all

from tests import specification

ROOT = Path(__file__).resolve().parents[2]
SPEC = specification.spec()
TABLES = {table.NAME: table for table in all_tables()}


def row(table: str, key: str) -> Row:
    """The row of that key."""
    return next(r for r in TABLES[table].rows(SPEC) if r.key == key)


def test_names_are_unique() -> None:
    assert len(TABLES) == len(all_tables())
    check_all(SPEC)


@pytest.mark.parametrize("name", TABLES)
def test_rows_have_unique_keys_and_stand_in_their_files(name: str) -> None:
    rows = TABLES[name].rows(SPEC)
    assert rows
    assert [key for key, count in Counter(r.key for r in rows).items() if count > 1] == []
    lengths: dict[str, int] = {}
    for r in rows:
        owner = [f for f in TABLES[name].FILES if r.path == f"spec/{f}" or r.path.startswith(f"spec/{f}/")]
        assert owner, f"{r.key} stands in {r.path}, which is not in FILES"
        if r.path not in lengths:
            lengths[r.path] = len((ROOT / r.path).read_text(encoding="utf-8").splitlines())
        assert 1 <= r.line <= lengths[r.path], f"{r.key}: line {r.line} of {r.path}"
        json.dumps(r.values)


def test_every_file_belongs_to_a_table() -> None:
    owned = [f for table in TABLES.values() for f in table.FILES]
    files = [path.relative_to(ROOT / "spec").as_posix() for path in sorted((ROOT / "spec").rglob("*.yaml"))]
    assert [f for f in files if not any(f == o or f.startswith(o + "/") for o in owned)] == []


def test_counts_agree_with_the_rows() -> None:
    """What a table counts as its rows is as many as the rows that it shows."""
    same = {"operations": "operations", "forms": "forms"}
    for name, what in same.items():
        assert TABLES[name].counts(SPEC)[what] == len(TABLES[name].rows(SPEC))
    options = TABLES["options"].counts(SPEC)
    assert sum(options.values()) == len(TABLES["options"].rows(SPEC))
    signatures = [r for r in TABLES["ptx"].rows(SPEC) if "instruction" in r.values]
    assert len(signatures) == TABLES["ptx"].counts(SPEC)["signatures"]
    rules = [r for r in TABLES["lowering"].rows(SPEC) if "instruction" in r.values]
    assert len(rules) == TABLES["lowering"].counts(SPEC)["rules written out"]


def test_a_form_shows_what_it_takes_from_the_shared_formats() -> None:
    form = row("forms", "FADD/sm_90/RI").values
    assert form["operands"]["Rb"] == "f32 32-63"
    assert form["modifiers"]["rnd"] == "78-79 RN* RM RP RZ"
    assert int(form["mask"], 16) == 0xFFF | 1 << 91
    assert int(form["value"], 16) == int(form["opcode"], 16) == 0x421
    line = (
        (ROOT / row("forms", "FADD/sm_90/RI").path)
        .read_text(encoding="utf-8")
        .splitlines()[row("forms", "FADD/sm_90/RI").line - 1]
    )
    assert line.strip().startswith("forms: add2 0x021")


def test_masks_of_forms_are_their_opcode_and_match_bits() -> None:
    for r in TABLES["forms"].rows(SPEC):
        match = dict(part.split("=") for part in r.values.get("match", "").split())
        mask = int(r.values["mask"], 16)
        assert mask == 0xFFF | sum(1 << int(b) for b in match), r.key
        assert int(r.values["value"], 16) & ~bits.parse("0-11").mask == sum(1 << int(b) for b, v in match.items() if v == "1"), (
            r.key
        )


def test_a_rule_shows_its_macros_and_sets() -> None:
    values = row("lowering", "add[.rnd][.ftz][.sat].f32").values
    assert values["emit"] == ["FADD{ftz}{rnd}{sat} d, a, b"]
    assert values["sets"]["rnd"] == "rn nothing, rz .RZ, rm .RM, rp .RP"
    lines = [line for r in TABLES["lowering"].rows(SPEC) for line in r.values.get("emit", ()) if "instruction" in r.values]
    assert not [line for line in lines if line.startswith("$")]


def test_classes_are_resolved_per_encoding_model() -> None:
    classes = {r.key: r.values for r in TABLES["latency"].rows(SPEC)}
    different = [
        r["class"] for r in classes.values() if r["isa"] == "sm_80" and {**r, "isa": "sm_90"} != classes[f"{r['class']}/sm_90"]
    ]
    assert different  # some columns differ, and the rows say so
    assert "isa" in classes["alu/sm_90"]
    assert not isinstance(classes["alu/sm_90"]["isa"], dict)


def test_layouts_have_what_they_inherit() -> None:
    records = {r["attribute"]: r for r in row("cubin", "layout sm_80").values["records"]}
    assert "SW2861232_WAR" in records and "SW_WAR" in records
    assert "KPARAM_INFO" in records
