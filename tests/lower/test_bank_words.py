"""Where words of constant banks are loaded that no operation takes as operands."""

from __future__ import annotations

import oric
import pytest
from oric.sass.check import check_cubin
from oric.sass.instruction import disassemble
from oric.support import elf

TEXT = """.version 9.0
.target {target}
.address_size 64
.visible .entry k(.param .u64 o, .param .u32 n)
{{
  .reg .b32 %a, %b, %c, %it, %n, %t, %e; .reg .b64 %d, %x; .reg .pred %p, %q, %s;
  ld.param.u64 %d, [o]; ld.param.u32 %n, [n]; mov.u32 %t, %tid.x; mul.wide.u32 %x, %t, 16; add.s64 %d, %d, %x;
  ld.global.v4.b32 {{%a, %b, %c, %it}}, [%d]; setp.gt.s32 %p, %c, 4;
  {part}
Q0: st.global.b32 [%d+12], %it; add.u32 %it, %it, 1; setp.lt.u32 %q, %it, %n; @%q bra Q0;
  ret;
}}
"""
PARTS = {
    "a_branch": "@!%p bra SK; st.global.b32 [%d+4], %a; bar.warp.sync -1; SK:",
    "two_branches": "@!%p bra SK; st.global.b32 [%d+4], %a; bar.warp.sync -1; bra.uni GO; "
    "SK: st.global.b32 [%d+8], %b; bar.warp.sync -1; GO:",
    "a_loop": "SK: st.global.b32 [%d+4], %a; bar.warp.sync -1; add.s32 %c, %c, 1; setp.lt.s32 %p, %c, 9; @%p bra SK;",
    "one_in_another": "@!%p bra SK; setp.gt.s32 %s, %a, 7; @%s bra IN; st.global.b32 [%d+4], %a; bar.warp.sync -1; "
    "IN: st.global.b32 [%d+8], %n; bar.warp.sync -1; SK:",
}


@pytest.mark.parametrize("level", [0, 1, 3])
@pytest.mark.parametrize("target", ["sm_90", "sm_100", "sm_120"])
@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_threads_that_have_met_go_on_at_once(part: str, target: str, level: int) -> None:
    """What stands between a BSYNC and the place that its BSSY names is not executed by those who waited."""
    image = oric.compile(TEXT.format(target=target, part=part), arch=target, opt_level=level).image
    cubin = elf.read(image)
    assert not check_cubin(cubin).findings
    assert any("BSYNC" in line for line in disassemble(cubin.functions["k"].text, target))
