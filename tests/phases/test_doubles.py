"""Phase 61: constants of doubles come from the function's own constant bank."""

from __future__ import annotations

import re

import numpy as np
import oric
import pytest
from oric.driver import CompileOptions, compile_text
from oric.ir.read import read
from oric.ir.text import write
from oric.sass.check import check_cubin
from oric.sass.instruction import disassemble
from oric.sim import Modes
from oric.support import elf

HEAD = """.version 8.7
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p) .reqntid 32
{
  .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f64 %g<20>; .reg .pred %q<4>;
  ld.param.u64 %d0, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 32; add.u64 %d0, %d0, %d1;
  ld.global.v2.f64 {%g0, %g1}, [%d0]; ld.global.f64 %g2, [%d0+16]; ld.global.u32 %r2, [%d0+24]; and.b32 %r2, %r2, 3;
"""
TAIL = " st.global.f64 [%d0], %g3; st.global.f64 [%d0+8], %g4; ret; }\n"
BODIES = {  # and how many operations read the bank
    "sums": ("add.f64 %g3, %g0, 0d3FB999999999999A; sub.f64 %g4, %g1, 0d3FB999999999999A;", 2),
    "products": ("mul.f64 %g3, %g0, 0d3FD5555555555555; mul.rz.f64 %g4, 0dBFD5555555555555, %g1;", 2),
    "fused": ("fma.rn.f64 %g3, %g0, 0d400921FB54442D18, %g1; fma.rn.f64 %g4, %g0, %g1, 0d400921FB54442D18;", 2),
    "two constants": ("fma.rn.f64 %g3, %g0, 0d400921FB54442D18, 0d4005BF0A8B145769; mov.f64 %g4, %g2;", 1),
    "factors": ("fma.rn.f64 %g3, 0d4010000000000000, 0d3FB1C71C71C71C72, %g0; mul.rz.f64 %g4, 0d4010000000000000, %g1;", 0),
    "a sum of constants": ("add.rz.f64 %g3, 0d4010000000000000, 0d3FB1C71C71C71C72; mov.f64 %g4, %g2;", 0),
    "signs": ("mov.f64 %g5, 0d3FB999999999999A; neg.f64 %g6, %g5; fma.rn.f64 %g3, %g0, %g6, %g1; mul.f64 %g4, %g1, %g6;", 2),
    "comparisons": ("setp.gt.f64 %q0, %g0, 0d3FB999999999999A; selp.f64 %g3, %g1, %g2, %q0; mov.f64 %g4, %g2;", 1),
    "immediates": ("add.f64 %g3, %g0, 0d3FF0000000000000; mul.f64 %g4, %g1, 0dC008000000000000;", 0),
    "no operations": ("mov.f64 %g3, 0d3FB999999999999A; mov.f64 %g4, 0d400921FB54442D18;", 0),
    "a table behind": (
        """ts: .branchtargets A, B, C; add.f64 %g3, %g0, 0d3FB999999999999A; min.u32 %r2, %r2, 2; brx.idx %r2, ts;
A: mul.f64 %g4, %g1, 0d3FD5555555555555; bra D;
B: add.f64 %g4, %g1, 0d400921FB54442D18; st.global.u32 [%d0+28], %r2; bra D;
C: fma.rn.f64 %g4, %g1, %g2, 0d4005BF0A8B145769; st.global.u32 [%d0+24], %r2; D:""", 4,
    ),
}  # fmt: skip


def result(body: str, target: str, level: int, off: tuple[str, ...] = ()) -> tuple[str, bytes]:
    """The code, in which nothing is found, and what it leaves."""
    image = compile_text(HEAD + body + TAIL, CompileOptions(target, level, verify=True, disabled=off)).image
    assert not check_cubin(elf.read(image)).findings
    rng = np.random.default_rng(5)
    data = np.concatenate([rng.normal(0, 100, 64), rng.integers(0, 1 << 62, 64).view(np.float64)])
    data[:6] = (0.1, np.inf, -0.0, np.nan, 1e-310, -1e308)
    done = oric.sim.load(image).launch("k", grid=1, block=32, args=[data], modes=Modes(strict=True, memcheck=True))
    assert not done.reports
    return "\n".join(disassemble(elf.read(image).kernels["k"].text, target)), data.tobytes()


@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_89"])
@pytest.mark.parametrize("name", BODIES)
def test_values(name: str, target: str) -> None:
    """The same as without, and as at -O0."""
    body, count = BODIES[name]
    code, got = result(body, target, 3)
    assert got == result(body, target, 3, ("bank_doubles",))[1] == result(body, target, 0)[1]
    assert len(re.findall(r"\bD(?:ADD|MUL|FMA|SETP).*c\[0x2\]", code)) == count, code


@pytest.mark.parametrize("target", ["sm_90", "sm_100", "sm_120"])
def test_targets_that_do_not(target: str) -> None:
    assert "c[0x2]" not in result(BODIES["sums"][0], target, 3)[0]


def test_equal_constants_are_one() -> None:
    image = compile_text(HEAD + BODIES["sums"][0] + TAIL, CompileOptions("sm_80", 3)).image
    data = elf.read(image).section(".nv.constant2.k").data
    assert bytes(data) == np.float64(0.1).tobytes()


def test_the_text_of_a_function_has_them() -> None:
    dumps: list[str] = []
    compile_text(HEAD + BODIES["fused"][0] + TAIL, CompileOptions("sm_80", 3, dump=("bank_doubles",), dump_sink=dumps.append))
    assert "double 0x0 0x400921fb54442d18" in dumps[0]
    again = read(dumps[0])
    assert bytes(again.attributes.constant2) == np.float64(np.pi).tobytes()
    assert read(write(again, exact=True)).attributes.constant2 == again.attributes.constant2


def test_a_bank_that_is_full() -> None:
    """What it has no room for is in registers."""
    sums = " ".join(f"add.f64 %g0, %g0, 0d3FF{n:013X};" for n in range(1, 8301))
    image = compile_text(HEAD + sums + " mov.f64 %g3, %g0; mov.f64 %g4, %g1;" + TAIL, CompileOptions("sm_80", 3)).image
    file = elf.read(image)
    assert len(file.section(".nv.constant2.k").data) == 1 << 16
    assert sum("c[0x2]" in line for line in disassemble(file.kernels["k"].text, "sm_80")) == 1 << 13
