# ruff: noqa: E501 (lines of PTX)
"""Parameters and results of functions by their addresses, and byte by byte."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import oric
import pytest
from oric.sim import Modes

pytestmark = pytest.mark.memcheck
THREADS = 32
HEAD = ".version 9.0\n.target {target}\n.address_size 64\n"
FUNCTION = """
.func (.param .align 8 .b8 res[16]) f(.param .align 8 .b8 s[16], .param .b32 n, .param .b64 q)
{{ .reg .b32 %r<9>; .reg .b16 %h<9>; .reg .b64 %d<9>; .reg .pred %p<3>; ld.param.u32 %r1, [n]; ld.param.u64 %d4, [q];
  ld.param.u32 %r2, [s+4];
{body}
  st.param.b32 [res], %r3; ret; }}
"""
ENTRY = """
.visible .entry k(.param .u64 out)
{ .reg .b32 %r<20>; .reg .b64 %d<9>; ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mad.wide.u32 %d1, %r1, 16, %d1; and.b32 %r5, %r1, 3;
  { .param .align 8 .b8 r[16]; .param .align 8 .b8 s[16]; .param .b32 n; .param .b64 q; st.param.b32 [s], 50; st.param.b32 [s+4], %r1;
    st.param.v2.b32 [s+8], {100, 200}; st.param.b32 [n], %r5; st.param.b64 [q], %d1; call (r), f, (s, n, q);
    ld.param.v2.b32 {%r6, %r7}, [r]; ld.param.v2.b32 {%r8, %r9}, [r+8]; }
  st.global.v4.u32 [%d1], {%r6, %r7, %r8, %r9}; ret; }
"""
REST = "st.param.b32 [res+4], %r1; st.param.b64 [res+8], 7;"
AT = "mad.wide.u32 %d1, %r1, 4, %d1;"


def element(t: int) -> list[int]:
    return [[50, t, 100, 200][t & 3], t & 3, 7, 0]


# What the body does, and what thread t gets.
CASES: dict[str, tuple[str, Any]] = {
    "ld.local": (f"{REST} mov.u64 %d1, s; {AT} ld.local.u32 %r3, [%d1];", element),
    "generic": (f"{REST} mov.u64 %d1, s; cvta.local.u64 %d1, %d1; {AT} ld.u32 %r3, [%d1];", element),
    "ld.param": (f"{REST} mov.u64 %d1, s; {AT} ld.param.u32 %r3, [%d1];", element),
    "ld.param::func": (f"{REST} mov.u64 %d1, s; {AT} ld.param::func.u32 %r3, [%d1];", element),
    "ld.param.v2": (
        "mov.u32 %r5, s; and.b32 %r6, %r1, 2; mad.lo.u32 %r5, %r6, 4, %r5; ld.param.v2.u32 {%r3, %r4}, [%r5]; st.param.b32 [res+4], %r4;"
        " st.param.b64 [res+8], 7;",
        lambda t: [100, 200, 7, 0] if t & 2 else [50, t, 7, 0],
    ),
    "a scalar": (f"{REST} mov.u64 %d1, n; ld.local.u32 %r3, [%d1];", lambda t: [t & 3, t & 3, 7, 0]),
    "32 bits of an address": (f"{REST} mov.u32 %r4, n; ld.local.u32 %r3, [%r4];", lambda t: [t & 3, t & 3, 7, 0]),
    "an address behind its first use": (
        f"{REST} ld.param.u32 %r3, [s]; mov.u64 %d1, s; st.local.u32 [%d1], %r2; ld.param.u32 %r4, [s]; mad.lo.u32 %r3, %r3, 3, %r4;",
        lambda t: [150 + t, t & 3, 7, 0],
    ),
    "a result by its address": (
        "st.param.b64 [res], 7; st.param.b64 [res+8], 8; mov.u64 %d1, res; mad.wide.u32 %d1, %r1, 4, %d1; add.u32 %r4, %r2, 9;"
        " st.local.u32 [%d1], %r4; ld.local.u32 %r3, [%d1]; add.u64 %d2, %d1, 0; mov.u64 %d3, res; ld.local.u32 %r5, [%d3];"
        " add.u32 %r3, %r3, %r5;",
        lambda t: [2 * (t + 9) if t & 3 == 0 else t + 16, *[t + 9 if t & 3 == k else [0, 8, 0][k - 1] for k in (1, 2, 3)]],
    ),
    "st.param": (
        "st.param.b64 [res], 7; st.param.b64 [res+8], 8; mov.u64 %d1, res; st.param.u32 [%d1+12], %r2; mov.u32 %r3, 5;",
        lambda t: [5, 0, 8, t],
    ),
    "the address of what bytes are written to": (
        "mov.u64 %d1, res; st.local.u32 [%d1+4], -1; cvt.u16.u32 %h1, %r1; st.param.b8 [res+5], %h1; st.param.b64 [res+8], 7;"
        " mov.u32 %r3, 1;",
        lambda t: [1, 0xFFFF00FF | (t & 3) << 8, 7, 0],
    ),
}  # fmt: skip


def run(module: str, target: str, level: int) -> list[list[int]]:
    out = np.zeros((THREADS, 4), np.uint32)
    image = oric.compile(module, arch=target, opt_level=level, verify=True).image
    modes = Modes(strict=True, memcheck=True)
    done = oric.sim.load(image).launch("k", grid=(1, 1, 1), block=(THREADS, 1, 1), args=[out], modes=modes)
    assert not done.reports
    return out.tolist()


@pytest.mark.parametrize("level", [0, 1, 3])
@pytest.mark.parametrize("target", ["sm_75", "sm_90", "sm_120"])
@pytest.mark.parametrize("case", CASES)
def test_addresses(case: str, target: str, level: int) -> None:
    body, want = CASES[case]
    assert run(HEAD.format(target=target) + FUNCTION.format(body=body) + ENTRY, target, level) == [
        want(t) for t in range(THREADS)
    ]


@pytest.mark.parametrize("case", CASES)
def test_ptxas_means_the_same(case: str, tmp_path: Path, ptxas: str) -> None:
    body, want = CASES[case]
    (tmp_path / "k.ptx").write_text(HEAD.format(target="sm_90") + FUNCTION.format(body=body) + ENTRY)
    subprocess.run([ptxas, "-arch=sm_90", "k.ptx", "-o", "k.cubin"], cwd=tmp_path, check=True)
    out = np.zeros((THREADS, 4), np.uint32)
    oric.sim.load((tmp_path / "k.cubin").read_bytes()).launch("k", grid=(1, 1, 1), block=(THREADS, 1, 1), args=[out])
    assert out.tolist() == [want(t) for t in range(THREADS)]


@pytest.mark.parametrize("level", [0, 3])
def test_bytes_of_a_word_in_any_order(level: int) -> None:
    """Blocks that come first in the text and later at run time leave the other bytes as they are; so does a loop.

    ptxas 13.0.88 loses what was written in a block before.
    """
    body = """
  cvt.u16.u32 %h1, %r2; add.u16 %h2, %h1, 1; add.u16 %h3, %h1, 2; st.param.b32 [res+8], 0; setp.gt.u32 %p1, %r1, 0; @%p1 bra B2;
B1: st.param.b8 [res+4], %h1; bra E;
B2: st.param.b8 [res+5], %h2; setp.ne.u32 %p2, %r1, 3; @%p2 bra B1; st.param.b8 [res+4], %h3;
E: mov.u32 %r4, 0;
LOOP: add.u16 %h4, %h1, %h2; cvt.u16.u32 %h5, %r4; setp.eq.u32 %p1, %r4, 1; @!%p1 bra NO; st.param.b8 [res+12], %h5; bra YES;
NO: st.param.b8 [res+13], %h5;
YES: add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 4; @%p2 bra LOOP; mov.u32 %r3, 0;"""
    got = run(HEAD.format(target="sm_90") + FUNCTION.format(body=body) + ENTRY, "sm_90", level)
    second = {0: lambda t: t, 1: lambda t: t | (t + 1) << 8, 2: lambda t: t | (t + 1) << 8, 3: lambda t: t + 2 | (t + 1) << 8}
    assert got == [[0, second[t & 3](t), 0, 0x301] for t in range(THREADS)]


def test_no_window_has_the_parameters_of_functions() -> None:
    module = HEAD.format(target="sm_90") + FUNCTION.format(body="cvta.param.u64 %d1, s; ld.u32 %r3, [%d1];") + ENTRY
    with pytest.raises(oric.CompileError, match=r"cvta.param.u64 of s, which is no parameter of a kernel"):
        oric.compile(module, arch="sm_90")


@pytest.mark.parametrize("what", ["mov.u64 %d1, a;", "cvta.param.u64 %d1, a;"])
def test_variables_for_calls_have_no_address(what: str) -> None:
    """As with ptxas: "Illegal to take address of parameter"."""
    body = f"{{ .param .b32 a; {what} }} mov.u32 %r3, 0;"
    with pytest.raises(oric.CompileError, match=r"found the address of a variable in .param"):
        oric.compile(HEAD.format(target="sm_90") + FUNCTION.format(body=body) + ENTRY, arch="sm_90")
