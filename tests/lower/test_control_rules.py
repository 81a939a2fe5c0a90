"""The documented rules of control flow, barriers and warps, by number: code that runs, and the operation that each becomes."""

from __future__ import annotations

import numpy as np
import oric
import pytest
from oric_tables import ops

from .support import launch, lowered, name, source

pytestmark = [pytest.mark.row("R2-56"), pytest.mark.memcheck]
STORE = "add.u64 %d1, %out, %tid4; st.global.u32 [%d1], %r1;"
CALLED = (
    """.func (.reg .b32 r) f(.reg .b32 a) { .reg .pred %p; setp.lt.u32 %p, a, 9; mov.u32 r, 5; @%p ret; add.u32 r, a, 1; ret; }"""
)
THREADS = 64
# Rule -> body (it leaves its result in %r1), operation that the rule names, result of a thread.
RULES = {
    79: ("mov.u32 %r1, 1; bra L; mov.u32 %r1, 2; L:", "BRA", lambda t: 1),
    80: ("mov.u32 %r1, 1; setp.lt.u32 %p1, %i, 7; @%p1 bra L; mov.u32 %r1, 2; L:", "BRA", lambda t: 1 if t < 7 else 2),
    81: ("call.uni (%r1), f, (%i);", "", lambda t: 5 if t < 9 else t + 1),
    82: (f"mov.u32 %r1, 3; setp.lt.u32 %p1, %i, 7; @%p1 ret; {STORE} mov.u32 %r1, 4;", "RETURN", lambda t: 0 if t < 7 else 4),
    83: (f"mov.u32 %r1, 3; setp.gt.u32 %p1, %i, 7; @%p1 exit; {STORE} mov.u32 %r1, 4;", "EXIT", lambda t: 4 if t < 8 else 0),
    84: (
        "mov.u32 %r2, cells; shl.b32 %r3, %i, 2; add.u32 %r4, %r2, %r3; st.shared.u32 [%r4], %i; bar.sync 0;"
        "xor.b32 %r3, %r3, 252; add.u32 %r4, %r2, %r3; ld.shared.u32 %r1, [%r4];",
        "BAR.SYNC",
        lambda t: 63 - t,
    ),
    85: (f"mov.u32 %r1, 1; {STORE} membar.cta; mov.u32 %r1, 2;", "MEMBAR", lambda t: 2),
    86: (f"mov.u32 %r1, 1; {STORE} membar.gl; mov.u32 %r1, 2;", "MEMBAR", lambda t: 2),
    87: ("shfl.sync.bfly.b32 %r1|%p1, %i, 3, 31, -1; @!%p1 mov.u32 %r1, 99;", "SHFL", lambda t: t ^ 3),
    88: (
        "and.b32 %r2, %i, 5; setp.eq.u32 %p1, %r2, 4; vote.sync.ballot.b32 %r1, %p1, -1;",
        "VOTE",
        lambda t: sum(1 << k for k in range(32) if k & 5 == 4),
    ),
    89: (
        "sub.s32 %r2, %i, 40; redux.sync.add.s32 %r1, %r2, -1;",
        "REDUX",
        lambda t: sum(range(32)) + (t & 32) * 32 - 1280 & 0xFFFFFFFF,
    ),
}


def ptx(number: int) -> str:
    body, _, _ = RULES[number]
    module = CALLED if number == 81 else ".shared .align 4 .u32 cells[64];"
    return source(f"{body} {STORE}", "sm_80" if number == 89 else "sm_75", module)


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"])
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("number", RULES)
def test_a_rule_by_its_number(number: int, level: int, arch: str) -> None:
    if number == 89 and arch == "sm_75":
        with pytest.raises(oric.CompileError, match="sm_80"):
            oric.compile(ptx(number), arch=arch)
        return
    out = launch(ptx(number), np.zeros(1), np.zeros(THREADS, np.uint32), arch, level, threads=THREADS)
    assert out.tolist() == [RULES[number][2](thread) for thread in range(THREADS)]


@pytest.mark.parametrize("number", [number for number in RULES if RULES[number][1]])
def test_a_rule_makes_its_operation(number: int) -> None:
    f = lowered(ptx(number)).functions[0]
    made = [i for i in range(len(f.op)) if name(f, i).startswith(RULES[number][1])]
    assert made
    if number == 89:  # the result is a uniform register
        assert ops.op(f.op[made[0]]).operands[0].kind == "ugpr"
