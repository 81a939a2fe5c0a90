# ruff: noqa: E501 (lines of PTX)
"""Programs with mbarriers and asynchronous copies, and what they compute, after the PTX manual."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

HEAD = """.version 8.7
.target {target}
.address_size 64
.visible .entry k(.param .u64 pin, .param .u64 pout)
{{
  .reg .pred %p<20>; .reg .b32 %r<60>; .reg .b64 %d<60>; .reg .b32 %i; .reg .b64 %in; .reg .b64 %out; .reg .b64 %row;
  .shared .align 16 .b8 room[8192]; .shared .align 8 .b64 bars[64];
  ld.param.u64 %in, [pin]; ld.param.u64 %out, [pout]; mov.u32 %i, %tid.x;
{body}
  ret;
}}
"""


def source(body: str, target: str) -> str:
    """PTX of a kernel: ``%in``, ``%out`` are the buffers, ``%i`` the thread; shared ``room`` and ``bars``."""
    return HEAD.format(target=target, body=body)


# -- a ring of stages: warp 0 fills them, the other warps take what is in them ------------------------------------

STAGES, TAKERS = 3, 96


def ring(target: str, rounds: int, form: str) -> str:
    """Each stage has a barrier that it is full and one that it is empty; ``form``: what the waiting loop tests.

    Round r of the filling warp puts ``in[r * 32 + lane] + r`` there; the other threads add up what their lane's place has, times
    the round plus one.
    """
    wait = {
        "test": "mbarrier.test_wait.parity.shared.b64 %p1, [{at}], {parity};",
        "try": "mbarrier.try_wait.parity.shared::cta.b64 %p1, [{at}], {parity};",
        "hint": "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, [{at}], {parity}, 100;",
        "cluster": "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [{at}], {parity};",
    }[form]
    arrive = {"cluster": "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [{at}];"}.get(
        form, "mbarrier.arrive.shared.b64 %d9, [{at}];"
    )

    def waiting(label: str, at: str, parity: str) -> str:
        return f"{label}: {wait.format(at=at, parity=parity)} @!%p1 bra {label};"

    return source(
        f"""
  setp.ne.u32 %p2, %i, 0; @%p2 bra READY;
  mbarrier.init.shared.b64 [bars], 32; mbarrier.init.shared.b64 [bars+8], 32; mbarrier.init.shared.b64 [bars+16], 32;
  mbarrier.init.shared.b64 [bars+64], {TAKERS}; mbarrier.init.shared.b64 [bars+72], {TAKERS}; mbarrier.init.shared.b64 [bars+80], {TAKERS};
READY:
  bar.sync 0;
  mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0;
  and.b32 %r20, %i, 31; shl.b32 %r21, %r20, 2; mov.u32 %r22, bars; mov.u32 %r23, room; add.u32 %r23, %r23, %r21;
  setp.ge.u32 %p3, %i, 32; @%p3 bra TAKE;
FILL:
  shl.b32 %r10, %r2, 3; add.u32 %r10, %r10, %r22;
  add.u32 %r11, %r10, 64; xor.b32 %r12, %r3, 1;
  {waiting("EMPTY", "%r11", "%r12")}
  mul.wide.u32 %d1, %r1, 128; add.u64 %d1, %d1, %in; mul.wide.u32 %d2, %r20, 4; add.u64 %d1, %d1, %d2;
  ld.global.u32 %r13, [%d1]; add.u32 %r13, %r13, %r1;
  shl.b32 %r14, %r2, 7; add.u32 %r14, %r14, %r23; st.shared.u32 [%r14], %r13;
  {arrive.format(at="%r10")}
  bra NEXT;
TAKE:
  shl.b32 %r10, %r2, 3; add.u32 %r10, %r10, %r22;
  {waiting("FULL", "%r10", "%r3")}
  shl.b32 %r14, %r2, 7; add.u32 %r14, %r14, %r23; ld.shared.u32 %r13, [%r14];
  add.u32 %r15, %r1, 1; mad.lo.u32 %r4, %r13, %r15, %r4;
  add.u32 %r11, %r10, 64; {arrive.format(at="%r11")}
NEXT:
  add.u32 %r1, %r1, 1; add.u32 %r2, %r2, 1; setp.eq.u32 %p4, %r2, {STAGES};
  @%p4 xor.b32 %r3, %r3, 1; selp.u32 %r2, 0, %r2, %p4;
  setp.lt.u32 %p5, %r1, {rounds}; @!%p5 bra DONE;
  @%p3 bra TAKE; bra FILL;
DONE:
  mul.wide.u32 %d3, %i, 4; add.u64 %d3, %d3, %out; st.global.u32 [%d3], %r4;""",
        target,
    )


def ring_result(data: Array, rounds: int) -> Array:
    """What the threads of :func:`ring` leave: nothing in the first warp."""
    r = np.arange(rounds, dtype=np.uint32)
    sums = ((data.reshape(rounds, 32) + r[:, None]) * (r + 1)[:, None]).sum(axis=0, dtype=np.uint32)
    return np.concatenate([np.zeros(32, np.uint32), *([sums] * (TAKERS // 32))])


# -- what the state of an arrival says ----------------------------------------------------------------------------


def states(target: str, form: str, space: str = ".shared", address: str = "bars") -> str:
    """Thread t arrives with ``in[t]`` (``form`` has a count), or once; its pending count before that goes to ``out``.

    The barrier expects 1000 arrivals; behind them thread 0 stores what a last arrival without a count finds.
    """
    return source(
        f"""
  mov.u64 %d20, bars; cvta.shared.u64 %d20, %d20;
  setp.ne.u32 %p2, %i, 0; @%p2 bra READY; mov.u32 %r9, 1000; mbarrier.init{space}.b64 [{address}], %r9;
READY:
  bar.sync 0;
  mul.wide.u32 %d3, %i, 4; add.u64 %d4, %d3, %in; add.u64 %d3, %d3, %out; ld.global.u32 %r1, [%d4];
  {form.format(at=address)}
  mbarrier.pending_count.b64 %r2, %d5; st.global.u32 [%d3], %r2;
  bar.sync 0;
  @%p2 bra DONE; mbarrier.arrive{space}.b64 %d6, [{address}]; mbarrier.pending_count.b64 %r3, %d6; st.global.u32 [%out+256], %r3;
  mbarrier.inval{space}.b64 [{address}];
DONE:""",
        target,
    )


def in_some_order(before: Array, counts: Array, total: int, target: str = "", form: str = "") -> bool:
    """Whether arrivals one after the other find these pending counts.

    From sm_90 on the threads of a warp arrive together, and all of them find what was there before (seen on an H100); those of
    ``.noComplete`` reckon what each would have found.
    """
    if target.startswith("sm_90") and "noComplete" not in form:
        warps = before.reshape(-1, 32)
        if (warps != warps[:, :1]).any():
            return False
        before, counts = warps[:, 0], counts.reshape(-1, 32).sum(axis=1)
    order = sorted(zip(before.tolist(), counts.tolist(), strict=True), reverse=True)
    for found, count in order:
        if found != total:
            return False
        total -= count
    return True


# -- copies ---------------------------------------------------------------------------------------------------------


def copies(target: str, size: int, form: str, far: bool = False, guard: str = "") -> str:
    """Each thread copies ``size`` bytes of its 64 to its 64 in shared memory, which are 0xff before, and stores these.

    ``form``: the operands behind the size, with ``%r5`` the thread's number in the second input word, ``%p6`` its lowest bit.
    """
    qualifiers, _, rest = form.partition(" ")
    policy = "mov.b64 %d8, 0x14F0000000000000;" if "cache_hint" in form else ""
    source_at, moved = ("%d6+4096", "sub.u64 %d6, %d4, 4096;") if far else ("%d4+16", "")
    return source(
        f"""
  mul.wide.u32 %d3, %i, 64; add.u64 %d4, %d3, %in; add.u64 %d3, %d3, %out; shl.b32 %r1, %i, 6; mov.u32 %r2, room; add.u32 %r1, %r1, %r2;
  mov.u32 %r3, -1; mov.b64 %d7, {{%r3, %r3}};
  st.shared.v2.b64 [%r1], {{%d7, %d7}}; st.shared.v2.b64 [%r1+16], {{%d7, %d7}}; st.shared.v2.b64 [%r1+32], {{%d7, %d7}};
  ld.global.u32 %r5, [%d4+4]; and.b32 %r6, %r5, 1; setp.ne.u32 %p6, %r6, 0; {moved}
  {policy}
  {guard}cp.async.{qualifiers} [%r1+16], [{source_at}], {size}{rest};
  cp.async.commit_group; cp.async.wait_group 0;
  ld.shared.v4.u32 {{%r10, %r11, %r12, %r13}}, [%r1+16]; ld.shared.v2.u32 {{%r14, %r15}}, [%r1+32];
  st.global.v4.u32 [%d3], {{%r10, %r11, %r12, %r13}}; st.global.v2.u32 [%d3+16], {{%r14, %r15}};""",
        target,
    )


def copied(data: Array, size: int, bytes_wanted: Array, offset: int) -> Array:
    """The 24 bytes that each thread of :func:`copies` stores."""
    out = np.full((len(data), 24), 0xFF, np.uint8)
    for t, row in enumerate(data):
        piece = row[offset : offset + size].copy()
        piece[bytes_wanted[t] :] = 0
        out[t, :size] = piece
    return out
