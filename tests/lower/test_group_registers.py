"""A producer gives registers back, a warp group takes them for 128 accumulators a thread (setmaxnreg with wgmma)."""

from __future__ import annotations

import numpy as np
import oric
import oric.sim
import pytest
from oric.sass.check import check_cubin
from oric.sim import Modes
from oric.support import elf

ACCUMULATORS = 128


def kernel() -> str:
    """Ones everywhere: 2 products of 16 terms, of which a thread has 128 elements, whose sum it stores."""
    names = [f"%f{i}" for i in range(ACCUMULATORS)]
    first, second = (
        f"wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {{{', '.join(names)}}}, %a, %b, {reads}, 1, 1, 0, 0;"
        for reads in (0, 1)
    )
    total = "\n".join(f"add.f32 %sum, %sum, {name};" for name in names)
    return f""".version 8.8
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p) .maxntid 256, 1, 1 .minnctapersm 1 {{
.reg .b64 %p, %a, %b; .reg .b32 %t, %s, %x; .reg .f32 %f<{ACCUMULATORS}>, %sum; .reg .pred %c;
.shared .align 1024 .b8 ones[16384];
ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mov.u32 %s, ones; setp.lt.u32 %c, %t, 128;
@%c bra CONSUMER;
setmaxnreg.dec.sync.aligned.u32 40;
sub.u32 %t, %t, 128; shl.b32 %t, %t, 7; add.u32 %t, %t, %s; mov.u32 %x, 0;
FILL: st.shared.v4.b32 [%t], {{0x3c003c00, 0x3c003c00, 0x3c003c00, 0x3c003c00}};
add.u32 %t, %t, 16; add.u32 %x, %x, 1; setp.lt.u32 %c, %x, 8; @%c bra FILL;
fence.proxy.async; bar.arrive 1, 256;
bra DONE;
CONSUMER: setmaxnreg.inc.sync.aligned.u32 232;
bar.sync 1, 256;
shr.u32 %s, %s, 4; cvt.u64.u32 %a, %s; or.b64 %a, %a, 0x0000000800080000; mov.b64 %b, %a;
wgmma.fence.sync.aligned;
{first}
{second}
wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
mov.f32 %sum, 0f00000000;
{total}
mad.wide.u32 %p, %t, 4, %p; st.global.f32 [%p], %sum;
DONE: ret;
}}
"""


@pytest.mark.parametrize("level", [0, 1, 3])
def test_roles_of_warp_groups(level: int) -> None:
    done = oric.compile(kernel(), arch="sm_90a", opt_level=level)
    assert not check_cubin(elf.read(done.image)).findings
    assert not [item for part in done.messages for item in part.items]
    words = np.zeros(128, np.float32)
    oric.sim.load(done.image).launch("k", grid=1, block=256, args=[words], modes=Modes(strict=True))
    assert (words == ACCUMULATORS * 32).all()
