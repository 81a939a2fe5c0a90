"""What the threads of a mask do, and nobody reads: whoever comes behind it is not what the mask was for."""

from __future__ import annotations

import numpy as np
import pytest

from .support import launch, source

WAYS = [("sm_90", 3), ("sm_90", 1), ("sm_90", 0), ("sm_80", 3), ("sm_120", 3)]
# r5: a mask of this thread and others; p1: whether the thread is one of those of one mask.
UNREAD = {
    "redux": "redux.sync.or.b32 %r6, %r1, %r5;",
    "ballot": "vote.sync.ballot.b32 %r6, %p1, %r5;",
    "any": "vote.sync.any.pred %p3, %p1, %r5;",
    "match": "match.any.sync.b32 %r6, %r1, %r5;",
    "shuffle": "shfl.sync.idx.b32 %r6, %r1, 0, 31, %r5;",
    "two": "vote.sync.any.pred %p3, %p1, %r5; redux.sync.or.b32 %r6, %r1, %r5;",
}
WHOLE = {
    "all": ("vote.sync.all.pred %p2, %p1, -1; selp.u32 %r7, 1, 0, %p2;", lambda p, x: [all(p)] * 32),
    "uni": ("vote.sync.uni.pred %p2, %p1, -1; selp.u32 %r7, 1, 0, %p2;", lambda p, x: [len(set(p)) == 1] * 32),
    "ballot": ("vote.sync.ballot.b32 %r7, %p1, -1;", lambda p, x: [sum(1 << n for n in range(32) if p[n])] * 32),
    "redux": ("redux.sync.add.s32 %r7, %r1, -1;", lambda p, x: [sum(x)] * 32),
    "shuffle": ("shfl.sync.bfly.b32 %r7, %r1, 16, 31, -1;", lambda p, x: [x[n ^ 16] for n in range(32)]),
}
MASKS = {
    "of_those_with_a_guard": ("vote.sync.ballot.b32 %r5, %p1, -1;", "@%p1"),
    "of_each": ("vote.sync.ballot.b32 %r5, %p1, -1; @!%p1 not.b32 %r5, %r5;", ""),
    "constant": ("mov.u32 %r5, 0xaaaaaaaa; and.b32 %r8, %lane, 1; setp.ne.u32 %p4, %r8, 0;", "@%p4"),
}


def run(arch: str, level: int, before: str, behind: str) -> tuple[np.ndarray, list[bool], list[int]]:
    body = f"""
  .reg .b32 %lane; mov.u32 %lane, %laneid;
  add.u64 %d1, %in, %tid4; ld.global.u32 %r1, [%d1]; setp.lt.u32 %p1, %r1, 3;
  {before} {behind}
  add.u64 %d2, %out, %tid4; st.global.u32 [%d2], %r7;
"""
    data = np.arange(32, dtype=np.uint32) % 7
    out = launch(source(body, arch), data, np.zeros(32, np.uint32), arch, level)
    return out, [bool(n < 3) for n in data], [int(n) for n in data]


@pytest.mark.parametrize(("arch", "level"), WAYS)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("whole", WHOLE)
@pytest.mark.parametrize("unread", UNREAD)
def test_all_threads_behind_it(unread: str, whole: str, mask: str, arch: str, level: int) -> None:
    makes, guard = MASKS[mask]
    statements = " ".join(f"{guard} {statement};" for statement in UNREAD[unread].split(";") if statement.strip())
    out, p, x = run(arch, level, f"{makes} {statements}", WHOLE[whole][0])
    assert list(out) == [int(n) for n in WHOLE[whole][1](p, x)]


@pytest.mark.parametrize(("arch", "level"), WAYS)
@pytest.mark.parametrize("whole", WHOLE)
def test_all_threads_behind_a_barrier_of_some(whole: str, arch: str, level: int) -> None:
    out, p, x = run(arch, level, "vote.sync.ballot.b32 %r5, %p1, -1; @%p1 bar.warp.sync %r5;", WHOLE[whole][0])
    assert list(out) == [int(n) for n in WHOLE[whole][1](p, x)]


@pytest.mark.parametrize(("arch", "level"), WAYS)
@pytest.mark.parametrize("whole", WHOLE)
@pytest.mark.parametrize("unread", UNREAD)
def test_where_threads_come_one_by_one(unread: str, whole: str, arch: str, level: int) -> None:
    """Some leave a loop before others, and are in another arm."""
    makes = "vote.sync.ballot.b32 %r5, %p1, -1; mov.u32 %r4, 0;"
    loop = "L: add.u32 %r4, %r4, 1; setp.lt.u32 %p4, %r4, %r1; @%p4 bra L;"
    out, p, x = run(arch, level, f"{makes} {loop} @!%p1 bra ON; {UNREAD[unread]} ON:", WHOLE[whole][0])
    assert list(out) == [int(n) for n in WHOLE[whole][1](p, x)]
