"""Macro operations: whole until their phase, gone behind it."""

from __future__ import annotations

import numpy as np
import pytest
from oric.driver import CompileOptions, compile_text
from oric.ir.optable import OPS
from oric.ir.read import read
from oric.ir.text import write
from oric.ir.verify import MalformedCode, verify
from oric.lower.expand import PASSES
from oric_tables import macros, op, ops
from oric_tables.phases import PHASES

from tests.ir.functions import context
from tests.kernels import cases

from .support import launch, source

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


DIVISIONS = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n, .param .f32 x)
{
  .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %d<5>;
  ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n]; ld.param.f32 %f1, [x]; ld.global.u32 %r2, [%d1]; ld.global.f32 %f2, [%d1+4];
  div.u32 %r3, %r1, %r2; rem.s32 %r4, %r1, %r2; div.rn.f32 %f3, %f1, %f2; sqrt.rn.f32 %f4, %f2;
  st.global.u32 [%d1], %r3; st.global.u32 [%d1+8], %r4; st.global.f32 [%d1+4], %f3; st.global.f32 [%d1+12], %f4;
  ret;
}
"""


@pytest.mark.row("R2-58")
@pytest.mark.parametrize("target", ["sm_75", "sm_90", "sm_120"])
@pytest.mark.parametrize("level", [0, 3])
def test_divisions_and_roots_are_one_operation_until_phase_45(target: str, level: int) -> None:
    """One macro operation each in front of MidExpansion; none is left behind it."""
    shown: list[str] = []
    options = CompileOptions(target, level, verify=True, dump=("12", "45"), dump_sink=shown.append)
    compile_text(DIVISIONS, options)
    counts = [sum(part.count(f" {ops.op(n).name} ") + part.count(f" {ops.op(n).name}{{") for n in LATE) for part in shown]
    assert counts == [4, 0]
    assert "MUFU" not in shown[0] and shown[1].count("MUFU") >= 4


LOOP = """
  ld.global.v2.u32 {%r1, %r2}, [%in]; ld.global.f32 %f1, [%in+8]; mov.u32 %r3, 0; mov.u32 %r4, %i; mov.f32 %f2, 0f00000000;
AGAIN:
  div.u32 %r5, %r1, %r2; rem.s32 %r6, %r4, %r2; sqrt.rn.f32 %f3, %f1; add.u32 %r3, %r3, %r5; add.u32 %r3, %r3, %r6;
  add.f32 %f2, %f2, %f3; add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 9; @%p1 bra AGAIN;
  add.u64 %d1, %out, %tid8; cvt.rzi.u32.f32 %r7, %f2; st.global.v2.u32 [%d1], {%r3, %r7};
"""


@pytest.mark.row("R2-58")
@pytest.mark.memcheck
@pytest.mark.parametrize("target", ["sm_75", "sm_90", "sm_120"])
@pytest.mark.parametrize("level", [0, 3])
def test_a_division_that_a_loop_does_not_change_leaves_it(target: str, level: int) -> None:
    """None of its code stands between the label and the branch; what the counter divides stays."""
    shown: list[str] = []
    text = source(LOOP, "sm_75")
    compile_text(text, CompileOptions(target, level, verify=True, dump=("15", "20"), dump_sink=shown.append))
    body = shown[-1][shown[-1].index("SREM" if level else "UDIV") :]
    body = body[: body.index("BRA")]
    assert [name in body for name in ("UDIV", "FSQRT", "SREM")] == ([False, False, True] if level else [True, True, True])
    out = launch(text, np.array([100, 7, 0x41100000], np.uint32), np.zeros((12, 2), np.uint32), target, level, threads=12)
    for thread, row in enumerate(out.tolist()):
        rounds = range(thread, max(thread + 1, 9))
        assert row == [sum(14 + k % 7 for k in rounds), 3 * len(rounds)]


LATE = [n for n in range(op.RETURN, len(ops.OPS)) if OPS.expansion[n] == macros.EXPANSIONS["expand_control_flow"]]


def test_macros_have_templates_or_a_phase_that_takes_them_apart() -> None:
    for number in range(op.RETURN, len(ops.OPS)):
        assert number in macros.TEMPLATES or OPS.expansion[number] >= 0, ops.op(number).name
