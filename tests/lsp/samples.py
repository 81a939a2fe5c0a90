"""Real PTX for the tests of the language server."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAXPY = (ROOT / "examples" / "saxpy.ptx").read_text()
FILES = sorted([*(ROOT / "tests" / "kernels").glob("*.ptx"), *(ROOT / "examples").glob("*.ptx")])
BIGGEST = ROOT / "tests" / "programs" / "portable" / "ciphers.ptx"

CALLS = """.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b32 r) elsewhere (.param .b32 x);
.global .align 4 .u32 counter = 7;
.const .f32 table[2] = {1.0, 2.0};
.func (.param .b32 out) twice (.param .b32 in)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [in];
    add.s32 %r2, %r1, %r1;
    st.param.b32 [out], %r2;
    ret;
}
.visible .entry first (.param .u64 .ptr .global .align 8 p)
{
    .reg .b64 %rd<3>;
    .reg .b32 a, b;
    .reg .pred q;
    .shared .align 16 .b8 buffer[64];
    ld.param.u64 %rd1, [p];
    mov.u32 a, %tid.x;
    setp.gt.u32 q, a, 5;
    @!q bra DONE;
    {
        .param .b32 x0;
        .param .b32 y0;
        st.param.b32 [x0], a;
        call.uni (y0), twice, (x0);
        ld.param.b32 b, [y0];
    }
    st.global.u32 [%rd1], b;
DONE:
    ret;
}
"""
