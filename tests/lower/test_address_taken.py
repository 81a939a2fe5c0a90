"""Vector loads whose elements take the place of the address register: the address is read before any element is written."""

from __future__ import annotations

import numpy as np
import oric
import pytest
from oric.driver import CompileOptions, compile_text
from oric.sim import Modes

KERNEL = """.version 9.0
.target {target}
.address_size 64
.const .align 16 .b32 table[8] = {{0x101, 0x202, 0x303, 0x404, 0x505, 0x606, 0x707, 0x808}};
.visible .entry k(.param .u64 out, .param .align 16 .b32 words[8]) .reqntid 32
{{
  .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p; .shared .align 16 .b32 tile[8]; .local .align 16 .b32 own[8];
  ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 16; add.u64 %d0, %d0, %d1;
  setp.ne.u32 %p, %r0, 40; and.b32 %r0, %r0, 1; shl.b32 %r0, %r0, 4;
  mov.u32 %r5, {base}; add.u32 %r{at}, %r0, %r5;
  {front}
  {guard} ld{space}.v{count}.{type} {{{names}}}, [%r{at}];
  st.global.v4.b32 [%d0], {{%r1, %r2, %r3, %r4}};
  ret;
}}
"""
FILL = "".join(f"mov.u32 %r7, 0x{n + 1:x}0{n + 1:x}; st{{space}}.u32 [{{base}}+{4 * n}], %r7; " for n in range(8))
WORDS = [0x101 * (n + 1) for n in range(8)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", ["sm_75", "sm_90", "sm_120"])
@pytest.mark.parametrize("guard", ["", "@%p"])
@pytest.mark.parametrize(("type_", "count"), [("b32", 4), ("b32", 2), ("u16", 4), ("s8", 4), ("u8", 2)])
@pytest.mark.parametrize("space", [".const", ".param", ".shared", ".local"])
def test_each_element(space: str, type_: str, count: int, guard: str, target: str) -> None:
    base = {".const": "table", ".param": "words", ".shared": "tile", ".local": "own"}[space]
    each = int(type_[1:]) // 8
    elements = np.frombuffer(np.array(WORDS, np.uint32).tobytes(), f"u{each}").astype(np.uint32)
    for at in range(1, count + 1):
        text = KERNEL.format(
            target=target, base=base, at=at, space=space, count=count, type=type_, guard=guard,
            names=", ".join(f"%r{n + 1}" for n in range(count)),
            front="" if space in (".const", ".param") else FILL.format(space=space, base=base) + "bar.sync 0;",
        )  # fmt: skip
        for level in (0, 3):
            image = compile_text(text, CompileOptions(target, level, verify=True)).image
            out = np.zeros((32, 4), np.uint32)
            args = [out, np.array(WORDS, np.uint32).tobytes()]
            oric.sim.load(image).launch("k", grid=(1, 1, 1), block=(32, 1, 1), args=args, modes=Modes(memcheck=True))
            for thread in range(32):
                first = (thread & 1) * 16 // each
                assert out[thread, :count].tolist() == elements[first : first + count].tolist(), (at, level, thread)
