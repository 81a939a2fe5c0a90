"""What a sum that others read is not combined with, and pairs of registers that are found again by their words."""

from __future__ import annotations

import re

import pytest
from oric.driver import CompileOptions, compile_functions

TEXT = """
.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{{
  .reg .b32 %r<20>; .reg .b64 %d<4>; .shared .align 16 .b8 s[4096];
  ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
  {body}
  ret;
}}
"""


def code(body: str, phase: str) -> str:
    """The function behind a phase."""
    dumps: list[str] = []
    compile_functions(TEXT.format(body=body), CompileOptions("sm_90", dump=(phase,), dump_sink=dumps.append))
    return "".join(dumps)


SUM = "add.u32 %r3, %r1, %r2; add.u32 %r4, %r3, 1024; add.u32 %r5, %r3, 2048;"


def test_constants_behind_a_sum_are_offsets() -> None:
    made = code(f"{SUM} st.shared.u32 [%r4], %r1; st.shared.u32 [%r5], %r2;", "GeneralOptimizeEarly")
    assert made.count("IADD3") == 1
    assert re.findall(r"STS R\d+, (0x\w+)", made) == ["0x400", "0x800"]


@pytest.mark.parametrize(("body", "count"), [(SUM, 3), ("add.u32 %r3, %r1, %r2; add.u32 %r4, %r3, 1024; mov.u32 %r5, 0;", 1)])
def test_a_sum_that_one_reads_becomes_part_of_it(body: str, count: int) -> None:
    made = code(f"{body} st.global.u32 [%d1], %r4; st.global.u32 [%d1+4], %r5;", "GeneralOptimizeEarly")
    assert made.count("IADD3") == count


@pytest.mark.parametrize("kind", ["u32", "s32"])
@pytest.mark.parametrize("what", ["rem", "div"])
def test_divisions_by_the_same_number_share_its_reciprocal(what: str, kind: str) -> None:
    body = f"{what}.{kind} %r3, 1000, %r1; {what}.{kind} %r4, %r2, %r1; st.global.u32 [%d1], %r3; st.global.u32 [%d1+4], %r4;"
    made = code(body, "GeneralOptimizeLate")
    assert made.count("MUFU") == 1
    assert made.count("F2I") == 1


@pytest.mark.parametrize("kind", ["u32", "s32"])
def test_a_remainder_needs_no_quotient(kind: str) -> None:
    made = code(f"rem.{kind} %r3, %r2, %r1; st.global.u32 [%d1], %r3;", "GeneralOptimizeLate")
    assert not re.search(r"IADD3 R\d+, R\d+, 0x1,", made)


@pytest.mark.parametrize("way", ["full", "approx"])
def test_quotients_of_floats_by_the_same_number_share_its_reciprocal(way: str) -> None:
    """What chooses a scale has its constants in registers of its own in each division; they are the same numbers."""
    body = f"div.{way}.f32 %r3, %r2, %r1; div.{way}.f32 %r4, %r5, %r1; st.global.u32 [%d1], %r3; st.global.u32 [%d1+4], %r4;"
    assert code(f"mov.u32 %r5, %laneid; {body}", "GvnCse").count("MUFU") == 1
