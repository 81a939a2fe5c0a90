"""Counts of sub-classes, and the documented line of every class."""

from __future__ import annotations

import re
from typing import Any

import pytest
from oric.cli import main
from oric.inside.kinds import KINDS
from oric.ir.machine import FILES
from oric.ir.read import read
from oric_tables.reports import FATPOINTS, SUBCLASSES

from tests.inside.looking import NAMES, facts, kernel, looked

SAMPLE = """entry k sm_90
bix0:
    MOV R1, 0x1
    IMAD.WIDE R2:2, R1, R1, RZ
    LDG{size=128} R4:4, R2:2, 0x0
    CS2R R10:2, SR255
    ISETP{cmp=EQ} P12, R1, RZ, PT
    UMOV UR13, 0x4
    EXIT
"""


def counts(text: str) -> dict[str, int]:
    record: Any = KINDS["registers"].record(read(text), facts())
    return {row["name"]: row["count"] for row in record["subclasses"]}


@pytest.mark.row("R4-50")
def test_sub_classes_of_a_sample() -> None:
    found = counts(SAMPLE)
    assert len(found) == len(SUBCLASSES) == 25
    expected = {"R": 4, "P": 1, "UR": 1, "scalar": 1, "pair": 2, "quad": 1, "SRZ": 1}
    assert {name: found[name] for name in expected} == expected
    assert found["RZ"] >= 2 and found["PT"] >= 1 and found["UB"] == found["B"] == 0
    without = counts(SAMPLE.replace("    ISETP{cmp=EQ} P12, R1, RZ, PT\n", ""))
    assert found["RZ"] - without["RZ"] == 1 and without["P"] == 0 and found["PT"] - without["PT"] >= 1
    assert counts(SAMPLE.replace("SR255", "SR33").replace("CS2R R10:2", "S2R R10"))["SRZ"] == 0


@pytest.mark.row("R4-50")
@pytest.mark.parametrize("name", NAMES)
def test_sub_classes_of_kernels_add_up(name: str) -> None:
    records, _ = looked(kernel(name), ("registers", "allocation", "statistics"), ("96", "132"))
    for at in range(0, len(records), 3):
        table, allocation, statistics = (cast_any(record) for record in records[at : at + 3])
        found = {row["name"]: row["count"] for row in table["subclasses"]}
        files = {file["file"]: file["registers"] for file in allocation["files"]}
        assert {file: found[file] for file in FILES} == {file: len(files[file]) for file in FILES}
        widths = ("scalar", "pair", "quad", "octet", "sixteen", "Tensor/Acc")
        assert sum(found[width] for width in widths) == found["R"]
        assert found["uniform pair"] == sum(r["words"] > 1 for r in files["UR"])
        assert found["spilled"] == sum(r["spilled"] for rows in files.values() for r in rows)
        assert statistics["subclasses"] == table["subclasses"]


def cast_any(value: object) -> Any:
    return value


@pytest.mark.row("R4-51")
@pytest.mark.parametrize("name", NAMES)
def test_a_line_for_each_class_and_entry(name: str, capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    """With the statistics of allocation, letter for letter, with the most that are live at once."""
    path = tmp_path / "k.ptx"
    path.write_text(kernel(name))
    assert main(["dump", "--allocation", "--pressure", str(path), "-arch", "sm_90"]) == 0
    out = capsys.readouterr().out
    records, functions = looked(kernel(name), ("pressure",))
    for record, (f, _) in zip(records, functions, strict=True):
        peaks: Any = record["peak"]
        lines = [FATPOINTS % (f.name, peak["file"], peak["live"]) for peak in peaks]
        assert re.findall(rf"^Fatpoint count for entry {f.name} .*$", out, re.MULTILINE) == lines
        assert lines[0] == f"Fatpoint count for entry {f.name} for regclass R : {peaks[0]['live']}" and peaks[0]["live"] > 0


def test_spills_are_told() -> None:
    """A kernel that does not fit 24 registers."""
    from tests.kernels import cases

    ptx = cases.ptx("sgemm", "sm_90")
    records, functions = looked(ptx, ("allocation", "statistics"), registers=24)
    allocation, statistics = (cast_any(record) for record in records[:2])
    facts_of = functions[0][0].attributes
    assert allocation["spills"] == {"stores": facts_of.spill_stores, "loads": facts_of.spill_loads}
    fields = {field["name"]: field["value"] for field in statistics["fields"]}
    assert (fields["spill_bytes"], fields["refill_bytes"]) == (facts_of.spill_stores, facts_of.spill_loads)
