"""Records of the runs of phases."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from oric.cli import main
from oric.inside.timing import TIMING_SIZE, TimingRecord, image, records_of
from oric.phases.manager import list_phases

from tests.inside.looking import kernel


@pytest.mark.row("R3-18")
def test_a_record_has_32_bytes_at_the_documented_places() -> None:
    records = records_of([(0, 3, "A", 2e-6), (0, 100, "Bé", 3e-6), (1, 3, "A", 1e-6)])
    assert records == [
        TimingRecord(159, "OCG", 0, 0, 5), TimingRecord(3, "A", 1, 0, 2), TimingRecord(100, "Bé", 1, 0, 3),
        TimingRecord(159, "OCG", 0, 1, 1), TimingRecord(3, "A", 1, 1, 1),
    ]  # fmt: skip
    data = image(records)
    assert TIMING_SIZE == 32
    for number, record in enumerate(records):
        phase, name, depth, unit, spare = struct.unpack_from("<I4xQIII4x", data, 32 * number)
        assert (phase, depth, unit, spare) == (record.phase, record.depth, record.unit, record.spare)
        assert data[name : data.index(0, name)].decode() == record.name
    assert image([]) == b""


@pytest.mark.row("R3-18")
@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_every_phase_that_runs_has_a_record_below_its_function(
    level: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(kernel("reduction") + kernel("saxpy").partition(".address_size 64")[2])
    assert main(["dump", "--timing", "--json", str(path), "-arch", "sm_90", level]) == 0
    found: list[Any] = json.loads(capsys.readouterr().out)
    (record,) = found
    runs = [index for index, _, running in list_phases(int(level[2:])) if running]
    by_unit: dict[int, list[Any]] = {}
    for row in record["records"]:
        by_unit.setdefault(row["unit"], []).append(row)
    assert len(by_unit) == len(record["units"]) > 1
    for rows in by_unit.values():
        assert [row["depth"] for row in rows] == [0] + [1] * (len(rows) - 1)
        assert [row["phase"] for row in rows[1:]] == runs
        assert abs(rows[0]["spare"] - sum(row["spare"] for row in rows[1:])) <= len(rows)
        assert rows[0]["spare"] > 0
    data = bytes.fromhex(record["image"])
    assert all(struct.unpack_from("<I", data, row["offset"])[0] == row["phase"] for row in record["records"])


@pytest.mark.row("R3-18")
def test_times_of_phases_stand_below_their_sum(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(kernel("saxpy"))
    assert main([str(path), "-arch", "sm_90", "--time-phases", "-o", str(tmp_path / "k.cubin")]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split()[0] == "OCG" and head.index("OCG") < rows[0].index(rows[0].split()[1])
    assert [int(row.split()[0]) for row in rows] == [index for index, _, running in list_phases(3) if running]
    assert float(head.split()[-2]) == pytest.approx(sum(float(row.split()[-2]) for row in rows), abs=0.001 * len(rows))
