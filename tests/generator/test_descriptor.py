"""The tables of the encoding descriptor, against the document's rows."""

import pytest
from oricgen.tables import descriptor

from tests import specification

SPEC = specification.spec()
MODEL = descriptor.load(SPEC)
FIELDS = {field.id: field for field in MODEL.class_fields}
# Registers, "Lookup Tables": size and the class fields that go through the table
LOOKUP_TABLES = {
    "dword_21DEB80": (5, {94}), "dword_21DEB50": (3, {107, 115, 145, 157, 165}), "dword_21DEB20": (8, {113}),
    "dword_21DEB00": (7, {116, 126, 131, 170}), "dword_21DEAE0": (5, {119, 123, 136, 143, 159}), "dword_21DEAA0": (13, {120}),
    "dword_21DEA60": (10, {121, 135, 151}), "dword_21DEA20": (15, {124, 125}), "dword_21DE9F0": (6, {129, 130, 150}),
    "dword_2026C30": (6, {116}), "dword_2026C80": (20, {165}), "dword_2026E20": (17, {286}), "dword_2026AC0": (16, {198}),
    "dword_2026B20": (23, set()),
}  # fmt: skip
# Registers, "Extended Opcode Path": sub-opcodes -> field 115, field 113
EXTENDED = {
    (0xF6, 0xFF, 0x106): (69, 60), (0xF7, 0x100, 0x107): (71, 60), (0xF8, 0x102, 0x109): (0, 63), (0xF9, 0x103, 0x10A): (0, 61),
    (0xFA, 0x104, 0x10B): (0, 62), (0xFB,): (0, 65), (0xFC,): (0, 66), (0xFD,): (0, 68), (0xFE, 0x105, 0x10C): (0, 64),
    (0x101, 0x108): (72, 60),
}  # fmt: skip
GROUPS = {
    "core class": (91, 102, "a3[2] bits 5-22"), "data width": (113, 117, "a3[2] bits 0-9"),
    "load/store": (118, 134, "a3[1]/a3[2]"), "texture/surface": (135, 165, "a3[2] bits 1-31"),
    "control flow": (167, 202, "a3[2] bits 1-6"), "FP/conversion": (230, 264, "a3[2]"), "extended": (269, 299, "a3[2]"),
    "Hopper/Blackwell": (304, 340, "a3[2]"),
}  # fmt: skip
TAGS = {1: 0, 2: 1, 3: 2, 4: 3, 5: 4, 6: 5, 7: 6, 8: 7, 16: 8, 32: 9, 64: 10, 128: 11}


def test_every_class_field_and_its_group() -> None:
    assert list(FIELDS) == list(range(91, 341))
    for name, (first, last, within) in GROUPS.items():
        members = [f.id for f in MODEL.class_fields if f.group == name]
        assert members == list(range(first, last + 1))
        assert {FIELDS[number].within for number in members} == {within}
    outside = [number for number, f in FIELDS.items() if not f.group]
    assert outside == [*range(103, 113), 166, *range(203, 230), *range(265, 269), *range(300, 304)]


def test_only_documented_bits_are_known() -> None:
    known = {number: field.place for number, field in FIELDS.items() if field.place}
    assert known == {91: (2, 16, 1), 113: (2, 7, 4), 120: (1, 0, 4), 121: (1, 4, 4)}
    assert (FIELDS[91].test, FIELDS[113].base) == (1, 60)
    assert list(MODEL.operand_fields) == list(range(3, 72))


def test_words() -> None:
    assert MODEL.data["words"] == 5
    assert MODEL.parts == {
        "category": (0, 0, 32), "memory space": (1, 0, 4), "address type": (1, 4, 4), "texture scope": (3, 1, 1),
        "special": (3, 29, 1), "operand count": (4, 0, 32),
    }  # fmt: skip
    assert MODEL.data["operand_count"]["value"] == 12


def test_lookup_tables() -> None:
    rows = {row.values["table"]: row.values for row in MODEL.sections["lookup_tables"]}
    listed = {name: values for name, values in rows.items() if values.get("listed", True)}
    assert {name: values["size"] for name, values in listed.items()} == {n: size for n, (size, _) in LOOKUP_TABLES.items()}
    for name, (_, fields) in LOOKUP_TABLES.items():
        assert {f.id for f in MODEL.class_fields if name in f.tables} == fields
    assert {values["values"] for values in rows.values()} == {"unknown"}
    assert MODEL.data["tables"]["claimed"] == 28


def test_extended_path_is_complete() -> None:
    expected = {sub: values for subs, values in EXTENDED.items() for sub in subs}
    assert {sub: (row.register_class, row.width) for sub, row in MODEL.extended.items()} == expected
    assert sorted(expected) == list(range(0xF6, 0x10D))
    assert [row.values["category"] for row in MODEL.sections["gates"]] == [442, 443, 441]


@pytest.mark.row("R4-27")
def test_register_tags() -> None:
    assert {row.values["tag"]: row.values["code"] for row in MODEL.sections["register_tags"]} == TAGS


def test_counts() -> None:
    counts = descriptor.counts(SPEC)
    assert counts["class fields (packRegClassField)"] == 250
    assert counts["operand fields (packOperandField)"] == 69
    assert (counts["lookup tables"], counts["lookup tables listed"]) == (28, 14)
    assert (counts["extended rows"], counts["extended sub-opcodes"]) == (10, 23)
    assert (counts["groups of class fields"], counts["register type tags"], counts["descriptor words"]) == (8, 12, 5)


def test_rows_have_a_source_and_keys_of_their_own() -> None:
    rows = descriptor.rows(SPEC)
    assert len({row.key for row in rows}) == len(rows)
    assert all(row.values["source"] for row in rows)
    by_key = {row.key: row.values for row in rows}
    assert by_key["field 113"]["bits"] == "a3[2] bits 7-10"
    assert by_key["field 94"]["bits"] == "unknown (a3[2] bits 5-22)"
    assert by_key["operand field 17"]["name"] == "texture data type"
    assert "field 17" not in by_key, "the namespaces are apart"
