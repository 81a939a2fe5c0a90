"""Phase 19: a product of 64 bits and the sum that reads it are one macro, until phase 55 takes it apart."""

from __future__ import annotations

import numpy as np
import oric
import pytest
from oric.driver import CompileOptions, compile_functions, compile_text
from oric.ir.text import all_instructions
from oric.sass.check import check_cubin
from oric.sim import Modes
from oric.support.elf import read
from oric_tables.macros import TEMPLATES
from oric_tables.ops import op

KERNEL = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p) .reqntid 32
{
  .reg .b32 %r<3>; .reg .b64 %d<9>; .reg .b64 %e<3>; .reg .pred %q;
  ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 32; add.u64 %d1, %d1, %d2;
  ld.global.u64 %d3, [%d1]; ld.global.u64 %d4, [%d1+8]; ld.global.u64 %d5, [%d1+16];
  mul.lo.u64 %d6, %d3, %d4; add.u64 %d7, %d5, %d6; mul.lo.s64 %e1, %d7, 81985529216486895; add.s64 %e2, %e1, %d3;
  setp.lt.u32 %q, %r1, 9; mul.lo.u64 %d8, %e2, %d5; @%q add.u64 %e2, %d8, %d4;
  st.global.u64 [%d1+24], %e2;
  ret;
}
"""
M64 = (1 << 64) - 1


@pytest.mark.row("R2-29", "R2-30")
@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"])
@pytest.mark.parametrize("level", [0, 1, 3])
def test_products_with_sums(target: str, level: int) -> None:
    """The result is that of the two operations; the code has no hazards."""
    image = compile_text(KERNEL, CompileOptions(target, level, verify=True)).image
    assert [str(finding) for finding in check_cubin(read(image)).findings] == []
    data = np.random.default_rng(5).integers(0, 1 << 64, 128, dtype=np.uint64)
    data[:4] = M64
    want = data.copy()
    for thread in range(32):
        a, b, c = (int(data[4 * thread + at]) for at in range(3))
        value = ((a * b + c) * 81985529216486895 + a) & M64
        want[4 * thread + 3] = (value * c + b) & M64 if thread < 9 else value
    done = oric.sim.load(image).launch(
        "k", grid=(1, 1, 1), block=(32, 1, 1), args=[data], modes=Modes(strict=True, memcheck=True)
    )
    assert [str(report) for report in done.reports] == [] and np.array_equal(data, want)


@pytest.mark.row("R2-29", "R2-30")
def test_the_dump_shows_the_macro_and_the_encoder_gets_none() -> None:
    """Three products with their sums; each is four operations at the end, where apart they are six. -O0 has none."""
    dumps: list[str] = []
    options = CompileOptions("sm_90", dump=("create_macros", "LateExpansion"), dump_sink=dumps.append)
    ((f, _),) = compile_functions(KERNEL, options)
    assert [dump.count("MAD64") for dump in dumps] == [3, 0] and "MUL64" not in dumps[0]
    names = [op(f.op[i]).name for i in all_instructions(f)]
    assert not {f.op[i] for i in all_instructions(f)} & set(TEMPLATES) and names.count("IADD3.X") == 0
    dumps.clear()
    compile_functions(KERNEL, CompileOptions("sm_90", 0, dump=("all",), dump_sink=dumps.append))
    assert "MAD64" not in "".join(dumps)


def test_equal_conversions_are_one() -> None:
    """What rounds to tf32 is one operation until phase 55, so that equal ones are found, also behind equal differences."""
    text = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
  .reg .b64 %d; .reg .f32 %f<6>; .reg .b32 %r<9>;
  ld.param.u64 %d, [p]; ld.global.f32 %f1, [%d];
  cvt.rna.tf32.f32 %r1, %f1; mov.b32 %f2, %r1; sub.f32 %f3, %f1, %f2; cvt.rna.tf32.f32 %r2, %f3;
  cvt.rna.tf32.f32 %r3, %f1; mov.b32 %f4, %r3; sub.f32 %f5, %f1, %f4; cvt.rna.tf32.f32 %r4, %f5;
  st.global.b32 [%d+4], %r1; st.global.b32 [%d+8], %r2; st.global.b32 [%d+12], %r3; st.global.b32 [%d+16], %r4;
  ret;
}
"""
    ((f, _),) = compile_functions(text, CompileOptions("sm_80"))
    names = [op(f.op[i]).name for i in all_instructions(f)]
    assert sum(name.startswith("FSETP") for name in names) == 2 and names.count("FADD") == 1
    data = np.array([0x3F801234, 0, 0, 0, 0], np.uint32)
    oric.sim.load(oric.compile(text, arch="sm_80").image).launch("k", 1, 1, [data], modes=Modes(strict=True))
    high = 0x3F802000  # the nearer one of the two multiples of 0x2000
    rest = np.float32(np.uint32(0x3F801234).view(np.float32) - np.uint32(high).view(np.float32)).view(np.uint32)
    low = (int(rest) + 0x1000) & 0xFFFFE000
    assert data[1:].tolist() == [high, low, high, low]
