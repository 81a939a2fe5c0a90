"""Phase 22 at -O3: loops that are left where they begin are left where they end."""

from __future__ import annotations

import numpy as np
import oric
import pytest
from oric.driver import CompileOptions, compile_functions, compile_text
from oric.ir.function import Function, control_flow
from oric.ir.text import all_instructions
from oric.sim import Modes
from oric_tables.ops import op

TARGETS = ("sm_75", "sm_90", "sm_120")
LANES = 64
# The values of `counter` are those of the manual's loop: the test comes first, the rest of a round behind it.
LOOP = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 first, .param .u32 apart)
{{
  .shared .b32 room[64];
  .reg .b32 %r<20>; .reg .b64 %d<9>; .reg .pred %p<4>;
  ld.param.u64 %d1, [p]; ld.param.u32 %r1, [first]; ld.param.u32 %r2, [apart];
  mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r4, %r2, %r1; mul.wide.u32 %d2, %r4, 4; add.u64 %d1, %d1, %d2;
  mov.u32 %r6, 0; mov.u32 %r7, 7;
L: {pragma}
  {header}
  setp.{compare} %p1, %r5, {end}; @{way}%p1 bra {target}; {between}
  {body}
  bra L;
OUT:
  st.global.u32 [%d1], %r6; st.global.u32 [%d1+256], %r7;
  ret;
}}
"""
HEADER = "mad.lo.u32 %r7, %r7, 31, %r5; add.u32 %r6, %r6, 1;"
BODY = "add.u32 %r5, %r5, 1; xor.b32 %r7, %r7, %r6;"
FORKED = (
    "and.b32 %r8, %r7, 1; setp.eq.u32 %p2, %r8, 0; @%p2 bra A; add.u32 %r5, %r5, 1; bra B; A: add.u32 %r5, %r5, 3;"
    " B: xor.b32 %r7, %r7, %r6;"
)
NESTED = (
    "mov.u32 %r9, %r5; M: add.u32 %r7, %r7, %r9; setp.ge.u32 %p2, %r9, 12; @%p2 bra N; xor.b32 %r7, %r7, 5; add.u32 %r9, %r9, 5;"
    " bra M; N: add.u32 %r5, %r5, 1; xor.b32 %r7, %r7, %r6;"
)


def text(header: str = HEADER, body: str = BODY, pragma: str = "", compare: str = "ge.u32", end: str = "20") -> str:
    return LOOP.format(header=header, body=body, pragma=pragma, compare=compare, end=end, way="", target="OUT", between="")


def function(source: str, target: str = "sm_90", opt_level: int = 3) -> Function:
    ((f, _),) = compile_functions(source, CompileOptions(target, opt_level, verify=True))
    return f


def jumps_back(f: Function) -> int:
    """Branches without a condition that lead back: a loop that is left at its end has none."""
    place = {b: at for at, b in enumerate(range(f.blocks()))}
    loops = control_flow(f).loops()
    return sum(
        loops.header[x] == x and place[x] <= place[b] and f.guard[f.tail[b]] == 0
        for b in range(f.blocks())
        for x in range(f.blocks())
        if f.goes_to(b, x)
    )


def expected(body: str, counter: int) -> tuple[int, int]:
    rounds, mixed = 0, 7
    while True:
        mixed = (mixed * 31 + counter) & 0xFFFFFFFF
        rounds += 1
        if counter >= 20:
            return rounds, mixed
        if body is FORKED:
            counter += 1 if mixed & 1 else 3
        elif body is NESTED:
            inner = counter
            while True:
                mixed = (mixed + inner) & 0xFFFFFFFF
                if inner >= 12:
                    break
                mixed ^= 5
                inner += 5
            counter += 1
        else:
            counter += 1
        mixed ^= rounds


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("body", [BODY, FORKED, NESTED], ids=["straight", "forked", "nested"])
@pytest.mark.parametrize("apart", [0, 1])
def test_loops_do_the_same(body: str, target: str, apart: int) -> None:
    """Threads that make as many rounds as others, and threads that make none but the first part of one."""
    source = text(body=body)
    f = function(source, target)
    assert control_flow(f).loops().count >= 1
    assert jumps_back(f) == 0
    image = compile_text(source, CompileOptions(target, verify=True)).image
    for first in (0, 1, 18, 19, 20, 40):
        out = np.zeros(2 * LANES, np.uint32)
        args = [out, np.uint32(first), np.uint32(apart)]
        done = oric.sim.load(image).launch("k", grid=1, block=LANES, args=args, modes=Modes(strict=True))
        assert [str(report) for report in done.reports] == []
        for lane in range(LANES):
            assert (int(out[lane]), int(out[LANES + lane])) == expected(body, first + lane * apart), (first, lane)


def test_a_loop_of_two_blocks_has_turns_of_several_rounds() -> None:
    """Behind the rotation its rounds are counted: its exit stood between two parts of a round."""
    load = "mul.wide.u32 %d3, %r5, 4; add.u64 %d3, %d1, %d3; ld.global.u32 %r8, [%d3+512]; xor.b32 %r7, %r7, %r8;"
    f = function(text(header="add.u32 %r6, %r6, 1;", body=load + "add.u32 %r5, %r5, 1;", end="%r2"))
    assert sum(op(f.op[i]).name.startswith("LDG") for i in all_instructions(f)) == 5


@pytest.mark.parametrize(
    "header",
    [
        "bar.sync 0;",
        "vote.sync.ballot.b32 %r8, %p1, -1; add.u32 %r7, %r7, %r8;",
        "bar.warp.sync -1;",
        "div.u32 %r7, %r7, %r6;",
        HEADER * 20,
    ],
    ids=["barrier", "vote", "warp", "division", "long"],
)
def test_loops_that_stay(header: str) -> None:
    """Where threads meet there is one place, and what is long is not copied."""
    assert jumps_back(function(text(header=header))) == 1


def test_levels_below() -> None:
    """No loop changes its shape at -O2 and below."""
    assert jumps_back(function(text())) == 0
    assert jumps_back(function(text(), opt_level=2)) == 1
