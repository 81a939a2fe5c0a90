"""Calls beyond what is usual: very many of them, very many words of arguments, alignments above that of the stack."""

from __future__ import annotations

import numpy as np
import oric
import pytest
from oric.driver.options import CompileOptions, Extras
from oric.driver.pipeline import compile_functions, compile_text
from oric.fuzz import campaign
from oric.ir.function import AUX_ALONE
from oric.sim import Modes
from oric.support.elf import read

TARGETS = ("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")
STRICT = Modes(strict=True, memcheck=True)
HEAD = ".version 9.0\n.target {}\n.address_size 64\n"
STACK = 1 << 16  # bytes: nobody knows how deep functions go that call themselves
SITES = 300  # calls of one function
WORDS = 250  # of an argument


def launched(text: str, target: str, level: int, words: int) -> list[int]:
    """What the first thread of kernel ``k`` leaves."""
    out = np.zeros(words, np.uint32)
    image = oric.compile(HEAD.format(target) + text, arch=target, opt_level=level).image
    done = oric.sim.load(image).launch("k", (1, 1, 1), (1, 1, 1), [out], modes=STRICT, stack_bytes=STACK)
    assert not done.reports, done.reports
    return [int(x) for x in out]


def many_sites() -> str:
    calls = "\n".join(f"add.u32 %r1, %r1, {n}; call (%r1), f, (%r1);" for n in range(SITES))
    return f"""
.func (.reg .u32 q) f(.reg .u32 a)
{{
  .reg .pred %p; setp.eq.u32 %p, a, 0x7fffffff; @%p bra again; mad.lo.u32 q, a, 3, 1; ret;
again: call (q), f, (a); ret;
}}
.visible .entry k(.param .u64 out)
{{
  .reg .u32 %r<2>; .reg .u64 %d; ld.param.u64 %d, [out]; mov.u32 %r1, 0;
{calls}
  st.global.u32 [%d], %r1; ret;
}}
"""


def many_words() -> str:
    stores = " ".join(f"st.param.u32 [x+{4 * n}], {5 * n + 1};" for n in range(WORDS))
    sums = " ".join(f"ld.param.u32 %r1, [a+{4 * n}]; mad.lo.u32 %r2, %r1, {n + 3}, %r2;" for n in range(WORDS))
    return f"""
.func (.reg .u32 q) f(.param .align 4 .b8 a[{4 * WORDS}], .param .u32 n)
{{
  .reg .pred %p; .reg .u32 %r<4>; .param .align 4 .b8 x[{4 * WORDS}]; .param .u32 m;
  ld.param.u32 %r3, [n]; mov.u32 %r2, 0; setp.eq.u32 %p, %r3, 0; @!%p bra again;
  {sums}
  mov.u32 q, %r2; ret;
again: sub.u32 %r3, %r3, 1; st.param.u32 [m], %r3; {stores} call (q), f, (x, m); ret;
}}
.visible .entry k(.param .u64 out)
{{
  .reg .u32 %r<2>; .reg .u64 %d; ld.param.u64 %d, [out];
  .param .align 4 .b8 x[{4 * WORDS}]; .param .u32 m; {stores} st.param.u32 [m], 2;
  call (%r1), f, (x, m); st.global.u32 [%d], %r1; ret;
}}
"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("level", [0, 1, 3])
def test_hundreds_of_calls(target: str, level: int) -> None:
    want = 0
    for n in range(SITES):
        want = 3 * (want + n) + 1 & 0xFFFFFFFF
    assert launched(many_sites(), target, level, 1) == [want]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("level", [0, 1, 3])
def test_hundreds_of_words_of_arguments(target: str, level: int) -> None:
    want = sum((5 * n + 1) * (n + 3) for n in range(WORDS)) & 0xFFFFFFFF
    assert launched(many_words(), target, level, 1) == [want]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("level", [0, 1, 3])
def test_a_result_is_passed_on(target: str, level: int) -> None:
    """A variable is the result of one call and the argument of the next, in a loop of the same one, and no code names it."""
    text = """
.func (.param .align 8 .b8 q[16]) f(.param .align 8 .b8 a[16])
{
  .reg .u32 %r<3>; .reg .u64 %d<2>; .reg .pred %p; .param .align 8 .b8 again[16];
  ld.param.u32 %r1, [a]; ld.param.u64 %d1, [a+8]; setp.eq.u32 %p, %r1, 0x7fffffff; @!%p bra plain;
  st.param.u32 [again], %r1; call (again), f, (again); ld.param.u32 %r1, [again];
plain: mad.lo.u32 %r1, %r1, 3, 1; add.u64 %d1, %d1, 2; st.param.u32 [q], %r1; st.param.u64 [q+8], %d1; ret;
}
.visible .entry k(.param .u64 out)
{
  .reg .u32 %r<4>; .reg .u64 %d<3>; .reg .pred %p; .param .align 8 .b8 x[16]; .param .align 8 .b8 y[16];
  ld.param.u64 %d1, [out]; mov.u32 %r1, 5; st.param.u32 [x], %r1; st.param.u64 [x+8], 7; mov.u32 %r2, 0;
turn: call (y), f, (x); call (x), f, (y); add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, 3; @%p bra turn;
  ld.param.u32 %r3, [x]; ld.param.u64 %d2, [x+8]; st.global.u32 [%d1], %r3;
  cvt.u32.u64 %r3, %d2; st.global.u32 [%d1+4], %r3; ret;
}
"""
    want = 5
    for _ in range(6):
        want = 3 * want + 1
    assert launched(text, target, level, 2) == [want, 19]


def test_numbers_are_below_all_marks() -> None:
    (code, _), *_ = compile_functions(HEAD.format("sm_90") + many_sites(), CompileOptions("sm_90", 3))
    assert len(code.kept) == SITES < AUX_ALONE


@pytest.mark.parametrize("align", [16, 32, 64, 256, 1024])
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("target", ["sm_75", "sm_90", "sm_120"])
def test_alignment_of_local_variables(target: str, level: int, align: int) -> None:
    """In a kernel and in each activation of a function; variables do not share bytes."""
    text = f"""
.func (.reg .u32 q) f(.reg .u32 n)
{{
  .reg .u64 %d<4>; .reg .u32 %r<5>; .reg .pred %p; .local .align 8 .b8 first[12]; .local .align {align} .b8 room[20];
  mov.u64 %d1, room; cvt.u32.u64 %r1, %d1; and.b32 q, %r1, {align - 1}; mov.u64 %d2, first;
  st.local.u32 [%d1+16], n; st.local.u32 [%d2+8], n; setp.eq.u32 %p, n, 0; @%p ret;
  sub.u32 %r2, n, 1; call (%r3), f, (%r2); or.b32 q, q, %r3;
  ld.local.u32 %r4, [%d1+16]; sub.u32 %r4, %r4, n; or.b32 q, q, %r4;
  ld.local.u32 %r4, [%d2+8]; sub.u32 %r4, %r4, n; or.b32 q, q, %r4;
  ret;
}}
.visible .entry k(.param .u64 out)
{{
  .reg .u64 %d<5>; .reg .u32 %r<5>; .local .align 4 .b8 odd[4]; .local .align {align} .b8 room[4];
  ld.param.u64 %d1, [out]; mov.u64 %d2, odd; mov.u64 %d3, room; st.local.u32 [%d2], 7; st.local.u32 [%d3], 8;
  call (%r1), f, (5); cvt.u32.u64 %r2, %d3; and.b32 %r2, %r2, {align - 1};
  ld.local.u32 %r3, [%d2]; ld.local.u32 %r4, [%d3]; st.global.v4.u32 [%d1], {{%r1, %r2, %r3, %r4}}; ret;
}}
"""
    assert launched(text, target, level, 4) == [0, 0, 7, 8]


def test_functions_of_an_object_stay_when_entries_are_chosen() -> None:
    text = HEAD.format("sm_90") + """
.func helper() { ret; }
.visible .func seen() { ret; }
.visible .entry k() { call helper; ret; }
.visible .entry other() { ret; }
"""  # fmt: skip
    cubin = read(compile_text(text, CompileOptions("sm_90", 3, entries=("k",), extras=Extras(relocatable=True))).image)
    assert set(cubin.functions) == {"helper", "seen", "k"}


# Seeds of programs with calls, and targets, for which 24 registers were said to be too few: arguments for registers were placed
# before those for the stack, and a quad of registers was brought back for one of its words.
TIGHT = ((2006574, "sm_120f", 2), (2002334, "sm_103", 3), (1999, "sm_80", 3))


@pytest.mark.parametrize(("seed", "target", "level"), TIGHT)
def test_arguments_where_registers_are_few(seed: int, target: str, level: int) -> None:
    judge = campaign.our_judge(target, campaign.Way(level, 24))
    assert judge(campaign.program_of(seed, target, kind="calls")) is None
