"""Blocks that take over the work of blocks that have not begun (clusterlaunchcontrol), in code of ours."""

from __future__ import annotations

import numpy as np
import oric
import pytest

TARGETS = [("sm_100", 0), ("sm_100a", 3), ("sm_120a", 3)]
KERNEL = """.version 8.7
.target {target}
.address_size 64
.visible .entry k(.param .u64 pout)
{{
  .reg .pred %p<6>; .reg .b32 %r<30>; .reg .b64 %d<20>; .reg .b128 %q;
  .shared .align 16 .b8 answer[64]; .shared .align 8 .b64 bar;
  ld.param.u64 %d0, [pout]; mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; mov.u32 %r9, 0;
  mov.u32 %r8, %nctaid.x; mov.u32 %r7, %ctaid.x;
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %ctaid.z; mov.u32 %r4, %nctaid.y;
  @%p0 mbarrier.init.shared.b64 [bar], {arrivals}; {sync}
again:
  mad.lo.u32 %r10, %r3, %r4, %r2; mad.lo.u32 %r10, %r10, %r8, %r1; mul.wide.u32 %d1, %r10, 4; add.u64 %d1, %d1, %d0;
  @%p0 red.global.add.u32 [%d1], 1;
  fence.proxy.async.shared::cta;
{ask}
wait:
  mbarrier.try_wait.parity.shared.b64 %p1, [bar], %r9; @!%p1 bra wait;
  xor.b32 %r9, %r9, 1;
  ld.shared.v2.u64 {{%d2, %d3}}, [answer]; mov.b128 %q, {{%d2, %d3}};
  clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q;
  @%p2 clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {{%r1, %r2, %r3, _}}, %q;
  {more}
  {sync}
  @%p2 bra again;
  ret;
}}
"""
CANCEL = "clusterlaunchcontrol.try_cancel.async{space}.mbarrier::complete_tx::bytes{multicast}.b128"
EXPECT = "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;"
BLOCK = "bar.sync 0;"
CLUSTER = "barrier.cluster.arrive; barrier.cluster.wait;"
ONE = f"  @!%p0 bra wait; {EXPECT} {CANCEL} [answer], [bar];"
GENERIC = (
    "  cvta.shared.u64 %d10, answer; cvta.shared.u64 %d11, bar; setp.ne.u32 %p4, %r0, 33;\n"
    f"  @!%p4 {EXPECT} @!%p4 {CANCEL} [%d10], [%d11];"
)


def run(target: str, level: int, text: str, grid: tuple[int, ...], cluster: int = 1) -> np.ndarray:
    out = np.zeros(int(np.prod(grid)), np.uint32)
    image = oric.compile(text, arch=target, opt_level=level).image
    oric.sim.load(image).launch("k", grid=grid, block=(64,), args=[out], cluster=(cluster,))
    return out


@pytest.mark.memcheck
@pytest.mark.parametrize(("target", "level"), TARGETS)
@pytest.mark.parametrize(("ask", "space"), [(ONE, ".shared::cta"), (ONE, ""), (GENERIC, "")], ids=["cta", "named", "generic"])
def test_every_block_is_done_once(target: str, level: int, ask: str, space: str) -> None:
    """By whichever block: the first finds all others unbegun."""
    ask = ask.format(space=space, multicast="")
    assert (run(target, level, KERNEL.format(target=target, ask=ask, sync=BLOCK, more="", arrivals=1), (5, 3, 2)) == 1).all()


@pytest.mark.memcheck
@pytest.mark.parametrize(("target", "level"), [row for row in TARGETS if row[0] != "sm_100"])
def test_every_block_of_a_cluster_gets_the_answer(target: str, level: int) -> None:
    """One of them asks; each adds its rank to the place of the first block."""
    cancel = CANCEL.format(space=".shared::cta", multicast=".multicast::cluster::all")
    ask = "  mov.u32 %r19, %cluster_ctarank; setp.eq.and.u32 %p3, %r19, 0, %p0; "
    ask += f"@%p0 {EXPECT} {CLUSTER} @%p3 {cancel} [answer], [bar];"
    more = "@%p2 add.u32 %r1, %r1, %r19;"
    assert (run(target, level, KERNEL.format(target=target, ask=ask, sync=CLUSTER, more=more, arrivals=1), (12,), 2) == 1).all()


@pytest.mark.memcheck
@pytest.mark.parametrize(("target", "level"), TARGETS)
def test_threads_ask_each_for_itself(target: str, level: int) -> None:
    """Three threads of a warp take three blocks, with answers of their own at one mbarrier, until there are none."""
    body = f"""
  .reg .pred %p<6>; .reg .b32 %r<30>; .reg .b64 %d<20>; .reg .b128 %q;
  .shared .align 16 .b8 answers[64]; .shared .align 8 .b64 bar;
  ld.param.u64 %d0, [pout]; mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; mov.u32 %r9, %ctaid.x; mov.u32 %r7, 0;
  mul.wide.u32 %d1, %r9, 4; add.u64 %d1, %d1, %d0; @%p0 red.global.add.u32 [%d1], 1;
  @%p0 mbarrier.init.shared.b64 [bar], 1; bar.sync 0; fence.proxy.async.shared::cta;
  setp.ge.u32 %p1, %r0, 3; @%p1 bra out;
  mov.u32 %r20, answers; mad.lo.u32 %r20, %r0, 16, %r20; mov.u32 %r21, bar;
again:
  @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 48; bar.warp.sync 7;
  {CANCEL.format(space=".shared::cta", multicast="")} [%r20], [%r21];
wait:
  mbarrier.try_wait.parity.shared.b64 %p2, [%r21], %r7; @!%p2 bra wait;
  xor.b32 %r7, %r7, 1; ld.shared.v2.u64 {{%d2, %d3}}, [%r20]; mov.b128 %q, {{%d2, %d3}}; mov.u32 %r3, 0;
  clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q;
  @%p3 clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r3, %q;
  mul.wide.u32 %d4, %r3, 4; add.u64 %d4, %d4, %d0; @%p3 red.global.add.u32 [%d4], 1;
  bar.warp.sync 7; vote.sync.any.pred %p3, %p3, 7; @%p3 bra again;
out:
  ret;
"""
    head = f".version 8.7\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 pout)\n{{"
    assert (run(target, level, head + body + "}\n", (8,)) == 1).all()
