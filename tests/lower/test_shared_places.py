"""Addresses of shared variables in every block of a cluster: as values, generic, of the cluster, for asynchronous stores.

Each block finds its own memory under each of them, and that of its neighbour where the PTX asks for it.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import oric
import pytest

TARGETS = [("sm_90", 0), ("sm_90a", 3), ("sm_100a", 3), ("sm_120a", 0)]
HEAD = """.version 8.7
.target {target}
.address_size 64
.shared .align 16 .b8 front[32];
.extern .shared .align 16 .b8 more[];
.func (.reg .b32 %f0) behind(.reg .b32 %f1) {{
  .reg .b32 %f2;
  mov.u32 %f2, front; add.u32 %f0, %f2, %f1; ret;
}}
.visible .entry k(.param .u64 pout)
{{
  .reg .pred %p<4>; .reg .b32 %r<30>; .reg .b64 %d<20>; .shared .align 16 .b8 sh[256];
  ld.param.u64 %d0, [pout]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %cluster_ctarank;
  mul.wide.u32 %d1, %r1, 64; add.u64 %d0, %d0, %d1; xor.b32 %r3, %r2, 1; add.u32 %r4, %r1, 100; add.u32 %r5, %r1, 200;
  st.shared.u32 [sh+16], %r4; st.shared.u32 [front+4], %r5; add.u32 %r5, %r1, 300; st.shared.u32 [more+8], %r5;
  barrier.cluster.arrive; barrier.cluster.wait;
{body}
  barrier.cluster.arrive; barrier.cluster.wait;
  ret;
}}
"""
GENERIC = """
  cvta.shared.u64 %d2, sh; ld.u32 %r10, [%d2+16];
  mov.u64 %d3, front; cvta.shared.u64 %d3, %d3; ld.u32 %r11, [%d3+4];
  cvta.shared.u64 %d4, more; ld.u32 %r12, [%d4+8]; cvta.shared.u64 %d5, sh+16; atom.add.u32 %r13, [%d5], 0;
  st.global.v4.u32 [%d0], {%r10, %r11, %r12, %r13};
  getctarank.u64 %r10, %d2; call (%r11), behind, (4); ld.shared.u32 %r11, [%r11]; cvta.to.shared.u64 %d6, %d2;
  cvt.u32.u64 %r12, %d6; ld.shared.u32 %r12, [%r12+16]; cvta.shared::cluster.u64 %d7, more; getctarank.u64 %r13, %d7;
  st.global.v4.u32 [%d0+16], {%r10, %r11, %r12, %r13};
"""
OF_THE_CLUSTER = """
  ld.shared::cluster.u32 %r10, [sh+16]; mov.u32 %r6, sh; ld.shared::cluster.u32 %r11, [%r6+16];
  mov.u32 %r7, more; ld.shared::cluster.u32 %r12, [%r7+8]; mov.u32 %r8, front+4; atom.shared::cluster.add.u32 %r13, [%r8], 0;
  st.global.v4.u32 [%d0], {%r10, %r11, %r12, %r13};
  getctarank.shared::cluster.u32 %r10, %r6; getctarank.shared::cluster.u32 %r11, sh; getctarank.shared::cluster.u32 %r12, %r7;
  mapa.shared::cluster.u32 %r13, sh, %r3; ld.shared::cluster.u32 %r13, [%r13+16];
  st.global.v4.u32 [%d0+16], {%r10, %r11, %r12, %r13};
"""
ASYNCHRONOUS = """
  mov.u32 %r6, sh; mbarrier.init.shared.b64 [%r6], 1; mbarrier.init.shared.b64 [front+16], 1;
  fence.mbarrier_init.release.cluster; barrier.cluster.arrive; barrier.cluster.wait;
  mbarrier.arrive.expect_tx.shared.b64 %d8, [sh], 4; mbarrier.arrive.expect_tx.shared::cta.b64 %d9, [front+16], 4;
  st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [sh+32], %r4, [sh];
  mov.u32 %r8, front; mapa.shared::cluster.u32 %r9, %r8, %r3; add.u32 %r15, %r9, 16;
  st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r9+8], %r4, [%r15];
a: mbarrier.try_wait.shared.b64 %p1, [%r6], %d8; @!%p1 bra a;
b: mbarrier.try_wait.shared.b64 %p1, [%r8+16], %d9; @!%p1 bra b;
  ld.shared.u32 %r10, [sh+32]; ld.shared.u32 %r11, [front+8]; mov.u32 %r12, 0; mov.u32 %r13, 0;
  st.global.v4.u32 [%d0], {%r10, %r11, %r12, %r13};
"""

SPACES = """
  cvta.shared.u64 %d2, sh; mapa.u64 %d3, %d2, %r3; mapa.u64 %d4, %d2, %r2;
  setp.eq.u64 %p1, %d2, %d4; selp.u32 %r10, 1, 0, %p1; isspacep.shared %p1, %d2; selp.u32 %r11, 1, 0, %p1;
  isspacep.shared::cta %p1, %d3; selp.u32 %r12, 1, 0, %p1; isspacep.shared::cluster %p1, %d3; selp.u32 %r13, 1, 0, %p1;
  st.global.v4.u32 [%d0], {%r10, %r11, %r12, %r13};
  isspacep.shared::cta %p1, %d2; selp.u32 %r10, 1, 0, %p1; isspacep.shared::cluster %p1, %d2; selp.u32 %r11, 1, 0, %p1;
  isspacep.global %p1, %d2; selp.u32 %r12, 1, 0, %p1; isspacep.global %p1, %d3; selp.u32 %r13, 1, 0, %p1;
  st.global.v4.u32 [%d0+16], {%r10, %r11, %r12, %r13};
"""


def _wanted(block: int) -> dict[str, list[int]]:
    rank, other = block & 1, block ^ 1
    return {
        GENERIC: [block + 100, block + 200, block + 300, block + 100, rank, block + 200, block + 100, rank],
        OF_THE_CLUSTER: [block + 100, block + 100, block + 300, block + 200, rank, rank, rank, other + 100],
        ASYNCHRONOUS: [block + 100, other + 100, 0, 0],
        SPACES: [1, 1, 0, 1, 1, 1, 0, 0],
    }


def _check(body: str, image: bytes) -> None:
    out = np.zeros((4, 16), np.uint32)
    oric.sim.load(image).launch("k", grid=(4,), block=(1,), args=[out], cluster=(2,), shared_bytes=64)
    for block in range(4):
        want = _wanted(block)[body]
        assert list(out[block, : len(want)]) == want, block


BODIES = pytest.mark.parametrize(
    "body", [GENERIC, OF_THE_CLUSTER, ASYNCHRONOUS, SPACES], ids=["generic", "cluster", "async", "spaces"]
)


@BODIES
@pytest.mark.memcheck
@pytest.mark.parametrize(("target", "level"), TARGETS)
def test_every_block_finds_its_own_memory(target: str, level: int, body: str) -> None:
    _check(body, oric.compile(HEAD.format(body=body, target=target), arch=target, opt_level=level).image)


@BODIES
@pytest.mark.parametrize(("target", "level"), TARGETS)
def test_every_block_finds_its_own_memory_in_ptxas_code(target: str, level: int, body: str, tmp_path: Path) -> None:
    """A second opinion on kernel and simulator."""
    if shutil.which("ptxas") is None:
        pytest.skip(
            "NOT CHECKED: there is no ptxas on PATH, addresses of shared variables were not run as the vendor compiles them"
        )
    (tmp_path / "in.ptx").write_text(HEAD.format(body=body, target=target))
    subprocess.run(["ptxas", f"-O{level}", "-arch", target, "in.ptx", "-o", "out.cubin"], cwd=tmp_path, check=True)
    _check(body, (tmp_path / "out.cubin").read_bytes())
