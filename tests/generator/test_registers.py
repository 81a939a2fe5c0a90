"""The register model: documented numbers, and the same in Python and in C."""

import pytest
from oric.ir import function, operand
from oric.ir.machine import FILES
from oric_tables import registers as generated
from oric_tables._native import lib
from oricgen.tables import _line, registers

from tests import specification

SPEC = specification.spec()
FOUND = registers.load(SPEC)


def column(section: str, key: str, name: str) -> dict[object, object]:
    return {row.values[key]: row.values[name] for row in FOUND[section]}


def test_abi_types() -> None:
    assert column("files", "file", "abi_type") == {
        "R": 2, "UR": 3, "P": 5, "UP": "none", "B": "none", "UB": "none", "Acc": "none",
    }  # fmt: skip
    assert generated.ABI_TYPES == {"R": 2, "UR": 3, "P": 5}


@pytest.mark.row("R1-27", "R4-41")
def test_limits() -> None:
    assert column("files", "file", "limit") == {"R": 255, "UR": 63, "P": 7, "UP": 7, "B": 16, "UB": 16, "Acc": "varies"}
    assert list(column("classes", "class", "limit").values()) == ["none", 255, 255, 63, 63, 7, "varies"]


@pytest.mark.row("R4-13")
def test_types() -> None:
    names = {"R": 1, "R_ALT": 2, "UR": 3, "UR_EXT": 4, "P": 5, "ACC": 6, "UP": 7, "EXTENDED": 8, "B": 9, "R2": 10, "R4": 11}
    assert {name: getattr(generated, name) for name in names} == names
    assert {name: getattr(lib, f"ORIC_T_{name}") for name in names} == names
    assert (function.R, function.UR, function.P, function.UP, function.B, function.R2, function.R4) == (1, 3, 5, 7, 9, 10, 11)
    letters = [generated.DISPLAY[names[n]] for n in ("R", "UR", "P", "UP", "B", "R2", "R4")]
    assert letters == ["R", "UR", "P", "UP", "B", "R", "R"]
    f = function.Function("f", "sm_90")
    made = [f.new_reg(t) for t in (1, 3, 5, 7, 9)]
    assert [f.reg_flags[r] for r in made] == [0x1018, 0x1018, 0x1000, 0x1000, 0x1018]


def test_sentinels() -> None:
    rows = {row.key: row for row in FOUND["fixed"]}
    assert {key: row.values["sentinel"] for key, row in rows.items()} == {"RZ": 1023, "URZ": 1023, "PT": 31, "UPT": 31}
    places = _line.places(specification.spec())
    wanted = {"sm_70": None, "sm_75": 63, "sm_90": 63, "sm_100": 255, "sm_121": 255}
    assert {sm: registers.index_on(rows["URZ"], sm, places) for sm in wanted} == wanted
    assert [registers.index_on(rows[name], "sm_90", places) for name in ("RZ", "PT", "UPT")] == [255, 7, 7]
    assert (operand.RZ, operand.PT) == (lib.ORIC_SENTINEL_RZ, lib.ORIC_SENTINEL_PT) == (1023, 31)


@pytest.mark.row("R4-11")
def test_flags_and_pressure() -> None:
    masks = column("flags", "name", "mask")
    assert list(masks.values()) == [0x200, 0x400, 0x800, 0x1000, 0x4000, 0x40000, 0x300000, 0x400000, 0x800000, 0x8000000]
    counted = ["R", "P", "UR", "UP", "B", "arch0", "arch1", "arch2", "arch3", "arch4_or_control_total"]
    assert column("pressure", "offset", "counts") == dict(zip(range(4, 44, 4), counted, strict=True))
    assert column("architectural", "index", "register") == {39: "undocumented", 41: "PT", 42: "P0", 43: "P1", 44: "P2"}
    assert column("widths", "bits", "align") == {32: 1, 64: 2, 128: 4, 256: 8, 512: 16, 8192: 8}


def test_files_of_types_in_c() -> None:
    units = [FILES[number] for number in lib.oric_file_of_type]
    assert [units[t] for t in (1, 2, 3, 4, 5, 6, 7, 9, 10, 11)] == ["R", "R", "UR", "UR", "P", "R", "UP", "B", "R", "R"]
    kinds = {"R": lib.ORIC_K_GPR, "P": lib.ORIC_K_PRED, "B": lib.ORIC_K_BREG, "UR": lib.ORIC_K_UGPR, "UP": lib.ORIC_K_UPRED}
    assert {file: lib.oric_kind_of_file[number] for number, file in enumerate(FILES)} == kinds


def test_every_row_has_a_source() -> None:
    assert all(row.values["source"] for row in registers.rows(SPEC))
