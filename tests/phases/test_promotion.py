"""Phase 23: local variables whose addresses nobody sees are registers."""

from __future__ import annotations

import random

import numpy as np
import oric
import pytest
from oric.driver import CompileOptions, compile_text
from oric.sim import Modes
from oric.support import elf

HEAD = """.version 8.8
.target {target}
.address_size 64
{outer}
.visible .entry k(.param .u64 p)
{{
  .local .align 16 .b8 a[{size}];
  .reg .b32 %r<40>; .reg .b64 %d<40>; .reg .pred %q<9>; .reg .b16 %h<9>;
  ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 32; add.u64 %d1, %d1, %d2;
  ld.global.v4.u32 {{%r2, %r3, %r4, %r5}}, [%d1]; mov.u64 %d3, a; mov.u32 %r0, 0;
"""
END = "\n  st.global.u32 [%d1+16], %r0; ret;\n}\n"
FILL = "".join(f"st.local.u32 [%d3+{4 * n}], {7 * n + 1}; " for n in range(6))
ADD = "".join(f"ld.local.u32 %r9, [a+{4 * n}]; mad.lo.u32 %r0, %r0, 31, %r9; " for n in range(6))
INDEX = "rem.u32 %r6, %r2, 6; mul.wide.u32 %d4, %r6, 4; add.u64 %d5, %d3, %d4; "
COUNT = "add.u32 %r8, %r8, 1; setp.lt.u32 %q2, %r8, 5; @%q2 bra L; "

PROMOTED = {  # bodies; the variable has six words
    "places that are known": FILL + ADD,
    "on two ways": FILL + "setp.gt.u32 %q1, %r2, 9; @%q1 bra B; st.local.u32 [a+4], %r3; bra J; B: st.local.u32 [a+8], %r4; "
    "J: " + ADD,
    "in a loop": FILL + "mov.u32 %r8, 0; L: ld.local.u32 %r9, [a+4]; ld.local.u32 %r10, [a+8]; st.local.u32 [a+8], %r9; "
    "add.u32 %r9, %r9, %r10; st.local.u32 [a+4], %r9; " + COUNT + ADD,
    "under a guard": FILL + "setp.gt.u32 %q1, %r2, 9; @%q1 st.local.u32 [a+12], %r3; @!%q1 ld.local.u32 %r0, [a+16]; " + ADD,
    "loads": FILL + INDEX + "st.local.u32 [%d5], %r3; ld.local.u32 %r0, [%d5]; ld.local.u32 %r7, [%d5]; add.u32 %r0, %r0, %r7; ",
    "a store": FILL + INDEX + "st.local.u32 [%d5], %r3; " + ADD,
    "both": FILL + INDEX + "ld.local.u32 %r7, [%d5]; add.u32 %r7, %r7, %r3; st.local.u32 [%d5], %r7; " + ADD,
    "both under guards": FILL + INDEX + "setp.gt.u32 %q1, %r3, 9; mov.u32 %r7, 5; @%q1 ld.local.u32 %r7, [%d5]; "
    "add.u32 %r7, %r7, 1; "
    "@!%q1 st.local.u32 [%d5], %r7; " + ADD + "add.u32 %r0, %r0, %r7;",
    "a displacement": FILL + "rem.u32 %r6, %r2, 5; mul.wide.u32 %d4, %r6, 4; add.u64 %d5, %d3, %d4; "
    "st.local.u32 [%d5], %r3; ld.local.u32 %r0, [%d5+4]; ",
    "one below": FILL + "rem.u32 %r6, %r2, 5; mad.wide.u32 %d5, %r6, 4, %d3; add.u64 %d5, %d5, 8; "
    "st.local.u32 [%d5+-8], %r3; " + ADD,
    "a pointer that moves": FILL + "mov.u32 %r8, 0; mov.u64 %d5, %d3; L: ld.local.u32 %r9, [%d5]; st.local.u32 [%d5+4], %r9; "
    "add.u32 %r0, %r0, %r9; add.u64 %d5, %d5, 4; " + COUNT + ADD,
    "a pointer from above": FILL + "mov.u32 %r8, 0; add.u64 %d5, %d3, 20; L: ld.local.u32 %r9, [%d5]; "
    "mad.lo.u32 %r0, %r0, 3, %r9; st.local.u32 [%d5], %r0; add.u64 %d5, %d5, -4; " + COUNT + ADD,
    "a pointer that moves under a guard": FILL + "mov.u64 %d5, %d3; setp.gt.u32 %q1, %r3, 9; @%q1 add.u64 %d5, %d5, 4; "
    "add.u64 %d6, %d5, 8; add.u64 %d7, %d6, 4; ld.local.u32 %r0, [%d6]; st.local.u32 [%d7], %r2; " + ADD,
    "addresses of 32 bits": FILL + "rem.u32 %r6, %r2, 6; mov.u32 %r7, a; shl.b32 %r6, %r6, 2; add.u32 %r7, %r7, %r6; "
    "st.local.u32 [%r7], %r3; ld.local.u32 %r0, [%r7]; " + ADD,
    "vectors": FILL + "ld.local.v2.u32 {%r9, %r10}, [a+8]; st.local.v4.u32 [a], {%r10, %r2, %r9, %r3}; ld.local.u64 %d6, [a+8]; "
    "add.u64 %d6, %d6, 1; st.local.u64 [a+16], %d6; " + ADD,
    "what is chosen": FILL + INDEX + "setp.gt.u32 %q1, %r3, 9; mov.u64 %d6, %d3; @%q1 mov.u64 %d6, %d5; "
    "st.local.u32 [%d6], %r4; ld.local.u32 %r0, [%d6]; ",
    "floats": FILL + INDEX + "mov.b32 %r7, 0f40490FDB; st.local.f32 [%d5], 0f40490FDB; " + ADD,
    "the upper word of an address": FILL + INDEX + "st.local.u32 [%d5], %r3; ld.local.u32 %r0, [%d5]; "
    "mov.b64 {%r8, %r9}, %d5; add.u32 %r0, %r0, %r9; ",
    "words that nobody has written": "st.local.u32 [a], %r2; st.local.u32 [a+8], %r3; ld.local.u32 %r0, [a+8]; ",
}  # fmt: skip
STAYS = {
    "its address is stored": FILL + "st.global.u64 [%d1+24], %d3; " + ADD,
    "a generic address": FILL + "cvta.local.u64 %d6, %d3; st.u32 [%d6], %r2; " + ADD,
    "bytes": FILL + "ld.local.u8 %h1, [a+5]; cvt.u32.u16 %r0, %h1; ",
    "an address that is compared": FILL + INDEX + "setp.gt.u64 %q1, %d5, %d3; @%q1 mov.u32 %r0, 1; " + ADD,
    "an address beside others": FILL + "mov.u64 %d6, %d3; setp.gt.u32 %q1, %r2, 9; @%q1 mov.u64 %d6, 8; "
    "ld.local.u32 %r0, [%d6]; ",
    "computed words of 64 bits": FILL + "rem.u32 %r6, %r2, 3; mad.wide.u32 %d5, %r6, 8, %d3; ld.local.u64 %d6, [%d5]; "
    "cvt.u32.u64 %r0, %d6; ",
    "the difference of two addresses": FILL + INDEX + "sub.u64 %d6, %d5, %d3; cvt.u32.u64 %r0, %d6; " + ADD,
}  # fmt: skip
TARGETS = ("sm_75", "sm_80", "sm_90", "sm_103", "sm_120")


def text(body: str, target: str = "sm_80", size: int = 24, outer: str = "") -> str:
    return HEAD.format(target=target, size=size, outer=outer) + body + END


def frame(source: str, target: str = "sm_80", level: int = 3) -> int:
    """Bytes of the frame of a kernel."""
    return elf.read(compile_text(source, CompileOptions(target, level, verify=True)).image).kernels["k"].frame_size


def run(source: str, target: str, level: int, data: list[int]) -> list[int]:
    image = compile_text(source, CompileOptions(target, level, verify=True)).image
    memory = np.zeros((32, 8), np.uint32)
    memory[:, :4] = np.array(data, np.uint32).reshape(32, 4)
    done = oric.sim.load(image).launch("k", grid=1, block=32, args=[memory.reshape(-1)], modes=Modes(strict=True))
    assert [str(report) for report in done.reports] == []
    return memory[:, 4].tolist()


@pytest.mark.parametrize("name", PROMOTED)
def test_there_is_no_frame(name: str) -> None:
    assert frame(text(PROMOTED[name])) == 0
    assert frame(text(PROMOTED[name]), level=0) > 0


@pytest.mark.parametrize("name", STAYS)
def test_what_stays_in_memory(name: str) -> None:
    assert frame(text(STAYS[name])) > 0


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", [name for name in PROMOTED | STAYS if name != "an address beside others"])
def test_values(name: str, target: str) -> None:
    """The same as at -O0, and as with memory."""
    rng = random.Random(name + target)
    data = [rng.choice((rng.randrange(12), rng.getrandbits(32))) for _ in range(128)]
    source = text((PROMOTED | STAYS)[name], target)
    assert run(source, target, 0, data) == run(source, target, 3, data) == run(source, target, 1, data)


def test_two_variables() -> None:
    """All of them or none: one place may be computed from another."""
    second = FILL + ".local .align 4 .b8 b[8]; st.local.u32 [b], %r2; st.local.u32 [b+4], %r3; ld.local.u32 %r7, [b]; " + ADD
    assert frame(text(second)) == 0
    assert frame(text(second + "st.global.u64 [%d1+24], %d3; ")) > 0


def test_how_many_words() -> None:
    """32 at places that are known; with others so few that choosing among them is not for long."""
    fill = "".join(f"st.local.u32 [a+{4 * n}], %r2; ld.local.u32 %r9, [a+{4 * n}]; add.u32 %r0, %r0, %r9; " for n in range(32))
    index = "add.u32 %r2, %r2, %r3; rem.u32 %r6, %r2, {n}; mul.wide.u32 %d4, %r6, 4; add.u64 %d5, %d3, %d4; "
    load = index + "ld.local.u32 %r9, [%d5]; add.u32 %r0, %r0, %r9; "
    both = index + "st.local.u32 [%d5], %r2; ld.local.u32 %r9, [%d5]; add.u32 %r0, %r0, %r9; "
    assert frame(text(fill, size=128)) == 0
    assert frame(text(both.format(n=8) * 8, size=32)) == 0
    assert frame(text(both.format(n=8) * 9, size=32)) > 0
    assert frame(text(both.format(n=9), size=36)) > 0
    some = "".join(f"st.local.u32 [a+{4 * n}], %r{n + 1}; " for n in range(5))
    assert frame(text(some[: some.index("st.local.u32 [a+16]")] + load.format(n=4) * 8, size=16)) == 0
    assert frame(text(some + load.format(n=5), size=20)) > 0
    assert frame(text(some + load.format(n=5) * 2 + both.format(n=5), size=20)) > 0
    assert frame(text(some + load.format(n=5) + both.format(n=5), size=20)) == 0


def test_calls_may_see_it() -> None:
    outer = """.func (.reg .b32 %x) f(.reg .b32 %y) {
      .reg .pred %q; .reg .b32 %z; setp.lt.u32 %q, %y, 2; mov.u32 %x, %y; @%q bra J;
      sub.u32 %z, %y, 1; call (%z), f, (%z); add.u32 %x, %z, %y; J: ret; }"""
    body = FILL + "and.b32 %r6, %r2, 7; call (%r0), f, (%r6); st.local.u32 [a+4], %r0; " + ADD
    assert frame(text(body, outer=outer)) > 0
