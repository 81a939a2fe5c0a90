"""Macro operations: whole until their phase, gone behind it."""

from __future__ import annotations

import pytest
from oric.driver import CompileOptions, compile_text
from oric.ir.read import read
from oric.ir.text import write
from oric.ir.verify import MalformedCode, verify
from oric.lower.expand import PASSES
from oric_tables import macros, op, ops
from oric_tables.phases import PHASES

from tests.ir.functions import context
from tests.kernels import cases

TEXT = """entry test sm_90 final_flow
bix0:
    ADD64 R0:2, R1:2, 0x123456789
    STG R0:2, 0x0, R1.0
    EXIT
"""


def test_the_verifier_names_a_macro_that_is_left() -> None:
    verify(read(TEXT))
    left = read(TEXT.replace("final_flow", "final_flow expanded=55"))
    with pytest.raises(MalformedCode, match="the macro operation ADD64 is left behind phase 55, which expands it"):
        verify(left)


def test_a_template_takes_the_place_of_a_macro() -> None:
    f = read(TEXT)
    assert PASSES["expand_sums"](f, context())
    verify(f)
    assert f.expanded == 55 and f.merged and "ADD64" not in write(f)
    assert not PASSES["expand_sums"](f, context())


@pytest.mark.parametrize("name", macros.EXPANSIONS)
def test_every_pass_expands_in_its_phase(name: str) -> None:
    phase = next(p for p in PHASES if p.function == name)
    assert (phase.index, phase.required) == (macros.EXPANSIONS[name], True)


@pytest.mark.parametrize("level", range(4))
def test_sums_are_whole_before_phase_55(level: int) -> None:
    shown: list[str] = []
    options = CompileOptions("sm_90", level, verify=True, dump=("12", "55"), dump_sink=shown.append)
    compile_text(cases.ptx("vecadd_f64", "sm_90"), options)
    assert "ADD64" in shown[0] and "ADD64" not in shown[1]


def test_macros_have_templates_or_an_effect() -> None:
    for number in range(op.RETURN, len(ops.OPS)):
        assert number in macros.TEMPLATES or ops.op(number).effects
