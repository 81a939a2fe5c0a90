"""Shared memory that is cleared (st.bulk): by single threads and by all, and in order with what is stored and read around it."""

from __future__ import annotations

from typing import Any

import numpy as np
import oric
import pytest

Array = np.ndarray[Any, Any]
TARGETS = [("sm_100", 0), ("sm_100a", 3), ("sm_103a", 3), ("sm_110a", 3), ("sm_120", 0), ("sm_121a", 3)]
WORDS = 2048  # of the memory that is looked at
KERNEL = """.version 9.0
.target {target}
.address_size 64
.visible .entry k(.param .u64 pout, .param .u64 psizes, .param .u64 pfixed)
{{
  .reg .pred %p<6>; .reg .b32 %r<40>; .reg .b64 %d<20>;
  .shared .align 16 .b8 data[8192];
  ld.param.u64 %d0, [pout]; ld.param.u64 %d1, [psizes]; ld.param.u64 %d9, [pfixed];
  mov.u32 %r0, %tid.x; mov.u32 %r1, %ntid.x; mov.u32 %r9, 0;
  mul.wide.u32 %d2, %r0, 8; add.u64 %d1, %d1, %d2;
  ld.global.v2.u32 {{%r2, %r3}}, [%d1];  // where the thread's part begins, its bytes
  cvt.u64.u32 %d3, %r3; cvt.u64.u32 %d4, %r2; mov.u64 %d5, data; add.u64 %d4, %d4, %d5;
  cvta.shared.u64 %d6, %d4; cvt.u32.u64 %r5, %d4;
  mov.u32 %r4, %r0;
fill:
  shl.b32 %r6, %r4, 2; mov.u32 %r7, data; add.u32 %r6, %r6, %r7; add.u32 %r8, %r4, 1; st.shared.u32 [%r6], %r8;
  add.u32 %r4, %r4, %r1; setp.lt.u32 %p0, %r4, 2048; @%p0 bra fill;
  bar.sync 0;
{body}
  bar.sync 0;
  mov.u32 %r4, %r0;
give:
  shl.b32 %r6, %r4, 2; mov.u32 %r7, data; add.u32 %r6, %r6, %r7; ld.shared.u32 %r8, [%r6];
  mul.wide.u32 %d7, %r4, 4; add.u64 %d7, %d7, %d0; st.global.u32 [%d7], %r8;
  add.u32 %r4, %r4, %r1; setp.lt.u32 %p0, %r4, 2048; @%p0 bra give;
  mul.wide.u32 %d7, %r0, 4; add.u64 %d7, %d7, %d0; st.global.u32 [%d7+8192], %r9;
  ret;
}}
"""


def run(target: str, level: int, body: str, parts: Array | None = None, threads: int = 40, **more: Any) -> tuple[Array, Array]:
    """What is in the memory behind the body, that had 1, 2, ... in front of it; what each thread has in %r9."""
    image = oric.compile(KERNEL.format(target=target, body=body), arch=target, opt_level=level).image
    out = np.zeros(WORDS + threads, np.uint32)
    rows = np.zeros((threads, 2), np.uint32) if parts is None else parts
    oric.sim.load(image).launch("k", 1, threads, [out, rows, np.uint64(24)], **more)
    return out[:WORDS], out[WORDS:]


def cleared(*places: tuple[int, int]) -> list[int]:
    """The memory with zeros in some places: first byte, number of bytes."""
    want = np.arange(1, WORDS + 1)
    for start, size in places:
        want[start // 4 : (start + size) // 4] = 0
    return want.tolist()


def parts(threads: int) -> Array:
    """A part for each thread, not all of them used, some empty."""
    sizes = 8 * np.random.default_rng(1).integers(0, 10, threads)
    starts = np.concatenate(([8], 16 + np.cumsum(sizes + 16)[:-1]))
    return np.stack([starts, sizes], 1).astype(np.uint32)


EACH = {
    "pair": "st.bulk.weak.shared::cta [%d4], %d3, 0;",
    "word": "st.bulk.shared::cta [%r5], %r3, 0;",
    "generic": "st.bulk.weak [%d6], %d3, 0;",
    "offset": "add.u64 %d6, %d6, 64; st.bulk [%d6+-64], %r3, 0;",
}


@pytest.mark.memcheck
@pytest.mark.parametrize(("target", "level"), TARGETS)
@pytest.mark.parametrize("how", EACH)
def test_every_thread_clears_its_part(target: str, level: int, how: str) -> None:
    rows = parts(40)
    got, _ = run(target, level, EACH[how], rows)
    assert got.tolist() == cleared(*rows.tolist())


@pytest.mark.memcheck
@pytest.mark.parametrize(("target", "level"), TARGETS)
def test_threads_whose_guard_is_false_clear_nothing(target: str, level: int) -> None:
    rows = parts(40)
    body = "rem.u32 %r10, %r0, 3; setp.eq.u32 %p1, %r10, 1; @%p1 st.bulk.weak.shared::cta [%d4], %d3, 0;"
    got, _ = run(target, level, body, rows)
    assert got.tolist() == cleared(*rows[1::3].tolist())


ALIKE: dict[str, tuple[str, list[tuple[int, int]]]] = {
    "constant": ("st.bulk.weak.shared::cta [data], 1024, 0;", [(0, 1024)]),
    "variable and offset": ("st.bulk [data+48], 8, 0x0;", [(48, 8)]),
    "nothing": ("st.bulk.weak.shared::cta [%d5+16], 0, 0;", []),
    "all": ("st.bulk.weak.shared::cta [%d5], 8192, 0;", [(0, 8192)]),
    "parameter": ("st.bulk.weak.shared::cta [%d5+8], %d9, 0;", [(8, 24)]),
    "one thread": ("setp.eq.u32 %p1, %r0, 33; @%p1 st.bulk.weak.shared::cta [%d5+8], 16, 0;", [(8, 16)]),
    "two": ("st.bulk.weak.shared::cta [%d5], 16, 0; st.bulk.weak.shared::cta [%d5+160], %d9, 0;", [(0, 16), (160, 24)]),
    "loop": (
        "mov.u32 %r10, 0; more: st.bulk.weak.shared::cta [%d5], 8, 0; add.u64 %d5, %d5, 32; add.u32 %r10, %r10, 1;\n"
        "setp.lt.u32 %p1, %r10, 5; @%p1 bra more;",
        [(0, 8), (32, 8), (64, 8), (96, 8), (128, 8)],
    ),
}


@pytest.mark.memcheck
@pytest.mark.parametrize(("target", "level"), TARGETS)
@pytest.mark.parametrize("what", ALIKE)
def test_places_and_sizes_that_are_the_same_for_all(target: str, level: int, what: str) -> None:
    body, places = ALIKE[what]
    got, _ = run(target, level, body, threads=1 if what != "one thread" else 40)
    assert got.tolist() == cleared(*places)


ORDER: dict[str, tuple[str, int, list[int]]] = {  # body, %r9, the first words
    "read before": ("ld.shared.u32 %r9, [data+4]; st.bulk.weak.shared::cta [%d5], 16, 0;", 2, [0, 0, 0, 0, 5]),
    "read behind": (
        "st.shared.u32 [data+4], 77; st.bulk.weak.shared::cta [%d5], 16, 0; ld.shared.u32 %r9, [data+4];",
        0,
        [0] * 4,
    ),
    "stored behind": (
        "st.bulk.weak.shared::cta [%d5], 16, 0; st.shared.u32 [data+4], 77; ld.shared.u32 %r9, [data+4];",
        77,
        [0, 77, 0, 0, 5],
    ),
    "read twice": (
        "ld.shared.u32 %r10, [data+4]; st.bulk.weak.shared::cta [%d5], 16, 0; ld.shared.u32 %r11, [data+4];\n"
        "mad.lo.u32 %r9, %r10, 100, %r11;",
        200,
        [0, 0, 0, 0, 5],
    ),
    "through a generic address": (
        "cvta.shared.u64 %d10, %d5; st.u32 [%d10+8], 5; st.bulk [%d10], 16, 0; ld.u32 %r9, [%d10+8];",
        0,
        [0, 0, 0, 0, 5],
    ),
    "atomic": ("st.bulk.weak.shared::cta [%d5], 16, 0; atom.shared.add.u32 %r9, [data+12], 9;", 0, [0, 0, 0, 9, 5]),
    "vector": (
        "st.shared.v2.u32 [data], {7, 8}; st.bulk.weak.shared::cta [%d5+8], 8, 0; ld.shared.v2.u32 {%r10, %r9}, [data];",
        8,
        [7, 8, 0, 0, 5],
    ),
    "in a loop": (
        "mov.u32 %r10, 0; more: ld.shared.u32 %r11, [data+4]; add.u32 %r9, %r9, %r11; st.bulk.weak.shared::cta [%d5], 8, 0;\n"
        "add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 5; @%p1 bra more;",
        2,
        [0, 0, 3],
    ),
    "at an address from memory": (
        "ld.shared.u32 %r10, [data+60]; st.bulk.weak.shared::cta [%d5+56], 8, 0; ld.shared.u32 %r11, [data+60];\n"
        "sub.u32 %r9, %r10, %r11;",
        16,
        [1, 2],
    ),
}


@pytest.mark.memcheck
@pytest.mark.parametrize(("target", "level"), TARGETS)
@pytest.mark.parametrize("what", ORDER)
def test_order_with_other_accesses(target: str, level: int, what: str) -> None:
    body, found, first = ORDER[what]
    got, threads = run(target, level, body, threads=1)
    assert threads.tolist() == [found]
    assert got[: len(first)].tolist() == first


@pytest.mark.parametrize("target", ["sm_100a", "sm_120a"])
def test_more_than_there_is(target: str) -> None:
    with pytest.raises(oric.sim.OutOfBounds):
        run(target, 3, "st.bulk.weak.shared::cta [%d5+8000], 16777216, 0;", modes=oric.sim.Modes())


@pytest.mark.parametrize("target", ["sm_100a", "sm_120a"])
def test_a_place_between_units(target: str) -> None:
    with pytest.raises(oric.sim.Misaligned):
        run(target, 3, "st.bulk.weak.shared::cta [%d5+4], 8, 0;", modes=oric.sim.Modes())
