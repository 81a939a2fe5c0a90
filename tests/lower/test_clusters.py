"""Barriers of clusters, and atomics on the memory of another block."""

from __future__ import annotations

from typing import Any

import numpy as np
import oric
import pytest

TARGETS = [("sm_90", 0), ("sm_90", 3), ("sm_100", 3), ("sm_120", 0)]
HEAD = """.version 8.7
.target {target}
.address_size 64
.visible .entry k(.param .u64 pout) {shape}
{{
  .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %d<8>; .shared .align 16 .b8 sh[1024];
  ld.param.u64 %d0, [pout]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;
{body}
  ret;
}}
"""


def _run(body: str, out: Any, target: str, level: int, shape: str = "", cluster: int | None = 2, threads: int = 64) -> Any:
    text = HEAD.format(body=body, target=target, shape=shape)
    image = oric.compile(text, arch=target, opt_level=level).image
    result = np.array(out)
    more = {} if cluster is None else {"cluster": (cluster,)}
    oric.sim.load(image).launch("k", grid=(4,), block=(threads,), args=[result], **more)
    return result


PAIRS = [
    ("barrier.cluster.arrive;", "barrier.cluster.wait;"),
    ("barrier.cluster.arrive.release.aligned;", "barrier.cluster.wait.acquire.aligned;"),
    ("fence.acq_rel.cluster; barrier.cluster.arrive.relaxed;", "barrier.cluster.wait.acquire;"),
]


@pytest.mark.memcheck
@pytest.mark.parametrize(("target", "level"), TARGETS)
@pytest.mark.parametrize(("shape", "cluster"), [("", 2), (".explicitcluster .reqnctapercluster 2, 1, 1", 2), ("", None)])
@pytest.mark.parametrize(("arrive", "wait"), PAIRS)
def test_barrier_of_a_cluster(arrive: str, wait: str, shape: str, cluster: int | None, target: str, level: int) -> None:
    """Every thread sees what the last one of the other block wrote; without a cluster, of its own block."""
    other = "xor.b32 %r2, %r1, 1;" if cluster else "mov.u32 %r2, %r1;"
    body = f"""
  mad.lo.u32 %r3, %r1, 64, %r0; mul.wide.u32 %d1, %r3, 8; add.u64 %d1, %d1, %d0; st.global.u32 [%d1], %r3;
  {arrive} mul.lo.u32 %r9, %r0, 3; {wait}
  {other} sub.u32 %r4, 63, %r0; mad.lo.u32 %r5, %r2, 64, %r4; mul.wide.u32 %d2, %r5, 8; add.u64 %d2, %d2, %d0;
  ld.global.u32 %r6, [%d2]; add.u32 %r6, %r6, %r9; st.global.u32 [%d1+4], %r6;
"""
    out = _run(body, np.zeros((256, 2), np.uint32), target, level, shape, cluster)
    for block in range(4):
        for t in range(64):
            assert out[64 * block + t, 1] == 64 * (block ^ 1 if cluster else block) + 63 - t + 3 * t


@pytest.mark.memcheck
@pytest.mark.parametrize(("target", "level"), TARGETS)
def test_barriers_of_a_cluster_in_a_loop(target: str, level: int) -> None:
    """Phase after phase, under a guard that all threads agree on."""
    body = """
  mov.u32 %r4, 0; setp.ge.u32 %p1, %r1, 0; mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %d1, %d0; setp.eq.u32 %p2, %r0, 0;
again:
  @%p2 st.volatile.global.u32 [%d1], %r4;
  @%p1 barrier.cluster.arrive; @%p1 barrier.cluster.wait;
  xor.b32 %r2, %r1, 1; mul.wide.u32 %d2, %r2, 4; add.u64 %d2, %d2, %d0; ld.volatile.global.u32 %r5, [%d2];
  setp.ne.u32 %p3, %r5, %r4; @%p3 trap;
  barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
  add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 5; @%p3 bra again;
"""
    assert (_run(body, np.zeros(4, np.uint32), target, level) == 4).all()
