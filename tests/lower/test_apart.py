"""What threads of a warp share while they are on different ways: uniform registers, and scoreboards of what still reads them."""

from __future__ import annotations

import numpy as np
import oric
import oric.sim
import pytest

from .ocg_calls import with_calls

ARMS = 3
HEAD = """.version 9.0
.target {target}
.address_size 64
.visible .entry k(.param .u64 pin, .param .u64 pout, .param .u32 p0, .param .u32 p1, .param .u32 p2)
{{
  .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %d<9>;
  .shared .align 128 .b8 data[2048]; .shared .align 8 .b64 bar;
  ld.param.u64 %d0, [pin]; ld.param.u64 %d1, [pout]; mov.u32 %r0, %tid.x; mul.wide.u32 %d2, %r0, 64;
  mov.b64 %d9, 0x12f0000000000000;
  add.u64 %d3, %d0, %d2; add.u64 %d4, %d1, %d2; mov.u32 %r1, data; mad.lo.u32 %r1, %r0, 64, %r1; mov.u32 %r2, bar; mov.u32 %r3, 0;
fill:
  add.u32 %r4, %r1, %r3; mad.lo.u32 %r5, %r0, 64, %r3; st.shared.b32 [%r4], %r5; add.u32 %r3, %r3, 4; setp.lt.u32 %p0, %r3, 64;
  @%p0 bra fill;
  setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [bar], 32; fence.proxy.async; bar.sync 0;
  rem.u32 %r6, %r0, 3; setp.eq.u32 %p1, %r6, 1; @%p1 bra ARM1; setp.eq.u32 %p2, %r6, 2; @%p2 bra ARM2;
  {arm0}
  bra.uni JOIN;
ARM1:
  {arm1}
  bra.uni JOIN;
ARM2:
  {arm2}
JOIN:
  {join}
  bar.sync 0;
  ld.shared.v4.b32 {{%r10, %r11, %r12, %r13}}, [%r1]; st.global.v4.b32 [%d4], {{%r10, %r11, %r12, %r13}};
  ret;
}}
""".replace("%d<9>", "%d<10>")
WAIT = "wait: mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0; @!%p3 bra wait;"


def run(target: str, level: int, arm: str, join: str = "") -> tuple[np.ndarray, np.ndarray]:
    """What threads find in their 16 bytes of shared memory, and what was written to ``pin``, in words."""
    arms = {f"arm{n}": arm.replace("NUMBER", str(n + 1)).replace("SIZE", f"%r{7 + n}") for n in range(ARMS)}
    text = HEAD.format(target=target, join=join, **arms)
    text = text.replace("rem.u32", "ld.param.u32 %r7, [p0]; ld.param.u32 %r8, [p1]; ld.param.u32 %r9, [p2]; rem.u32")
    given, out = np.arange(5000, 5512, dtype=np.uint32), np.zeros(512, np.uint32)
    module = oric.sim.load(oric.compile(with_calls(text), target, opt_level=level).image)
    module.launch("k", 1, 32, [given, out, 16, 32, 48], modes=oric.sim.Modes(strict=True))
    return out.reshape(32, 16)[:, :4], given.reshape(32, 16)


def of(thread: int, at: int) -> int:
    """The word that each thread has in shared memory at first."""
    return 64 * thread + 4 * at


@pytest.mark.parametrize("level", [0, 1, 3])
@pytest.mark.parametrize("target", ["sm_100a", "sm_110a", "sm_120a"])
def test_constants_of_several_ways(target: str, level: int) -> None:
    """A constant that is outside of the loop over the threads of one way, and others on the other ways."""
    out, _ = run(target, level, "[[memclear_b64 <- b32 %r1, b32 NUMBER]]")
    for thread in range(32):
        cleared = 2 * (thread % 3 + 1)
        assert out[thread].tolist() == [0 if at < cleared else of(thread, at) for at in range(4)]


@pytest.mark.parametrize("level", [0, 1, 3])
@pytest.mark.parametrize("name", ["write_async_global_b32", "red_async_global_u32_add"])
def test_values_and_places_of_several_ways(name: str, level: int) -> None:
    """Both a thread's own place with a constant, and a thread's own value at a place that all have."""
    arm = f"add.u64 %d5, %d3, 4; [[{name} <- b64 %d5, b32 NUMBER]] add.u64 %d6, %d0, 8; [[{name} <- b64 %d6, b32 %r6]]"
    _, given = run("sm_100a", level, arm)
    old = np.arange(5000, 5512, dtype=np.uint32).reshape(32, 16)
    adds = "red" in name
    for thread in range(32):
        assert given[thread, 1] == thread % 3 + 1 + (old[thread, 1] if adds else 0)
    assert given[0, 2] == old[0, 2] + sum(n % 3 for n in range(32)) if adds else given[0, 2] in (0, 1, 2)


@pytest.mark.parametrize("level", [0, 1, 3])
@pytest.mark.parametrize("target", ["sm_90a", "sm_100a", "sm_120a"])
def test_copies_of_several_ways(target: str, level: int) -> None:
    """Nobody overwrites a register that a copy of another way has not read yet."""
    arm = "mbarrier.arrive.expect_tx.shared.b64 _, [bar], SIZE; "
    arm += "[[cp_async_bulk_mbarrier_shared_global <- b32 %r1, b32 %r2, b64 %d3, b32 SIZE, b64 %d9]]"
    out, _ = run(target, level, arm, WAIT)
    for thread in range(32):
        assert out[thread].tolist() == [5000 + 16 * thread + at for at in range(4)]
