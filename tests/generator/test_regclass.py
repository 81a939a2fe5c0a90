"""The opcode register class table, against the document's rows."""

import pytest
from oricgen.tables import regclass

from tests import specification

SPEC = specification.spec()
TABLE = regclass.load(SPEC)
BY_ID = {number: case for case in TABLE.cases for number in case.ids}
# Registers, "Encoding Category Assignment": ids -> the categories that the row names
DOCUMENTED: dict[tuple[int, ...], tuple[int, ...]] = {
    (0x03,): (489,), (0x04,): (106,), (0x05, 0x06): (490, 491), (0x07,): (59,), (0x08,): (60,), (0x0E, 0x0F, 0x10): (510,),
    (0x11, 0x12, 0x18): (517,), (0x15, 0x16): (524, 525), (0x19,): (526,), (0x1A,): (527,), (0x1B,): (497,), (0x1E,): (494,),
    (0x1F,): (501,), (0x20,): (502,), (0x21,): (503,), (0x22, 0x23): (55, 56), (0x28, 0x29, 0x2A): (512,), (0x2B, 0x2C): (513,),
    (0x2D,): (516,), (0x51, 0x52, 0x53): (437, 438), (0x54, 0x55, 0x56): (423, 424), tuple(range(0x64, 0x68)): (156, 463),
    (0x68,): (468,), (0x6A, 0x6C, 0x6D): (469,), (0x77, 0x78, 0x79): (528, 529, 530), (0x82,): (487,), (0x9E, 0x9F): (535, 536),
    tuple(range(0xAF, 0xB3)): tuple(range(431, 447)), tuple(range(0xB8, 0xBF)): tuple(range(449, 457)), (0xC1,): (10, 13),
    (0xC8,): (24,), tuple(range(0xC9, 0xD4)): (61, 455), (0xD6, 0xD7): (515,), (0xDA, 0xDB): (521, 533), (0xDC,): (534,),
    (0xE0,): (500,), (0xF5,): (532,),
}  # fmt: skip
# Registers, "Sub-handler Functions"
HANDLERS = {
    "texture": "sub_650390", "memory": "sub_650220", "fp_multiply": "sub_651330", "lea": "sub_650920",
    "conversion": "sub_650A90", "branch": "sub_652190", "misc": "sub_653B90", "barrier_modifiers": "sub_650C80",
    "texture_modifiers": "sub_651A90", "memory_space": "sub_62D5D0",
}  # fmt: skip
HANDLED_IDS = {
    "fp_multiply": {0x0D}, "lea": {0x09, 0x72, 0x74, 0x7A, 0x80, 0x81}, "branch": {0x13, 0x14, 0x17}, "misc": {0x0C},
    "conversion": {*range(0x24, 0x28), *range(0xE2, 0xEC)}, "texture_modifiers": {0x83},
}  # fmt: skip


@pytest.mark.row("R4-53")
def test_every_documented_case_has_its_category() -> None:
    assert len(DOCUMENTED) == 37
    for ids, categories in DOCUMENTED.items():
        for number in ids:
            assert set(BY_ID[number].categories) <= set(categories), hex(number)
        assert {c for number in ids for c in BY_ID[number].categories} == set(categories), hex(ids[0])
    listed = {number for ids in DOCUMENTED for number in ids}
    assert {number for number, case in BY_ID.items() if case.categories} == listed


def test_counts() -> None:
    assert regclass.counts(SPEC) == {
        "regclass cases": 168,
        "regclass cases with a category": 80,
        "regclass cases with a sub-handler only": 26,
        "regclass cases that are unknown": 62,
        "sub-handlers": 10,
        "opcodes with a regclass case": len(TABLE.of),
        "opcodes with a sub-handler": len(TABLE.handlers),
    }


def test_opcodes_find_their_case_by_mnemonic() -> None:
    expected = {
        "IADD3": 489,
        "SGXT": 490,
        "LOP3": 491,
        "ISETP": 59,
        "MUFU": 501,
        "SHF": 502,
        "BSSY": 528,
        "BSYNC": 530,
        "MOV": 517,
    }
    assert {name: TABLE.of[name].categories for name in expected} == {n: (c,) for n, c in expected.items()}
    # two cases name these
    assert (TABLE.of["FSETP"].ids, TABLE.of["PRMT"].ids) == ((0x11,), (0xC8,))
    # one case of several, and no document says which
    assert TABLE.of["LDG"] is TABLE.of["STL"]
    assert TABLE.of["LDG"].categories == tuple(range(449, 457))
    assert BY_ID[0xE0].names == ("WGMMA",)
    assert "WGMMA" not in TABLE.of, "no opcode of that name"


@pytest.mark.row("R4-58")
def test_sub_handlers() -> None:
    assert dict(TABLE.addresses) == HANDLERS
    for handler, ids in HANDLED_IDS.items():
        assert {number for number, case in BY_ID.items() if case.handler == handler} >= ids
    for handler, names in {
        "memory": "LDG STG LD ST ATOM RED",
        "texture": "TEX TLD",
        "conversion": "I2I F2F",
        "lea": "LEA",
    }.items():
        assert all(TABLE.handlers[name] == handler for name in names.split())


def test_rows_have_a_source_and_keys_of_their_own() -> None:
    rows = regclass.rows(SPEC)
    assert len({row.key for row in rows}) == len(rows)
    assert all(row.values["source"] for row in rows)
    by_key = {row.key: row for row in rows}
    assert by_key["0x07 ISETP"].values["category"] == 59
    assert by_key["0xb8 LDG/STG/LDL/STL"].values["category"] == "one of 449-456"
    assert by_key["0x09 LEA"].values["category"] == "unknown"
