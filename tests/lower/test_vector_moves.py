"""``mov.v2`` and ``mov.v4``: element by element, with sinks, constants, vector registers, and elements on both sides."""

from __future__ import annotations

import numpy as np
import oric
import pytest
from oric.sim import Modes

from tests.lower.support import source

WAYS = [("sm_80", 0), ("sm_80", 3), ("sm_90", 0), ("sm_90", 3)]
LOAD = "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%in];"
STORE = "st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};"
A, B, C, D = 0x11110001, 0x22220002, 0x33330003, 0x80000004


@pytest.mark.parametrize(("arch", "level"), WAYS)
@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("mov.v4.u32 {%r1, %r2, %r3, %r4}, {%r4, %r3, %r2, %r1};", (D, C, B, A)),
        ("mov.v2.b32 {%r1, %r2}, {%r2, %r1};", (B, A, C, D)),
        ("mov.v4.s32 {%r2, _, %r1, %r4}, {%r1, %r2, %r2, 9};", (B, A, C, 9)),
        (".reg .v2 .b32 %v<3>; mov.v2.u32 %v0, {%r3, 5}; mov.v2.u32 %v1, %v0; mov.v2.b32 {%r1, %r2}, %v1;", (C, 5, C, D)),
        (".reg .v4 .b32 %v<2>; mov.v4.b32 %v0, {%r2, %r1, 1, %r3}; mov.v4.b32 {%r1, %r2, %r3, %r4}, %v0;", (B, A, 1, C)),
        (".reg .b64 %w<3>; mov.b64 %w0, {%r1, %r2}; mov.b64 %w1, {%r3, %r4}; mov.v2.u64 {%w0, %w1}, {%w1, %w0};"
         " mov.b64 {%r1, %r2}, %w0; mov.b64 {%r3, %r4}, %w1;", (C, D, A, B)),
        (".reg .f64 %w<3>; mov.v2.f64 {%w0, %w1}, {0d3ff0000000000000, 0dc000000000000000}; mov.b64 {%r1, %r2}, %w0;"
         " mov.b64 {%r3, %r4}, %w1;", (0, 0x3FF00000, 0, 0xC0000000)),
        (".reg .f32 %w<3>; mov.v2.f32 {%w0, %w1}, {0f3f800000, %w2}; mov.b32 %r1, %w0;", (0x3F800000, B, C, D)),
        (".reg .b16 %w<3>; cvt.u16.u32 %w0, %r1; cvt.u16.u32 %w1, %r4; mov.v2.u16 {%w1, %w0}, {%w0, %w1}; cvt.u32.u16 %r1, %w0;"
         " cvt.u32.u16 %r2, %w1;", (4, 1, C, D)),
        # braces of one element, and bytes
        ("mov.b32 {%r1}, %r2; mov.b32 %r2, {%r3}; mov.b32 %r3, {7}; .reg .b64 %w<3>; mov.b64 {%w0}, 5; mov.b64 {%r4, _}, %w0;",
         (B, C, 7, 5)),
        (".reg .b64 %w<3>; add.s64 %w0, %in, 4; ld.global.b32 { %r1 }, [ %w0 + 4 ]; ld.global.u8 {%r2}, [%in]; "
         "st.global.b32 [%in], {%r4}; ld.volatile.global.u32 {%r3}, [%in];", (C, 1, D, D)),
        (".reg .b8 %c<4>; .reg .b16 %w<3>; cvt.u8.u32 %c0, %r1; cvt.u8.u32 %c1, %r2; mov.b16 %w0, {%c0, %c1};"
         " cvt.u32.u16 %r1, %w0; mov.b16 {%c2, %c3}, %w0; cvt.u32.u8 %r2, %c3; cvt.u32.u8 %r3, %c2; mov.b16 {%w1}, %w0;"
         " mov.b16 %w2, {%w1}; cvt.u32.u16 %r4, %w2;", (0x201, 2, 1, 0x201)),
        ("setp.eq.u32 %p1, %i, 1; @%p1 mov.v2.u32 {%r1, %r2}, {%r3, %r4}; @!%p1 mov.v2.u32 {%r3, %r4}, {%r2, %r1};",
         (A, B, B, A)),
    ],
)  # fmt: skip
def test_elements(text: str, want: tuple[int, ...], arch: str, level: int) -> None:
    image = oric.compile(source(f"{LOAD} {text} {STORE}", arch), arch=arch, opt_level=level, verify=True).image
    data, out = np.array([A, B, C, D], np.uint32), np.zeros(4, np.uint32)
    modes = Modes(strict=True, memcheck=True)
    assert not oric.sim.load(image).launch("k", grid=(1, 1, 1), block=(1, 1, 1), args=[data, out], modes=modes).reports
    assert tuple(map(int, out)) == want
