"""Phase 44: divisions of 64 bits behind a test that their operands do not fit 32 bits have no test of their own."""

from __future__ import annotations

import numpy as np
import oric
import pytest
from oric.driver import CompileOptions, compile_text
from oric.sim import Modes

HEAD = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p) .reqntid 32
{
  .reg .b32 %r<20>; .reg .b64 %d<30>; .reg .pred %q<9>;
  ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 32; add.u64 %d1, %d1, %d2;
  ld.global.u64 %d3, [%d1]; ld.global.u64 %d4, [%d1+8]; mov.u64 %d9, 77; mov.u64 %d10, 0;
"""
TEST = " or.b64 %d5, %d3, %d4; and.b64 %d6, %d5, -4294967296; setp.ne.s64 %q1, %d6, 0; "
SMALL = " cvt.u32.u64 %r2, %d3; cvt.u32.u64 %r3, %d4; div.u32 %r4, %r2, %r3; cvt.u64.u32 %d9, %r4; bra J; "
END = " J: st.global.u64 [%d1+16], %d9; st.global.u64 [%d1+24], %d10; ret; }\n"
COUNT = {  # programs, and how many divisions lose their tests
    "div.u64": (TEST + "@%q1 bra W; " + SMALL + "W: div.u64 %d9, %d3, %d4;", 1),
    "div.s64": (TEST + "@%q1 bra W; " + SMALL + "W: div.s64 %d9, %d3, %d4;", 1),
    "rem.u64": (TEST + "@%q1 bra W; " + SMALL + "W: rem.u64 %d9, %d3, %d4;", 1),
    "rem.s64": (TEST + "@%q1 bra W; " + SMALL + "W: rem.s64 %d9, %d3, %d4;", 1),
    "both": (TEST + "@%q1 bra W; " + SMALL + "W: div.u64 %d9, %d3, %d4; rem.u64 %d10, %d3, %d4;", 2),
    "turned": (TEST + "@!%q1 bra S; div.u64 %d9, %d3, %d4; bra J; S: " + SMALL, 1),
    "one operand": (
        "mul.wide.u32 %d7, %r1, 3; and.b64 %d6, %d3, -4294967296; setp.ne.s64 %q1, %d6, 0; @%q1 bra W; mov.u64 %d4, %d7;"
        + SMALL + "W: div.u64 %d9, %d3, %d4;", 1,
    ),
    "copies": (TEST + "mov.u64 %d11, %d3; @%q1 bra W; " + SMALL + "W: mov.u64 %d12, %d4; div.u64 %d9, %d11, %d12;", 1),
    "further": (TEST + "setp.gt.u32 %q2, %r1, 7; @%q1 bra W; " + SMALL + "W: @%q2 bra J; div.u64 %d9, %d3, %d4;", 1),
    "the small way": (TEST + "@%q1 bra J; div.u64 %d9, %d3, %d4;", 0),
    "another": (TEST + "add.u64 %d8, %d4, 1; @%q1 bra W; " + SMALL + "W: div.u64 %d9, %d8, %d8;", 0),
    "one more": (
        "or.b64 %d5, %d3, %d4; or.b64 %d5, %d5, %d1; and.b64 %d6, %d5, -4294967296; setp.ne.s64 %q1, %d6, 0; @%q1 bra W; "
        + SMALL + "W: div.u64 %d9, %d3, %d4;", 0,
    ),
    "changed": (TEST + "@%q1 bra W; " + SMALL + "W: shr.u64 %d3, %d3, 32; shr.u64 %d4, %d4, 32; div.u64 %d9, %d3, %d4;", 0),
    "two ways": (TEST + "setp.gt.u32 %q2, %r1, 7; @%q2 bra W; @%q1 bra W; " + SMALL + "W: div.u64 %d9, %d3, %d4;", 0),
    "no test": ("div.u64 %d9, %d3, %d4;", 0),
    "lower words": ("cvt.u32.u64 %r2, %d3; setp.ne.s32 %q1, %r2, 0; @%q1 bra W; " + SMALL + "W: div.u64 %d9, %d3, %d4;", 0),
    "greater": ("shr.u64 %d5, %d3, 32; cvt.u32.u64 %r2, %d5; setp.gt.u32 %q1, %r2, 1; @%q1 bra W; " + SMALL
                + "W: div.u64 %d9, %d3, %d4;", 0),
    "an older value": (
        "mov.u64 %d20, %d3; mov.u32 %r9, 0; L: mov.u64 %d21, %d20; shr.u64 %d20, %d20, 20; shr.u64 %d22, %d21, 32; "
        "cvt.u32.u64 %r5, %d22; setp.eq.s32 %q3, %r5, 0; @%q3 bra N; div.u64 %d9, %d20, %d4; N: add.u32 %r9, %r9, 1; "
        "setp.lt.u32 %q4, %r9, 4; @%q4 bra L;", 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COUNT)
def test_how_many_tests_go(name: str) -> None:
    """What a test shows of just these operands, on the only way to the division."""
    text, count = COUNT[name]
    dumps: list[str] = []
    options = CompileOptions("sm_80", dump=("trust_tests",), dump_sink=dumps.append)
    compile_text(HEAD + text + END, options)
    assert dumps[0].count("64.ANY") == count, dumps[0]


@pytest.mark.parametrize("target", ["sm_75", "sm_90", "sm_120"])
@pytest.mark.parametrize("name", COUNT)
def test_values(name: str, target: str) -> None:
    """The same as at -O0, of operands of all sizes."""
    source = HEAD + COUNT[name][0] + END
    rng = np.random.default_rng(9)
    before = rng.integers(0, 1 << 64, 128, dtype=np.uint64) >> rng.integers(0, 64, 128).astype(np.uint64)
    before[:12] = (0, 0, 0, 0, 1 << 32, 0, 0, 0, 1 << 63, (1 << 64) - 1, 0, 0)
    results = []
    for level in (0, 3):
        image = compile_text(source, CompileOptions(target, level, verify=True)).image
        after = before.copy()
        done = oric.sim.load(image).launch("k", grid=1, block=32, args=[after], modes=Modes(strict=True))
        assert [str(report) for report in done.reports] == []
        results.append(after)
    assert np.array_equal(*results)


@pytest.mark.parametrize("target", ["sm_80", "sm_100"])
def test_a_division_that_is_gone_is_not_looked_for(target: str) -> None:
    """One in code that nobody comes to any more, whose block had a number that no block has."""
    body = """setp.ne.u64 %q1, %d4, 0; mov.u64 %d6, 0;
A: setp.gt.u64 %q0, %d6, 0; @!%q0 bra J; mov.b64 %d7, %d8; @!%q1 bra S; div.s64 %d9, %d4, %d7; S: bra A;
"""
    assert compile_text(HEAD + body + END, CompileOptions(target, 3, verify=True)).image
