"""Phase 109: copies, sums and shifts become products where the pipe of sums has more to do."""

from __future__ import annotations

import numpy as np
import oric
import pytest
from oric.driver import CompileOptions, compile_text
from oric.sass.check import check_cubin
from oric.sass.instruction import disassemble
from oric.sim import Modes
from oric.support import elf

WORDS = 16
HEAD = """.version 8.7
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n) .reqntid 32
{
  .reg .b32 %r<40>; .reg .b64 %d<9>; .reg .pred %q<4>;
  ld.param.u64 %d0, [p]; ld.param.u32 %r0, [n]; mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 64; add.u64 %d0, %d0, %d1;
  ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%d0]; ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%d0+16];
"""
STORE = "st.global.v4.u32 [%d0], {%r10, %r11, %r12, %r13}; st.global.v4.u32 [%d0+16], {%r14, %r15, %r16, %r17}; ret; }\n"
BUSY = "xor.b32 %r20, %r2, %r3; xor.b32 %r21, %r4, %r5; and.b32 %r22, %r6, %r7; or.b32 %r23, %r8, %r9; "
USED = "xor.b32 %r17, %r20, %r21; xor.b32 %r17, %r17, %r22; xor.b32 %r17, %r17, %r23; "
FIRST = "mov.u32 %r12, %r2; mov.u32 %r13, %r3; "
REST = "mov.u32 %r14, %r4; mov.u32 %r15, %r5; mov.u32 %r16, %r6; "
CODE = {  # what of the code is a product then
    "constants": ("mov.u32 %r10, 0x12345678; mov.u32 %r11, 0xfffffffe;", "IMAD.MOV"),
    "parameters": ("mov.u32 %r10, %r0; add.u32 %r11, %r2, %r4;", "IMAD"),
    "sums": ("add.u32 %r10, %r2, %r3; add.u32 %r11, %r4, %r5;", "IMAD.IADD"),
    "differences": ("sub.u32 %r10, %r2, %r3; sub.u32 %r11, %r4, %r5;", "IMAD.IADD"),
    "shifts": ("shl.b32 %r10, %r2, 5; shl.b32 %r11, %r4, 31;", "IMAD"),
    "scaled": ("shl.b32 %r10, %r2, 3; add.u32 %r10, %r10, %r3; shl.b32 %r11, %r4, 30; sub.u32 %r11, %r11, %r5;", "IMAD"),
    "carries": (
        "add.cc.u32 %r10, %r2, %r3; addc.u32 %r11, %r4, %r5; add.cc.u32 %r12, %r6, %r7; addc.u32 %r13, %r8, 0;",
        "IMAD.X",
    ),
}


def result(text: str, target: str, level: int, off: tuple[str, ...] = ()) -> tuple[list[str], list[int]]:
    """The code, in which nothing is found, and what it leaves."""
    image = compile_text(text, CompileOptions(target, level, verify=True, disabled=off)).image
    assert not check_cubin(elf.read(image)).findings
    data = np.random.default_rng(3).integers(0, 1 << 32, 32 * WORDS, dtype=np.uint64).astype(np.uint32)
    data[:8] = (0, 0xFFFFFFFF, 1, 0x80000000, 0x7FFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 1)
    done = oric.sim.load(image).launch("k", grid=1, block=32, args=[data, 77], modes=Modes(strict=True, memcheck=True))
    assert not done.reports
    return disassemble(elf.read(image).kernels["k"].text, target), data.tolist()


@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_90", "sm_100"])
@pytest.mark.parametrize("name", CODE)
def test_products(name: str, target: str) -> None:
    """The same values as without them, and as at -O0."""
    code, what = CODE[name]
    text = HEAD + BUSY + ("" if "%r12" in code else FIRST) + REST + code + USED + STORE
    lines, got = result(text, target, 3)
    plain, without = result(text, target, 3, ("balance_pipes",))
    assert got == without == result(text, target, 0)[1]
    assert sum(what in line for line in lines) > sum(what in line for line in plain)


def test_a_target_on_which_the_pipes_are_one() -> None:
    text = HEAD + BUSY + FIRST + REST + CODE["sums"][0] + USED + STORE
    assert result(text, "sm_120", 3)[0] == result(text, "sm_120", 3, ("balance_pipes",))[0]


def test_products_that_are_there_are_enough() -> None:
    """Where the pipe of products has as much to do, sums stay sums."""
    busy = "mad.lo.u32 %r20, %r2, %r3, %r4; mad.lo.u32 %r21, %r4, %r5, %r6; mad.lo.u32 %r22, %r6, %r7, %r8; "
    sums = "mad.lo.u32 %r23, %r8, %r9, %r2; add.u32 %r10, %r20, %r21; add.u32 %r11, %r22, %r23; "
    lines, _ = result(HEAD + busy + sums + "st.global.v2.u32 [%d0], {%r10, %r11}; ret; }", "sm_80", 3)
    assert not any("IMAD.IADD" in line for line in lines)
