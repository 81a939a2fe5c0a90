"""Live ranges, pressure and interference against the back end's kernels and samples by hand."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from oric.inside.kinds import KINDS
from oric.inside.live import peaks
from oric.inside.liveness import BACK_END, DATA_FLOW, Liveness
from oric.ir.function import Function
from oric.ir.machine import FILES
from oric.ir.read import read
from oric_tables._native import ffi, lib

from tests.inside.looking import NAMES, facts, kernel, looked

SAMPLE = """entry k sm_90
bix0:
    MOV R1, 0x1
    MOV R2, 0x2
    IMAD.WIDE R8:2, R2, R2, RZ
    IADD3 R3, R1, R2, RZ
    ISETP{cmp=EQ} P4, R3, 0x7, PT
    @P4 BRA bix2
bix1:
    IADD3 R3, R3, R1, RZ
bix2:
    STG R8:2, 0x0, R3
    EXIT
"""
SSA = """entry k sm_90 ssa
bix0:
    MOV R1, 0x1
    MOV R2, 0x2
    @P4 BRA bix2
bix1:
    MOV R5, 0x5
bix2:
    MovPhi R3, R1, bix0, R5, bix1
    STG R8:2, 0x0, R3
    EXIT
"""


def record(kind: str, text: str) -> Any:
    return KINDS[kind].record(read(text), facts())


def test_ranges_of_a_sample() -> None:
    found = record("live", SAMPLE)
    spans = {row["unit"]: row["spans"] for row in found["ranges"]}
    assert spans == {
        "R1": [[0, 6]], "R2": [[1, 3]], "R3": [[3, 7]], "P4": [[4, 5]], "R8.0": [[2, 7]], "R8.1": [[2, 7]]
    }  # fmt: skip
    assert [b["in"] for b in found["blocks"]] == [[], ["R1", "R3", "R8.0", "R8.1"], ["R3", "R8.0", "R8.1"]]


def test_a_phi_reads_at_the_ends_of_the_blocks_before() -> None:
    found = record("live", SSA)
    assert found["by"] == DATA_FLOW
    out = {b["block"]: set(b["out"]) for b in found["blocks"]}
    assert "R1" in out[0] and "R5" in out[1] and "R1" not in out[1] and "R3" not in out[0] | out[1]
    assert next(row["spans"] for row in found["ranges"] if row["unit"] == "R1") == [[0, 2]]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("registers", [None, 24])
def test_peaks_and_pairs_are_those_of_the_allocator(name: str, registers: int | None) -> None:
    """In front of allocation and behind it."""
    records, functions = looked(kernel(name), ("pressure", "interference", "live"), ("96", "132"), registers=registers)
    assert records
    for f, _ in functions:
        liveness = Liveness(f, facts())
        assert liveness.by == BACK_END and liveness.allocated
        most = ffi.new("int32_t[]", len(FILES))
        assert lib.oric_pressure(liveness.view.fn, most) == 0
        assert peaks(f, facts()) == dict(zip(FILES, ffi.unpack(most, len(FILES)), strict=True))
    for at in range(0, len(records), 3):
        check_agreement(*records[at : at + 3])


def check_agreement(pressure: Any, interference: Any, live: Any) -> None:
    """Ranges count as pressure says; spans are in order and apart; what overlaps in the general file meets."""
    counts = [dict.fromkeys(FILES, 0) for _ in pressure["instructions"]]
    for row in live["ranges"]:
        assert all(first <= last for first, last in row["spans"])
        assert all(a[1] < b[0] - 1 for a, b in pairwise(row["spans"]))
        for first, last in row["spans"]:
            for place in range(first, last + 1):
                counts[place][row["file"]] += 1
    for row, found in zip(pressure["instructions"], counts, strict=True):
        assert all(row["before"][file] <= found[file] for file in FILES), row
    for peak in pressure["peak"]:
        assert peak["live"] == max(max(r[when][peak["file"]] for when in ("before", "at")) for r in pressure["instructions"])
    for line in pressure["lines"]:
        rows = [r for r in pressure["instructions"] if r["line"] == line["line"]]
        assert line["live"] == {file: max(max(r["before"][file], r["at"][file]) for r in rows) for file in FILES}
    for file in interference["files"]:
        degree = dict.fromkeys((unit["unit"] for unit in file["units"]), 0)
        for a, b in file["pairs"]:
            degree[a] += 1
            degree[b] += 1
        assert degree == {unit["unit"]: unit["degree"] for unit in file["units"]}
        assert len({frozenset(pair) for pair in file["pairs"]}) == len(file["pairs"])


def test_pairs_of_data_flow_are_those_of_the_back_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of code without guards both find the same."""
    ours = record("interference", SAMPLE)
    assert ours["by"] == BACK_END
    monkeypatch.setattr("oric.inside.liveness.machine.load", _refuse)
    other = record("interference", SAMPLE)
    assert other["by"] == DATA_FLOW and other["files"] == ours["files"]


def _refuse(f: Function, *_: object) -> None:
    from oric.support.diagnostics import InternalError

    raise InternalError("no")


@pytest.mark.parametrize("name", NAMES)
def test_an_allocation_is_that_of_the_function(name: str) -> None:
    """The dump says what the function has: places, words; no more are live than there are places, and the file tells as many."""
    records, functions = looked(kernel(name), ("allocation",), ())
    assert records
    by_name = {f.name: f for f, _ in functions}
    for found in records:
        f = by_name[str(found["function"])]
        files: Any = found["files"]
        assert found["allocated"]
        for file in files:
            for row in file["registers"]:
                number = int(row["register"].split(":")[0].lstrip("RUPB"))
                assert f.physical[number] == row["hardware"] and f.reg_size[number] == row["words"]
                assert row["hardware"] + row["words"] <= file["used"]
            assert file["peak"] <= file["used"] or not file["registers"]  # barriers have their numbers from the start
        general = next(file for file in files if file["file"] == "R")
        assert general["used"] <= f.attributes.num_regs
