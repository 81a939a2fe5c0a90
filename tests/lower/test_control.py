# ruff: noqa: E501 (PTX and tables)
"""Branches, tables of labels, calls; what is refused and how."""

from __future__ import annotations

import numpy as np
import oric
import pytest

from .support import launch, source

ARCHES = [("sm_90", 3), ("sm_90", 0), ("sm_80", 3), ("sm_75", 3), ("sm_75", 0)]


@pytest.mark.parametrize(("arch", "level"), ARCHES)
def test_loop_and_early_exit(arch: str, level: int) -> None:
    body = """
  setp.gt.u32 %p1, %i, 25; @%p1 exit;
  mov.u32 %r1, 0; mov.u32 %r2, 0;
again:
  add.u32 %r1, %r1, %r2; add.u32 %r2, %r2, 1; setp.le.u32 %p2, %r2, %i; @%p2 bra again;
  add.u64 %d1, %out, %tid4; st.global.u32 [%d1], %r1;
  and.b32 %r3, %i, 1; setp.eq.u32 %p3, %r3, 1; @!%p3 ret;
  st.global.u32 [%d1], 7;
"""
    body = body.replace("st.global.u32 [%d1], 7;", "mov.u32 %r4, 7; st.global.u32 [%d1], %r4;")
    out = launch(source(body, arch), np.zeros(1, np.uint32), np.full(32, 99, np.uint32), arch, level)
    assert list(out) == [99 if t > 25 else 7 if t & 1 else t * (t + 1) // 2 for t in range(32)]


@pytest.mark.parametrize(("arch", "level"), ARCHES)
@pytest.mark.parametrize("guard", ["", "@%p1 "])
def test_branch_table(guard: str, arch: str, level: int) -> None:
    body = f"""
  rem.u32 %r1, %i, 5; setp.lt.u32 %p1, %i, 16; mov.u32 %r2, 50;
ts: .branchtargets l0, l1, l2, l1, l4;
  {guard}brx.idx %r1, ts;
  bra join;
l0: mov.u32 %r2, 10; bra join;
l1: mov.u32 %r2, 11; bra join;
l2: add.u32 %r2, %i, 12; bra join;
l4: mov.u32 %r2, 14;
join:
  add.u64 %d1, %out, %tid4; st.global.u32 [%d1], %r2;
"""
    out = launch(source(body, arch), np.zeros(1, np.uint32), np.zeros(32, np.uint32), arch, level)
    for t in range(32):
        want = [10, 11, t + 12, 11, 14][t % 5]
        assert out[t] == (want if not guard or t < 16 else 50)


FUNCTIONS = """
.func (.param .b32 result) twice (.param .b32 x, .param .b64 y)
{
  .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p;
  ld.param.u32 %r1, [x]; ld.param.u64 %d1, [y];
  setp.gt.u32 %p, %r1, 20; @%p bra big;
  cvt.u32.u64 %r2, %d1; add.u32 %r1, %r1, %r2; st.param.b32 [result], %r1; ret;
big:
  mov.u32 %r1, 1; st.param.b32 [result], %r1;
  ret;
}
.func (.reg .u32 r) square (.reg .u32 a)
{
  mul.lo.u32 r, a, a;
  ret;
}
.func (.param .align 8 .b8 result[16]) pair (.param .align 8 .b8 s[16])
{
  .reg .b32 %r<8>; .reg .b64 %d<4>;
  ld.param.v2.u32 {%r1, %r2}, [s]; ld.param.u8 %r3, [s+9]; ld.param.s16 %r4, [s+10];
  add.u32 %r1, %r1, %r2; st.param.b32 [result], %r1; st.param.b8 [result+4], %r3; st.param.b16 [result+6], %r4;
  ld.param.u64 %d1, [s+8]; st.param.b64 [result+8], %d1;
  ret;
}
.func (.param .b32 o) nested (.param .b32 x)
{
  .reg .b32 %r<4>; .reg .b64 %d1;
  ld.param.u32 %r1, [x]; mov.u64 %d1, 3;
  { .param .b32 p0; st.param.b32 [p0], %r1; .param .b64 p1; st.param.b64 [p1], %d1; .param .b32 q;
    call.uni (q), twice, (p0, p1); ld.param.b32 %r2, [q]; }
  { .param .b32 p0; st.param.b32 [p0], %r2; .param .b64 p1; st.param.b64 [p1], %d1; .param .b32 q;
    call.uni (q), twice, (p0, p1); ld.param.b32 %r2, [q]; }
  st.param.b32 [o], %r2; ret;
}
"""


@pytest.mark.row("R2-70")
@pytest.mark.parametrize(("arch", "level"), ARCHES)
def test_calls(arch: str, level: int) -> None:
    body = """
  { .param .b32 p; st.param.b32 [p], %i; .param .b32 q; call.uni (q), nested, (p); ld.param.b32 %r1, [q]; }
  call (%r2), square, (%i);
  { .param .align 8 .b8 p[16]; st.param.v2.b32 [p], {%i, %r2}; st.param.b64 [p+8], %tid8; mov.u32 %r9, 200; st.param.b8 [p+9], %r9;
    mov.u32 %r9, -3; st.param.b16 [p+10], %r9; .param .align 8 .b8 q[16];
    call.uni (q), pair, (p); ld.param.b32 %r3, [q]; ld.param.b8 %r4, [q+4]; ld.param.s16 %r5, [q+6]; ld.param.b64 %d3, [q+8]; }
  setp.lt.u32 %p1, %i, 4; mov.u32 %r6, 77; @%p1 call (%r6), square, (%r4);
  add.u32 %r4, %r4, %r6; cvt.u32.u64 %r7, %d3; add.u32 %r5, %r5, %r7;
  mul.lo.u64 %d2, %tid4, 4; add.u64 %d2, %d2, %out; st.global.v4.u32 [%d2], {%r1, %r3, %r4, %r5};
"""
    out = launch(source(body, arch, FUNCTIONS), np.zeros(1, np.uint32), np.zeros((32, 4), np.uint32), arch, level)
    twice = lambda x: 1 if x > 20 else x + 3  # noqa: E731
    for t in range(32):
        low = (8 * t & 0xFF) | 200 << 8 | 0xFFFD << 16
        want = [twice(twice(t)), t + t * t, 200 + (40000 if t < 4 else 77), (low - 3) & 0xFFFFFFFF]
        assert list(out[t]) == want


BEYOND = """
.func (.param .align 8 .b8 o[8]) beyond (.param .align 8 .b8 s[8])
{
  .reg .b32 %r<8>; .reg .b64 %d1;
  ld.param.v2.u32 {%r1, %r2}, [s]; ld.param.u32 %r3, [s+8]; ld.param.u8 %r4, [s+400];
  add.u32 %r1, %r1, %r2; mov.b64 %d1, {%r1, %r2};
  st.param.b32 [o], %r2; st.param.b64 [o+4], %d1; st.param.b32 [o+8], %r1; st.param.b8 [o+9], %r1; st.param.v2.b32 [o+16], {%r1, %r1};
  ret;
}
"""


@pytest.mark.parametrize(("arch", "level"), ARCHES)
def test_beyond_a_parameter(arch: str, level: int) -> None:
    """As with ptxas: what is stored beyond a parameter is lost, what is read there is any value."""
    body = """
  { .param .align 8 .b8 p[8]; st.param.v4.b32 [p], {%i, 5, 6, 7}; st.param.b32 [p+1000000], 8; .param .align 8 .b8 q[8];
    call.uni (q), beyond, (p); ld.param.v2.b32 {%r1, %r2}, [q]; ld.param.b32 %r3, [q+8]; }
  mul.lo.u64 %d2, %tid4, 4; add.u64 %d2, %d2, %out; st.global.v4.u32 [%d2], {%r1, %r2, %i, %i};
"""
    out = launch(source(body, arch, BEYOND), np.zeros(1, np.uint32), np.zeros((32, 4), np.uint32), arch, level)
    for t in range(32):
        assert list(out[t]) == [5, t + 5, t, t]


@pytest.mark.parametrize("access", ["st.param.b32 [p+2], %i", "st.param.b16 [p+7], 1", "st.param.b64 [p+2], %d1"])
def test_unaligned_parameters_are_refused(access: str) -> None:
    body = f"mov.u64 %d1, 0; {{ .param .align 8 .b8 p[16]; {access}; }}"
    with pytest.raises(oric.CompileError, match="unaligned access to parameter p"):
        oric.compile(source(body, "sm_90"), arch="sm_90")


LATER = """
.func (.param .b32 o) later (.param .b32 x)
{
  .reg .b32 %r<4>; .reg .pred %p;
  ld.param.u32 %r1, [x]; setp.gt.u32 %p, %r1, 9; @%p ret;
  { .param .b32 p; st.param.b32 [p], %r1; .param .b32 q; call.uni (q), last, (p); ld.param.b32 %r2, [q]; }
  st.param.b32 [o], %r2; ret;
}
.func (.param .b32 o) last (.param .b32 x)
{
  .reg .b32 %r<4>;
  ld.param.u32 %r1, [x]; mad.lo.u32 %r1, %r1, %r1, 5; st.param.b32 [o], %r1; ret;
}
"""


@pytest.mark.parametrize(("arch", "level"), ARCHES)
def test_calls_of_later_functions(arch: str, level: int) -> None:
    """A function may be declared first and defined behind its callers."""
    declared = ".func (.param .b32 o) later (.param .b32 x);\n.func (.param .b32 o) last (.param .b32 x);\n"
    body = """
  { .param .b32 p; st.param.b32 [p], %i; .param .b32 q; mov.u32 %r9, 1; st.param.b32 [q], %r9; call.uni (q), last, (p); ld.param.b32 %r1, [q]; }
  rem.u32 %r3, %i, 8;
  { .param .b32 p; st.param.b32 [p], %r3; .param .b32 q; call.uni (q), later, (p); ld.param.b32 %r2, [q]; }
  add.u64 %d2, %tid8, %out; st.global.v2.u32 [%d2], {%r1, %r2};
"""
    out = launch(source(body, arch, declared) + LATER, np.zeros(1, np.uint32), np.zeros((32, 2), np.uint32), arch, level)
    assert (out == [[t * t + 5, (t % 8) ** 2 + 5] for t in range(32)]).all()


def test_functions_that_are_nowhere_are_named() -> None:
    """All in one message each, as ptxas does; a function of the driver needs no definition."""
    module = ".extern .func (.param .b32 o) {name} (.param .b64 f, .param .b64 a);"
    body = "{{ .param .b64 p; .param .b64 a; .param .b32 q; st.param.b64 [p], %in; st.param.b64 [a], %in; call.uni (q), {name}, (p, a); }}"
    text = source(body.format(name="elsewhere"), "sm_90", module.format(name="elsewhere"))
    assert _errors(text) == ["<ptx>: error: Unresolved extern function 'elsewhere'"]
    assert oric.compile(source(body.format(name="vprintf"), "sm_90", module.format(name="vprintf")), arch="sm_90").image


def _errors(text: str, arch: str = "sm_90") -> list[str]:
    with pytest.raises(oric.CompileError) as error:
        oric.compile(text, arch=arch)
    return str(error.value).splitlines()


REFUSED = [
    ("ld.global.u32 %r1, [%r2];", "'a global or generic address of less than 64 bits'"),
    ("st.u32 [%r2+4], %r1;", "'a global or generic address of less than 64 bits'"),
    ("red.global.add.u32 _, %r1;", "'_ as an address'"),
]


@pytest.mark.parametrize(("line", "name"), REFUSED)
def test_refused_by_name(line: str, name: str) -> None:
    """What is not lowered is named with its place; nothing is made of it."""
    text = source(line, "sm_90a" if "wgmma" in line else "sm_90")
    arch = "sm_90a" if "wgmma" in line else "sm_90"
    first = _errors(text, arch)[0]
    at = text[: text.index(line)].count("\n") + 1
    assert first.startswith(f"<ptx>:{at}:"), first
    assert first.endswith(f"error: {name} is not supported for {arch} yet"), first
