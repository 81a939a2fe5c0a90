"""The phase table and the manager."""

from __future__ import annotations

import time

import pytest
from oric.ir.function import Function
from oric.ir.passes import PassContext
from oric.ir.read import read
from oric.ir.text import write
from oric.ir.verify import verify
from oric.phases.manager import PhaseManager, list_phases, select
from oric.phases.registry import PASSES
from oric_tables.phases import PHASES

from tests.ir.functions import context

TEXT = """
    bix0:
        S2R R0, SR33
        MOV R1, 0x4
        IADD3 R2, R0, R1, RZ
        IADD3 R3, R0, R1, RZ
        STS R0, 0x0, R2
        EXIT
"""


def nothing(f: Function, ctx: PassContext) -> bool:
    return False


REGISTRY = {**PASSES, "allocate_registers": nothing, "schedule_instructions": nothing}


def test_table() -> None:
    rows = list_phases(3)
    assert [r[0] for r in rows] == list(range(159))
    names = {index: name for index, name, _ in rows}
    documented = {0: "OriCheckInitialProgram", 13: "GeneralOptimizeEarly", 23: "GenerateMovPhi", 72: "LateExpandSyncInstructions",
                  118: "MercExpandInstructions", 132: "UpdateAfterConvertUnsupportedOps"}  # fmt: skip
    assert documented.items() <= names.items()
    assert names[158] == "(undocumented)"
    assert sum(p.name != "undocumented" for p in PHASES) == 43
    running = {index for index, _, runs in rows if runs}
    assert {0, 3, 6, 10, 12, 13} <= running
    assert {index for index, _, runs in list_phases(0) if runs} < running


def test_every_pass_has_a_place() -> None:
    placed = {p.function for p in PHASES if p.function}
    assert set(PASSES) <= placed
    assert placed - set(PASSES) == {"allocate_registers", "schedule_instructions"}


def test_levels_choose_phases() -> None:
    low, high = PhaseManager(REGISTRY, 0), PhaseManager(REGISTRY, 3)
    assert set(low.phases) < set(high.phases)
    assert {p.index for p in PHASES if p.required} <= set(low.phases)
    f = read(TEXT)
    low.run(f, context(level=0))
    assert "IADD3 R3" in write(f)
    high.run(f, context())
    assert "IADD3 R3" not in write(f)


def test_dump_verify_and_times() -> None:
    shown: list[str] = []
    checked: list[str] = []
    manager = PhaseManager(
        REGISTRY, verify=lambda f, where: (checked.append(where), verify(f, where))[0], dump=("GeneralOptimizeEarly", "3"),
        dump_text=write, sink=shown.append, clock=time.perf_counter,
    )  # fmt: skip
    manager.run(read(TEXT), context())
    assert [text.split("\n")[0] for text in shown] == [
        "// test after phase 3 AnalyzeControlFlow", "// test after phase 13 GeneralOptimizeEarly",
    ]  # fmt: skip
    assert "IADD3 R3" in shown[0] and "IADD3 R3" not in shown[1]
    assert len(checked) == len(manager.phases)
    rows = manager.time_rows()
    assert [r[0] for r in rows] == manager.phases and all(r[2] >= 0 for r in rows)


def test_switching_off() -> None:
    manager = PhaseManager(REGISTRY, disabled=("GeneralOptimizeEarly", "remove_dead_code"))
    assert 13 not in manager.phases and 10 not in manager.phases
    with pytest.raises(ValueError, match="required and switched off"):
        PhaseManager(REGISTRY, disabled=("OriSanitize",))
    with pytest.raises(ValueError, match="required and missing"):
        PhaseManager(PASSES)
    with pytest.raises(ValueError, match="there is no phase 'Nonsense'"):
        PhaseManager(REGISTRY, dump=("Nonsense",))


def test_selection() -> None:
    assert select(["all"]) == frozenset(range(159))
    assert select(["12", "OriDoPredication"]) == {12, 63}
    for name in ("undocumented", "", "159"):
        with pytest.raises(ValueError, match="no phase"):
            select([name])
