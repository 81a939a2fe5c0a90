"""The dump of the schedule against the control codes of the machine code."""

from __future__ import annotations

from typing import Any

import pytest
from oric.inside.schedule import NotScheduled, schedule_record
from oric.ir.read import read
from oric.sass import decode
from oric_tables.reports import PIPES

from tests.inside.looking import NAMES, TARGET, facts, kernel, looked


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("level", [0, 3])
def test_control_bits_are_those_of_the_code(name: str, level: int) -> None:
    records, functions = looked(kernel(name), ("schedule",), level=level)
    for record, (_, encoded) in zip(records, functions, strict=True):
        found: Any = record["instructions"]
        code = decode(encoded.words, TARGET)[: len(found)]
        assert len(code) == len(found) > 0
        for row, instruction in zip(found, code, strict=True):
            control = instruction.control
            assert row["pipe"] in PIPES and (row["stall"], row["yield"]) == (control.stall, control.yields)
            assert (row["write"], row["read"]) == tuple(
                -1 if n == 7 else n for n in (control.write_barrier, control.read_barrier)
            )
            assert sum(1 << n for n in row["waits"]) == control.wait
        assert record["cycles"] == sum(row["stall"] for row in found)
        pipes: Any = record["pipes"]
        assert sum(row["instructions"] for row in pipes) == len(found)
        starts = [
            row for row, before in zip(found, [None, *found], strict=False) if before is None or before["block"] != row["block"]
        ]
        assert all(row["issue"] == 0 for row in starts)


def test_code_that_is_not_scheduled_is_refused() -> None:
    f = read("entry k sm_90\nbix0:\n    EXIT\n")
    with pytest.raises(NotScheduled, match="'k' is not scheduled after phase 0 text"):
        schedule_record(f, facts())
