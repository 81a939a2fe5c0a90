# ruff: noqa: E501 (lines of PTX)
"""Memory that a thread takes from its stack: ``alloca``, ``stacksave``, ``stackrestore``."""

from __future__ import annotations

from typing import Any

import numpy as np
import oric
import pytest

from .support import source

pytestmark = pytest.mark.memcheck
THREADS, STACK = 32, 4096
everywhere = pytest.mark.parametrize("target", ["sm_80", "sm_90"])
both = pytest.mark.parametrize("level", [0, 3])


def launch(text: str, target: str, level: int, data: Any, **more: Any) -> Any:
    """Results of one block, a word for each element of ``data``."""
    out = np.zeros(len(data), np.uint32)
    image = oric.compile(text, arch=target, opt_level=level, **more).image
    oric.sim.load(image).launch("k", grid=(1, 1, 1), block=(THREADS, 1, 1), args=[data, out], stack_bytes=STACK)
    return out


FILL = """
  mov.u32 %r10, 0; mov.u32 %r11, {at}; mov.u32 %r13, %r9;
FILL{n}: st.local.u32 [%r11], %r13; add.u32 %r11, %r11, 4; add.u32 %r13, %r13, 1; add.u32 %r10, %r10, 1;
  setp.lt.u32 %p1, %r10, %r9; @%p1 bra FILL{n};"""
SUM = """
  mov.u32 %r10, 0; mov.u32 %r11, {at};
SUM{n}: ld.local.u32 %r12, [%r11]; add.u32 %r20, %r20, %r12; add.u32 %r11, %r11, 4; add.u32 %r10, %r10, 1;
  setp.lt.u32 %p1, %r10, %r9; @%p1 bra SUM{n};"""


@both
@everywhere
@pytest.mark.parametrize(("bits", "align"), [(32, ""), (64, ""), (32, ", 16"), (64, ", 128")])
def test_areas_of_a_size_that_each_thread_chooses(target: str, bits: int, align: str, level: int) -> None:
    """Two areas and a variable do not meet; each is aligned as it says."""
    size, place, move = ("%r8", "%r", "mov.u32") if bits == 32 else ("%d8", "%d", "cvt.u32.u64")
    body = f"""
  .local .align 8 .b32 own[4];
  add.u64 %d1, %in, %tid4; ld.global.u32 %r9, [%d1]; shl.b32 %r8, %r9, 2; cvt.u64.u32 %d8, %r8; mov.u32 %r20, 0; st.local.u32 [own+4], %r9;
  alloca.u{bits} {place}30, {size}{align}; alloca.u{bits} {place}31, {size}{align}; {move} %r40, {place}30; {move} %r41, {place}31;
  {FILL.format(at="%r40", n=0)} add.u32 %r9, %r9, 0; {FILL.format(at="%r41", n=1)}
  {SUM.format(at="%r40", n=0)} {SUM.format(at="%r41", n=1)}
  ld.local.u32 %r12, [own+4]; mad.lo.u32 %r20, %r12, 65536, %r20; or.b32 %r12, %r40, %r41; and.b32 %r12, %r12, {int(align[2:] or 8) - 1};
  shl.b32 %r12, %r12, 24; add.u32 %r20, %r20, %r12; add.u64 %d1, %out, %tid4; st.global.u32 [%d1], %r20;"""
    counts = np.random.default_rng(1).integers(1, 20, THREADS, dtype=np.uint32)
    got = launch(source(body, target), target, level, counts)
    want = [2 * sum(range(n, 2 * n)) + (n << 16) for n in counts.tolist()]
    assert got.tolist() == want


@both
@everywhere
@pytest.mark.parametrize("bits", [32, 64])
def test_a_loop_that_gives_back_what_it_takes(target: str, bits: int, level: int) -> None:
    """More turns than the stack has room for; the place is the same in each."""
    r = "%r" if bits == 32 else "%d"
    body = f"""
  mov.u32 %r1, 0; mov.u32 %r20, 0; mov.u{bits} {r}8, 512;
LOOP:
  stacksave.u{bits} {r}35; alloca.u{bits} {r}30, {r}8; {"mov.u32" if bits == 32 else "cvt.u32.u64"} %r40, {r}30;
  add.u32 %r2, %r1, %i; st.local.u32 [%r40+508], %r2; ld.local.u32 %r3, [{r}30+508]; add.u32 %r20, %r20, %r3; stackrestore.u{bits} {r}35;
  setp.eq.u32 %p1, %r1, 0; @%p1 mov.u32 %r41, %r40; xor.b32 %r42, %r40, %r41; add.u32 %r20, %r20, %r42;
  add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 40; @%p2 bra LOOP;
  add.u64 %d1, %out, %tid4; st.global.u32 [%d1], %r20;"""
    got = launch(source(body, target), target, level, np.zeros(THREADS, np.uint32))
    assert got.tolist() == [sum(t + i for i in range(40)) for t in range(THREADS)]


@both
@everywhere
def test_a_guard_takes_nothing(target: str, level: int) -> None:
    """Threads whose guard is false keep the top of their stack."""
    body = """
  and.b32 %r1, %i, 1; setp.ne.u32 %p1, %r1, 0; stacksave.u32 %r2; mov.u32 %r4, 96; mov.u32 %r5, 7;
  @%p1 alloca.u32 %r5, %r4; stacksave.u32 %r3; sub.u32 %r6, %r2, %r3; selp.u32 %r7, %r3, 7, %p1; sub.u32 %r7, %r7, %r5; add.u32 %r6, %r6, %r7;
  add.u64 %d1, %out, %tid4; st.global.u32 [%d1], %r6;"""
    got = launch(source(body, target), target, level, np.zeros(THREADS, np.uint32))
    assert got.tolist() == [96 * (t & 1) for t in range(THREADS)]


FUNCTION = """
.func (.reg .b32 %res) work(.reg .b32 %n)
{
  .reg .b32 %r<9>; .reg .pred %p; .local .align 4 .b32 mine[2];
  st.local.u32 [mine], %n; alloca.u32 %r1, 256; st.local.u32 [%r1], %n; st.local.u32 [%r1+252], 5;
  ld.local.u32 %r2, [%r1]; ld.local.u32 %r3, [mine]; ld.local.u32 %r4, [%r1+252]; add.u32 %res, %r2, %r3; add.u32 %res, %res, %r4;
  ret;
}
"""


@both
@everywhere
def test_a_function_gives_back_what_it_takes(target: str, level: int) -> None:
    """Calls in a loop, beside an area of the caller."""
    body = """
  mov.u32 %r1, 0; mov.u32 %r20, 0; alloca.u32 %r30, 64; st.local.u32 [%r30], %i;
LOOP:
  add.u32 %r2, %r1, %i; call (%r3), work, (%r2); add.u32 %r20, %r20, %r3; add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 30; @%p2 bra LOOP;
  ld.local.u32 %r4, [%r30]; mad.lo.u32 %r20, %r4, 1000, %r20; add.u64 %d1, %out, %tid4; st.global.u32 [%d1], %r20;"""
    got = launch(source(body, target, module=FUNCTION), target, level, np.zeros(THREADS, np.uint32))
    assert got.tolist() == [sum(2 * (t + i) + 5 for i in range(30)) + 1000 * t for t in range(THREADS)]


@both
@everywhere
def test_registers_that_wait_in_the_frame(target: str, level: int) -> None:
    """Their slots lie above what alloca takes from the stack."""
    loads = " ".join(
        f"add.u64 %d2, %d1, {128 * (n % 3)}; ld.global.u32 %r{n}, [%d2]; add.u32 %r{n}, %r{n}, {n};" for n in range(40)
    )
    sums = " ".join(f"add.u32 %r50, %r50, %r{n}; st.local.u32 [%r45+{4 * n}], %r50;" for n in range(40))
    again = " ".join(f"ld.local.u32 %r{n}, [%r45+{4 * n}]; xor.b32 %r50, %r50, %r{n};" for n in range(40))
    body = f"""add.u64 %d1, %in, %tid4; {loads} alloca.u32 %r45, 160; mov.u32 %r50, 0; {sums} {again}
  add.u64 %d1, %out, %tid4; st.global.u32 [%d1], %r50;"""
    data = np.random.default_rng(2).integers(0, 1 << 32, 3 * THREADS, dtype=np.uint32)
    got = launch(source(body, target), target, level, data, maxrregcount=24)
    for t in range(THREADS):
        total, mix = 0, 0
        for n in range(40):
            total = total + int(data[t + 32 * (n % 3)]) + n & 0xFFFFFFFF
            mix ^= total
        assert got[t] == total ^ mix
