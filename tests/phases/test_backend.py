"""Operations of a target's backend: what answers, what runs, what is refused."""

from __future__ import annotations

import pytest
from oric.driver.registry import passes
from oric.phases.backend import backend_operation, phase_functions
from oric.phases.manager import PhaseManager, list_phases
from oric_tables.backends import BACKENDS, OPERATIONS
from oric_tables.phases import PHASES
from oric_tables.targets import KNOWN, TARGETS

SM_80 = TARGETS["sm_80"]


@pytest.mark.row("R3-28")
def test_values_are_columns_of_the_target() -> None:
    assert backend_operation(SM_80, "EncodedArchitecture").values == {"encoded_arch": 28673}
    assert backend_operation(SM_80, "CapabilityFlags").values == {"capabilities": 1}
    assert backend_operation(TARGETS["sm_90a"], "HardwareProfile").values == {"isa_name": "sm_90"}
    assert backend_operation(SM_80, "RegisterClassDescriptors").values["max_regs"] == 255


def test_without_overrides_the_phase_table_decides() -> None:
    for name, operation in OPERATIONS.items():
        found = backend_operation(SM_80, name)
        assert found.phases == operation.phases
        assert {PHASES[index].function for index in found.phases} in ({found.function}, set())
    assert backend_operation(SM_80, "GvnCse").function == "value_numbering"
    assert backend_operation(SM_80, "OriDoRematEarly").function == ""
    assert phase_functions(SM_80) == {}


def test_every_phase_that_runs_or_has_a_name_is_an_operation() -> None:
    covered = {index for operation in OPERATIONS.values() for index in operation.phases}
    assert covered == {p.index for p in PHASES if p.function or p.name != "undocumented"}


@pytest.mark.row("R2-23", "R3-29")
def test_an_override_is_what_runs() -> None:
    target = SM_80._replace(overrides={"GvnCse": None, "OriDoRematEarly": "value_numbering", "simplify_control_flow": None})
    functions = phase_functions(target)
    assert functions == {49: "", 54: "value_numbering", 16: "", 64: ""}
    assert backend_operation(target, "GvnCse").function == ""
    usual, own = PhaseManager(passes(), 3).phases, PhaseManager(passes(), 3, functions=functions).phases
    assert set(usual) - set(own) == {49, 16, 64} and set(own) - set(usual) == {54}
    listed = {index for index, _, runs in list_phases(3, functions) if runs}
    assert listed == set(own)


def test_refusals() -> None:
    with pytest.raises(ValueError, match="backends have no operation 'GvnCsee'"):
        backend_operation(SM_80, "GvnCsee")
    with pytest.raises(ValueError, match="phase 45 MidExpansion: there is no pass 'expand' for this target to run"):
        PhaseManager(passes(), 3, functions={45: "expand"})


@pytest.mark.row("R3-27")
def test_every_target_has_a_backend() -> None:
    assert {t.backend for t in TARGETS.values()} <= set(BACKENDS)
    assert set(TARGETS) <= set(KNOWN)
    for target in TARGETS.values():
        assert set(phase_functions(target).values()) <= {*passes(), ""}
