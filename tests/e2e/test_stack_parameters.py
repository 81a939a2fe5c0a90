# ruff: noqa: E501 (lines of PTX)
"""Parameters on the stack by their addresses: they are used where the caller has put them, and are the function's own."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import oric
import pytest
from oric.sim import Modes

pytestmark = pytest.mark.memcheck
THREADS = 32
WORDS = 18  # of the first parameter; nobody writes the last one
MASK = 0xFFFFFFFF
# A function that calls itself, changes its parameters by their addresses, and looks at them again behind the call.
# A copy in the frame would read the last word of the first one, which memcheck reports.
MODULE = """.version 9.0
.target {target}
.address_size 64
.func (.param .b32 res) f(.param .align {align} .b8 s[72], .param .b32 n, .param .align {align} .b8 u[64])
{{ .reg .b32 %r<40>; .reg .b64 %d<19>; .reg .pred %p<3>; {locals}
  mov.u32 %r2, 0; ld.param.u32 %r1, [n]; mov.u64 %d1, s; mov.u64 %d2, u; cvta.local.u64 %d3, %d2;
  rem.u32 %r3, %r1, 17; mad.wide.u32 %d4, %r3, 4, %d1;
  ld.local.u32 %r4, [%d4]; mad.lo.u32 %r4, %r4, 3, %r1; st.local.u32 [%d4], %r4;
  and.b32 %r5, %r1, 15; mad.wide.u32 %d5, %r5, 4, %d3; ld.u32 %r6, [%d5]; add.u32 %r6, %r6, %r4; st.u32 [%d5], %r6;
  {more}
  setp.eq.u32 %p1, %r1, 0; @%p1 bra END;
  {{ .param .b32 r; .param .align {align} .b8 a[72]; .param .b32 m; .param .align {align} .b8 b[64];
    {copy}
    sub.u32 %r7, %r1, 1; st.param.b32 [m], %r7;
    call.uni (r), f, (a, m, b); ld.param.b32 %r8, [r]; }}
  add.u32 %r2, %r2, %r8;
END:
  mov.u32 %r9, 0;
SUM: mad.wide.u32 %d6, %r9, 4, %d1; ld.local.u32 %r10, [%d6]; mad.lo.u32 %r2, %r2, 5, %r10;
  add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 17; @%p2 bra SUM;
  ld.local.u32 %r11, [%d2+12]; ld.param.u32 %r12, [u+60]; mad.lo.u32 %r2, %r11, %r12, %r2;
  st.param.b32 [res], %r2; ret; }}
.visible .entry k(.param .u64 out)
{{ .reg .b32 %r<40>; .reg .b64 %d<9>; ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mad.wide.u32 %d1, %r1, 4, %d1;
  and.b32 %r2, %r1, 3;
  {{ .param .b32 r; .param .align {align} .b8 a[72]; .param .b32 m; .param .align {align} .b8 b[64];
    {first}
    st.param.b32 [m], %r2; call (r), f, (a, m, b); ld.param.b32 %r3, [r]; }}
  st.global.u32 [%d1], %r3; ret; }}
"""
FIRST = " ".join(
    [
        *(f"add.u32 %r9, %r1, {7 * k}; st.param.b32 [a+{4 * k}], %r9;" for k in range(WORDS - 1)),
        *(f"mul.lo.u32 %r9, %r1, {k + 2}; st.param.b32 [b+{4 * k}], %r9;" for k in range(16)),
    ]
)
COPY = " ".join(
    [
        *(f"ld.param.b32 %r20, [s+{4 * k}]; st.param.b32 [a+{4 * k}], %r20;" for k in range(WORDS - 1)),
        *(f"ld.local.b32 %r20, [%d2+{4 * k}]; st.param.b32 [b+{4 * k}], %r20;" for k in range(16)),
    ]
)
# More of the stack: a variable that wants alignment, what alloca takes; both beside the parameters.
KINDS = {
    "plain": ("", ""),
    "a variable": (
        ".local .align 16 .b8 v[64];",
        "mov.u64 %d8, v; mad.wide.u32 %d9, %r5, 4, %d8; st.local.u32 [%d9], %r6; ld.local.u32 %r13, [%d9]; add.u32 %r2, %r2, %r13;",
    ),
    "alloca": (
        "",
        "add.u32 %r14, %r5, 1; cvt.u64.u32 %d10, %r14; shl.b64 %d10, %d10, 4; alloca.u64 %d11, %d10, 16; st.local.u32 [%d11], %r6; ld.local.u32 %r13, [%d11]; add.u32 %r2, %r2, %r13;",
    ),
}


def text(target: str, align: int, kind: str) -> str:
    locals_, more = KINDS[kind]
    return MODULE.format(target=target, align=align, locals=locals_, more=more, first=FIRST, copy=COPY)


def wanted(s: list[int], n: int, u: list[int], kind: str) -> int:
    """What the function returns."""
    s, u, found = list(s), list(u), 0
    s[n % 17] = (s[n % 17] * 3 + n) & MASK
    u[n & 15] = (u[n & 15] + s[n % 17]) & MASK
    if kind != "plain":
        found += u[n & 15]
    if n:
        found += wanted(s, n - 1, u, kind)
    for word in s:
        found = found * 5 + word & MASK
    return found + u[3] * u[15] & MASK


def want(kind: str) -> list[int]:
    return [
        wanted([t + 7 * k & MASK for k in range(WORDS - 1)], t & 3, [t * (k + 2) & MASK for k in range(16)], kind)
        for t in range(THREADS)
    ]


def launched(image: bytes) -> list[int]:
    out = np.zeros(THREADS, np.uint32)
    modes = Modes(strict=True, memcheck=True)
    done = oric.sim.load(image).launch("k", grid=(1, 1, 1), block=(THREADS, 1, 1), args=[out], stack_bytes=8192, modes=modes)
    assert not done.reports
    return [int(x) for x in out]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("relocatable", [False, True])
@pytest.mark.parametrize("level", [0, 1, 3])
@pytest.mark.parametrize("align", [4, 8, 16])
@pytest.mark.parametrize("kind", KINDS)
def test_recursion(kind: str, align: int, level: int, relocatable: bool) -> None:
    for target in ("sm_75", "sm_90", "sm_120"):
        done = oric.compile(
            text(target, align, kind),
            arch=target,
            opt_level=level,
            relocatable=relocatable,
            verify=True,
            maxrregcount=32 if level == 1 else None,
        )
        assert launched(done.image) == want(kind), target


@pytest.mark.parametrize("kind", KINDS)
def test_ptxas_means_the_same(kind: str, tmp_path: Path, ptxas: str) -> None:
    (tmp_path / "k.ptx").write_text(text("sm_90", 8, kind))
    subprocess.run([ptxas, "-arch=sm_90", "k.ptx", "-o", "k.cubin"], cwd=tmp_path, check=True)
    assert launched((tmp_path / "k.cubin").read_bytes()) == want(kind)
