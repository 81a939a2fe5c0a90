"""Threads of one warp that wait for one another, and threads that leave early: no barrier of ours may hold them up for ever."""

from __future__ import annotations

import numpy as np
import oric
import pytest
from oric.sim import Modes

pytestmark = pytest.mark.memcheck

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"

LOCK = (
    HEAD
    + """
.visible .entry locked_add(.param .u64 lock, .param .u64 counter)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [lock];
    ld.param.u64 %rd2, [counter];
TRY:
    atom.global.cas.b32 %r1, [%rd1], 0, 1;
    setp.ne.s32 %p1, %r1, 0;
    @%p1 bra TRY;
    ld.volatile.global.u32 %r2, [%rd2];
    add.s32 %r3, %r2, 1;
    st.volatile.global.u32 [%rd2], %r3;
    membar.gl;
    atom.global.exch.b32 %r4, [%rd1], 0;
    ret;
}
"""
)

EARLY = (
    HEAD
    + """
.visible .entry early(.param .u64 out)
{
    .reg .pred %p<5>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, 0;
LOOP:
    add.s32 %r2, %r2, 3;
    and.b32 %r3, %r2, 7;
    setp.eq.s32 %p1, %r3, %r1;
    @%p1 bra DONE;
    setp.lt.s32 %p2, %r2, %r1;
    @%p2 bra LOOP;
    shfl.sync.idx.b32 %r4|%p3, %r2, 31, 0x1f, 0xffffffff;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r4;
DONE:
    ret;
}
"""
)


@pytest.mark.measure
@pytest.mark.parametrize("arch", [pytest.param("sm_80", marks=pytest.mark.measure), "sm_90"])
@pytest.mark.parametrize("level", [pytest.param(0, marks=pytest.mark.measure), 3])
def test_spin_lock_within_a_warp(arch: str, level: int) -> None:
    """As with ptxas's code the holder waits behind the loop until the YIELD of the others opens the barrier, after many turns."""
    module = oric.sim.load(oric.compile(LOCK, arch=arch, opt_level=level, verify=True).image)
    lock, counter = np.zeros(1, np.int32), np.zeros(1, np.int32)
    module.launch("locked_add", grid=(2, 1, 1), block=(33, 1, 1), args=[lock, counter], max_steps=30_000_000)
    assert (lock[0], counter[0]) == (0, 66)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("level", [0, 3])
def test_threads_that_return_from_a_loop_do_not_hold_up_a_shuffle(arch: str, level: int) -> None:
    module = oric.sim.load(oric.compile(EARLY, arch=arch, opt_level=level, verify=True).image)
    out = np.full(32, -1, np.int32)
    module.launch("early", grid=(1, 1, 1), block=(32, 1, 1), args=[out])
    gone = [t for t in range(32) if any(n & 7 == t for n in range(3, max(t, 1) + 3, 3))]
    assert [int(v) for v in out] == [-1 if t in gone else 33 for t in range(32)]


TURNS = (
    HEAD
    + """
.visible .entry turns(.param .u64 out)
{
    .shared .align 4 .b8 s[8];
    .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd2, %rd1; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd2, %rd2, %rd3; mov.u32 %r5, 0; st.volatile.shared.u32 [s], %r5; st.volatile.shared.u32 [s+4], %r5; bar.sync 0;
WAIT:
    ld.volatile.shared.u32 %r2, [s];
    setp.ne.u32 %p2, %r2, %r1;
    @%p2 bra WAIT;
    ld.volatile.shared.u32 %r3, [s+4];
    add.u32 %r3, %r3, 3;
    st.volatile.shared.u32 [s+4], %r3;
    add.u32 %r4, %r1, 1;
    st.volatile.shared.u32 [s], %r4;
    st.global.u32 [%rd2], %r3;
    ret;
}
"""
)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
@pytest.mark.parametrize("level", [0, 3])
def test_threads_of_a_warp_take_turns_by_a_word_in_shared_memory(target: str, level: int) -> None:
    """A volatile access is neither merged nor moved, and who leaves the loop does not wait for those that still poll."""
    module = oric.sim.load(oric.compile(TURNS, arch=target, opt_level=level, verify=True).image)
    out = np.zeros(40, np.uint32)
    # Nothing in the machine code tells words that threads poll from a race: no memory checker here.
    done = module.launch("turns", grid=(1, 1, 1), block=(40, 1, 1), args=[out], modes=Modes(strict=True))
    assert done.reports == ()
    assert out.tolist() == [3 * (i + 1) for i in range(40)]
