"""Threads that wait at a BSYNC go on where its BSSY says, directly behind it: nothing stands in between."""

from __future__ import annotations

import oric
import pytest
from oric.ir.read import read
from oric.ir.verify import MalformedCode, verify
from oric.sass.check import check_cubin
from oric.support import elf

HEAD = """.version 8.7
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .b32 %r<6>; .reg .b64 %d<4>; .reg .pred %p<5>; .reg .b64 %bin; .reg .b32 %gid, %tid0, %ntid0, %ti;
  ld.param.u64 %bin, [p]; mov.u32 %tid0, %tid.x; mov.u32 %ti, %ctaid.x; mov.u32 %ntid0, %ntid.x;
  mad.lo.s32 %gid, %ti, %ntid0, %tid0; ld.global.u32 %r0, [%bin]; setp.gt.u32 %p4, %r0, 5; setp.gt.u32 %p2, %r0, 6;
  mov.u32 %r5, 77;
"""
BODIES = {
    "two ways out, one in front of the loop": """ld.global.u32 %r2, [%bin+72];
  setp.eq.u32 %p0, %gid, -1; setp.eq.u32 %p1, %gid, -1; @!%p4 bra B;
A: @!%p1 bra E; @%p0 bra B;
E: @%p1 bra G; brev.b32 %r2, %r2; bra F;
G: and.b32 %r2, %r2, %r5;
F: @%p4 bra A;
B: st.global.u32 [%bin], %r2; ret; }
""",
    "into the middle": """ld.global.u64 %d1, [%bin+72]; setp.eq.u32 %p3, %gid, -1; @%p2 bra A; bra E;
B: add.u64 %d1, %d1, %d3; @%p1 bra C; add.u64 %d3, %d3, 16;
E: shl.b64 %d1, %d0, %r3; @%p3 bra B;
C: xor.b64 %d2, %d2, %d3;
A: st.global.u64 [%bin+8], %d1; st.global.u64 [%bin+16], %d2; ret; }
""",
}


@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a"])
@pytest.mark.parametrize("name", BODIES)
def test_what_is_copied_on_the_way_out_of_a_loop_stands_in_front_of_the_wait(name: str, target: str) -> None:
    for level in range(4):
        for limit in (None, 24):
            made = oric.compile(HEAD + BODIES[name], arch=target, opt_level=level, maxrregcount=limit, verify=True)
            assert [str(finding) for finding in check_cubin(elf.read(made.image)).findings] == []


def test_the_verifier_names_what_stands_behind_a_wait() -> None:
    text = "entry k sm_80 final_flow\nbix0: -> bix1\n    BSSY B0, bix1\n    BSYNC B0\n    MOV R1, R2\nbix1: -> -\n    EXIT\n"
    with pytest.raises(MalformedCode, match="threads that wait go on behind this: MOV R1, R2"):
        verify(read(text))
