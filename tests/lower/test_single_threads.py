"""What one thread of a warp asks of the units of tensor memory: one after the other, and no loop where there is only one."""

from __future__ import annotations

import numpy as np
import oric
import oric.sim
import pytest
from oric.sass.instruction import disassemble
from oric.sim import Modes
from oric.support import elf

levels = pytest.mark.parametrize("level", [0, 1, 3])


def kernel(chosen: str, count: int) -> str:
    """The chosen threads wait in a loop until warp 1 has arrived and commit; all threads wait for ``count`` arrivals of that."""
    return f""".version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 p) {{
.reg .b64 %p; .reg .b32 %t, %x, %y, %e; .reg .pred %q, %r, %s, %m, %n;
.shared .align 8 .b64 first; .shared .align 8 .b64 second;
ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mov.u32 %x, first; mov.u32 %y, second;
setp.ne.u32 %q, %t, 0; @%q bra READY;
mbarrier.init.shared.b64 [%x], 1; mbarrier.init.shared.b64 [%y], {count};
READY: bar.sync 0;
setp.ne.u32 %q, %t, 32; @%q bra OTHERS; mbarrier.arrive.shared.b64 _, [%x];
OTHERS: setp.ge.u32 %q, %t, 32; @%q bra WAIT;
{chosen} bra WAIT;
SPIN: mbarrier.try_wait.parity.shared.b64 %r, [%x], 0; @!%r bra SPIN;
tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%y];
WAIT: mbarrier.try_wait.parity.shared.b64 %r, [%y], 0; @!%r bra WAIT;
mad.wide.u32 %p, %t, 4, %p; st.global.u32 [%p], %t;
ret;
}}
"""


def run(text: str, level: int) -> list[str]:
    """The instructions; each thread has stored its number."""
    image = oric.compile(text, arch="sm_100a", opt_level=level).image
    words = np.full(64, 99, np.uint32)
    oric.sim.load(image).launch("k", grid=1, block=64, args=[words], modes=Modes(strict=True), max_steps=200_000)
    assert (words == np.arange(64)).all()
    return disassemble(elf.read(image).functions["k"].text, "sm_100a")


@levels
@pytest.mark.parametrize(
    ("chosen", "count"),
    [("setp.ne.u32 %s, %t, 5; @%s", 1), ("and.b32 %e, %t, 3; setp.ne.u32 %s, %e, 0; @%s", 8)],
    ids=["one", "eight"],
)
def test_each_in_its_turn(chosen: str, count: int, level: int) -> None:
    """Nobody waits for the threads that do not ask."""
    code = run(kernel(chosen, count), level)
    assert sum("ELECT" in line for line in code) == 1
    assert sum("UTCBAR" in line for line in code) == 1


@levels
def test_an_elected_thread_is_alone(level: int) -> None:
    """There is no loop where `elect.sync` has left one thread."""
    code = run(kernel("elect.sync %e|%s, -1; @!%s", 1), level)
    assert sum("ELECT" in line for line in code) == (2 if level == 0 else 1)


@levels
@pytest.mark.parametrize(
    "chosen",
    [
        "elect.sync %e|%s, -1; setp.lt.u32 %q, %t, 99; and.pred %m, %q, %s; @!%m",
        "elect.sync %e|%s, -1; setp.lt.and.u32 %m, %t, 99, %s; @!%m",
        "elect.sync %e|%s, -1; setp.lt.u32 %q, %t, 99; and.pred %m, %s, %q; setp.ne.and.u32 %n, %t, 98, %m; @!%n",
    ],
    ids=["and", "comparison", "both"],
)
def test_an_elected_thread_of_which_more_is_asked_is_alone(chosen: str, level: int) -> None:
    code = run(kernel(chosen, 1), level)
    assert sum("ELECT" in line for line in code) == (2 if level == 0 else 1)


@levels
def test_whoever_else_is_let_through_is_not_alone(level: int) -> None:
    """A thread that was elected, or another one: both ask."""
    code = run(kernel("elect.sync %e|%s, -1; setp.eq.u32 %q, %t, 5; or.pred %m, %s, %q; @!%m", 2), level)
    assert sum("ELECT" in line for line in code) == 2


@levels
def test_threads_of_several_rounds_are_not_alone(level: int) -> None:
    """Behind a loop are all that were elected in one of its rounds."""
    rounds = "ROUND: elect.sync %e|%m, -1; @!%m bra ROUND; @!%m"
    code = run(kernel(rounds, 32), level)
    assert sum("ELECT" in line for line in code) == 2
