"""Vectors under guards: threads whose guard does not hold keep what they had, whatever the level."""

from __future__ import annotations

from typing import Any

import numpy as np
import oric
import pytest
from oric.sass.check import check_cubin
from oric.sim import Modes
from oric.support import elf

THREADS = 32
MODES = Modes(strict=True, memcheck=True)
# The instruction, and which of the thread's four words `%r10` to `%r13` get where the guard holds.
LOADS = {
    "global": ("ld.global.v4.b32 {%r10, %r11, %r12, %r13}, [%d1];", (0, 1, 2, 3)),
    "generic": ("ld.v2.b32 {%r10, %r11}, [%d1];", (0, 1, None, None)),
    "shared": ("ld.shared.v4.b32 {%r10, %r11, %r12, %r13}, [%r3];", (0, 1, 2, 3)),
    "turned": ("ld.global.v2.b32 {%r11, %r10}, [%d1];", (1, 0, None, None)),
    "partly": ("ld.shared.v4.b32 {%r12, _, %r10, _}, [%r3];", (2, None, 0, None)),
}
FETCHES = {
    "texture": ("tex.1d.v4.f32.s32 {%r10, %r11, %r12, %r13}, [%d4, {%r0}];", (0, 1, 2, 3)),
    "part_of_a_texture": ("tex.1d.v4.f32.s32 {%r11, _, %r13, _}, [%d4, {%r0}];", (None, 0, None, 2)),
    "surface": ("suld.b.1d.v4.b32.zero {%r10, %r11, %r12, %r13}, [%d5, {%r9}];", (0, 1, 2, 3)),
}
TEXT = """
.version 9.0
.target {target}
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 o, .param .u32 n, .param .u64 t, .param .u64 u)
{{
  .reg .b64 %d<9>; .reg .b32 %r<30>; .reg .pred %p<2>; .shared .align 16 .b8 s[512];
  ld.param.u64 %d0, [a]; ld.param.u64 %d2, [o]; ld.param.u32 %r20, [n]; ld.param.u64 %d4, [t]; ld.param.u64 %d5, [u];
  mov.u32 %r0, %tid.x; mul.wide.u32 %d3, %r0, 16; add.s64 %d1, %d0, %d3; add.s64 %d2, %d2, %d3;
  mov.u32 %r3, s; mad.lo.u32 %r3, %r0, 16, %r3; mul.lo.u32 %r9, %r0, 16;
  ld.global.v4.b32 {{%r4, %r5, %r6, %r7}}, [%d1]; st.shared.v4.b32 [%r3], {{%r4, %r5, %r6, %r7}}; bar.sync 0;
  mov.b32 %r10, 0; mov.b32 %r11, %r0; mov.b32 %r12, 7; add.u32 %r13, %r0, 100;
  setp.lt.u32 %p0, %r0, %r20;
  @%p0 {body}
  st.global.v4.b32 [%d2], {{%r10, %r11, %r12, %r13}};
  ret;
}}
"""


@pytest.mark.parametrize("level", [0, 1, 3])
@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"])
@pytest.mark.parametrize("name", [*LOADS, *FETCHES])
def test_threads_that_do_not_load_keep_their_values(name: str, target: str, level: int) -> None:
    body, elements = (LOADS | FETCHES)[name]
    image = oric.compile(TEXT.format(target=target, body=body), arch=target, opt_level=level).image
    assert check_cubin(elf.read(image)).findings == []
    module = oric.sim.load(image)
    data = np.random.default_rng(len(name)).uniform(1, 9, (THREADS, 4)).astype(np.float32)
    words, thread = data.view(np.uint32), np.arange(THREADS, dtype=np.uint32)
    want = np.stack([0 * thread, thread, 0 * thread + 7, thread + 100], 1)
    count = 11
    for at, element in enumerate(elements):
        if element is not None:
            want[:count, at] = words[:count, element]
    out = np.zeros((THREADS, 4), np.uint32)
    images: list[Any] = [0, 0]
    if name in FETCHES:
        images = [made(data.copy(), "1d", channels=4).address for made in (module.texture, module.surface)]
    done = module.launch("k", 1, THREADS, [words.copy(), out, count, *images], modes=MODES)
    assert not done.reports
    assert out.tolist() == want.tolist()
