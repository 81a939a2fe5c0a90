"""What is for all threads of a warp waits for them where ways of a branch meet before all its threads do (phase 72)."""

from __future__ import annotations

import numpy as np
import oric
import pytest
from oric.sim import Modes

_HEAD = """.version 8.3
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n) {
  .reg .b32 %v, %x, %n, %lane, %y; .reg .b64 %o; .reg .pred %p0, %p1;
  ld.param.u64 %o, [out]; ld.param.u32 %n, [n]; mov.u32 %lane, %tid.x; mad.wide.u32 %o, %lane, 4, %o; mov.u32 %v, 0;
  and.b32 %x, %lane, 1; setp.eq.u32 %p1, %x, 1;
"""
_BODIES = {
    "a tail that none leaves out": """
  setp.eq.u32 %p0, %n, 7;
  @!%p1 bra B;
  ld.volatile.global.u32 %y, [%o]; bra C;
B: @%p0 bra D;
  ld.volatile.global.u32 %y, [%o+4];
C: match.any.sync.b32 %v, %n, 0xffffffff;
  st.volatile.global.u32 [%o], %v; bra E;
D: ld.volatile.global.u32 %y, [%o+8];
E: st.global.u32 [%o], %v; ret; }
""",
    "behind places that have become one": """
  setp.eq.u32 %p0, %n, 2;
  @!%p0 bra X7;
  @!%p1 bra X8;
  bar.warp.sync 0xffffffff; bar.warp.sync 0xffffffff; bra Y8;
X8: bar.warp.sync 0xffffffff; bar.warp.sync 0xffffffff;
Y8: match.any.sync.b32 %v, %n, 0xffffffff; bra Y7;
X7: bar.warp.sync 0xffffffff;
Y7: setp.eq.u32 %p0, %lane, 4;
  st.global.u32 [%o], %v; ret; }
""",
    "in front of another such place, behind a loop of two ways in": """
  mov.u32 %y, %lane; setp.gt.u32 %p0, %lane, 3; @%p0 bra V1;
P1: add.u32 %x, %x, 1;
V1: add.u32 %y, %y, -1; setp.gt.s32 %p0, %y, 20; @%p0 bra P1;
  setp.lt.u32 %p0, %lane, 2; @!%p0 bra X3;
  bar.warp.sync 0xffffffff; bar.warp.sync 0xffffffff; bra Y3;
X3: bar.warp.sync 0xffffffff; add.u32 %x, %x, 7; bar.warp.sync 0xffffffff;
Y3: match.any.sync.b32 %v, %n, 0xffffffff; add.u32 %v, %v, %x;
  bar.warp.sync 0xffffffff; sub.u32 %v, %v, %x;
  st.global.u32 [%o], %v; ret; }
""",
}


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90a", "sm_120a"])
@pytest.mark.parametrize("body", _BODIES)
def test_all_lanes_match(body: str, arch: str, level: int) -> None:
    module = oric.sim.load(oric.compile(_HEAD + _BODIES[body], arch=arch, opt_level=level).image)
    out = np.zeros(40, np.uint32)
    module.launch("k", grid=1, block=32, args=[out, 2], modes=Modes(strict=True))
    assert set(out[:32]) == {0xFFFFFFFF}


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90a", "sm_120a"])
@pytest.mark.parametrize("made", ["vote.sync.ballot.b32 %m, %q, 0xffffffff;", "activemask.b32 %m;"])
def test_masks_that_votes_make_are_alike(made: str, arch: str, level: int) -> None:
    """Threads that voted together have one mask: they wait for one another wherever they are."""
    text = f""".version 8.3
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out) {{
  .shared .align 4 .b8 s[128]; .reg .b32 %m, %lane, %x, %own, %its, %v; .reg .b64 %o; .reg .pred %p, %q;
  ld.param.u64 %o, [out]; mov.u32 %lane, %tid.x; mad.wide.u32 %o, %lane, 4, %o; mov.u32 %its, s; mad.lo.u32 %own, %lane, 4, %its;
  xor.b32 %x, %lane, 31; mad.lo.u32 %its, %x, 4, %its; setp.ge.u32 %q, %lane, 0; {made}
  mov.u32 %v, %lane; setp.eq.u32 %p, %lane, 26; @!%p bra X;
  st.shared.u32 [%own], 100; bar.warp.sync %m; ld.shared.u32 %x, [%its]; add.u32 %v, %v, %x; bar.warp.sync %m; bra Y;
X: st.shared.u32 [%own], %v; bar.warp.sync %m; ld.shared.u32 %x, [%its]; xor.b32 %v, %v, %x; bar.warp.sync %m;
Y: st.global.u32 [%o], %v; ret; }}
"""
    out = np.zeros(40, np.uint32)
    oric.sim.load(oric.compile(text, arch=arch, opt_level=level).image).launch("k", 1, 32, [out], modes=Modes(strict=True))
    assert list(out[:32]) == [97 if lane == 5 else 31 for lane in range(32)]


def test_code_that_nobody_comes_to() -> None:
    """What it does for threads of one mask needs no barrier."""
    text = """.version 8.8
.target sm_86
.address_size 64
.func (.param .b32 rv) f0(.param .b32 a,.param .b32 b) {
 .local .align 4 .b8 LA[16]; .reg .b32 %v<6>,%fuel,%ix,%lane,%me,%tx,%sb; .reg .b64 %gb,%lb,%out,%in; .reg .pred %p<3>,%pf;
 F0_B0:
 F0_B1:
 vote.sync.any.pred %p2, %p2, %me;
 @!%p2 bra F0_B0;
}
.visible .entry k(.param .u64 pin,.param .u64 pout,.param .u32 pn) {
 .local .align 4 .b8 LA[16]; .reg .b32 %v<6>,%fuel,%ix,%lane,%me,%tx,%sb; .reg .b64 %gb,%lb,%out,%in; .reg .pred %p<3>,%pf;
 KB0:
 KB1:
 { .param .b32 a0,a1,r0;
 st.param.b32 [a0], %v2; st.param.b32 [a1], %v5; call (r0), f0, (a0, a1); ld.param.b32 %v5, [r0]; }
 @%p2 bra KB3;
 KB2:
 @!%p2 add.u32 %v4, %v1, 439;
 KB3:
 { .param .b32 a0,a1,r0;
 st.param.b32 [a0], %v1; st.param.b32 [a1], %v1; call (r0), f0, (a0, a1); ld.param.b32 %v3, [r0]; }
 KT4: .branchtargets KB1, KB7, KB0, KB8, KB9, KB7, KB6;
 brx.idx %ix, KT4;
 { .param .b32 a0,a1,r0;
 st.param.b32 [a0], %v2; st.param.b32 [a1], %v4; call (r0), f0, (a0, a1); ld.param.b32 %v0, [r0]; }
 KB6:
 KB7:
 @%p1 bra KB2;
 KB8:
 KB9:
}
"""
    assert oric.compile(text, arch="sm_86", opt_level=0).image
