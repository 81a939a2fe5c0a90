"""Unaligned barriers that the threads of a warp reach at different places.

PTX ISA, "barrier{.cta}": without ``.aligned`` the threads of a warp need not execute the same instruction.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import oric
import pytest
from oric.sim import Modes

TEXT = """.version 9.0
.target {target}
.address_size 64
.visible .entry k(.param .u64 p) {{
.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %q<4>; .shared .b32 s[64];
ld.param.u64 %d0, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; add.u64 %d0, %d0, %d1;
mov.u32 %r4, s; shl.b32 %r2, %r1, 2; add.u32 %r4, %r4, %r2; st.shared.u32 [%r4], %r1;
setp.lt.u32 %q1, %r1, 7; @%q1 bra A;
barrier.sync 1; add.u32 %r1, %r1, 9; bra B;
A: barrier.sync 1; add.u32 %r1, %r1, 5;
B: xor.b32 %r4, %r4, 128; ld.shared.u32 %r3, [%r4]; add.u32 %r1, %r1, %r3; st.global.u32 [%d0], %r1;
ret;
}}
"""


def exchanged(image: bytes) -> None:
    """Each of two warps reads what the other has stored, behind the barrier."""
    out = np.zeros(64, np.uint32)
    oric.sim.load(image).launch("k", grid=1, block=64, args=[out], modes=Modes(strict=True))
    thread = np.arange(64)
    assert (out == thread + np.where(thread < 7, 5, 9) + (thread ^ 32)).all()


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_90a", "sm_100a", "sm_110a", "sm_120a"])
def test_threads_meet_from_two_places(target: str, level: int) -> None:
    exchanged(oric.compile(TEXT.format(target=target), arch=target, opt_level=level).image)


@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a"])
def test_the_vendors_threads(ptxas: str, tmp_path: Path, target: str) -> None:
    """A function around the barrier up to sm_89, a collective from sm_90 on."""
    (tmp_path / "k.ptx").write_text(TEXT.format(target=target))
    subprocess.run([ptxas, f"-arch={target}", "k.ptx", "-o", "k.cubin"], cwd=tmp_path, check=True)
    exchanged((tmp_path / "k.cubin").read_bytes())
