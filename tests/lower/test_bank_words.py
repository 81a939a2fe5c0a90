"""Where words of constant banks are loaded that no operation takes as operands."""

from __future__ import annotations

import re

import numpy as np
import oric
import pytest
from oric.sass.check import check_cubin
from oric.sass.instruction import disassemble
from oric.sim import Modes
from oric.support import elf

TEXT = """.version 9.0
.target {target}
.address_size 64
.visible .entry k(.param .u64 o, .param .u32 n)
{{
  .reg .b32 %a, %b, %c, %it, %n, %t, %e; .reg .b64 %d, %x; .reg .pred %p, %q, %s;
  ld.param.u64 %d, [o]; ld.param.u32 %n, [n]; mov.u32 %t, %tid.x; mul.wide.u32 %x, %t, 16; add.s64 %d, %d, %x;
  ld.global.v4.b32 {{%a, %b, %c, %it}}, [%d]; setp.gt.s32 %p, %c, 4;
  {part}
Q0: st.global.b32 [%d+12], %it; add.u32 %it, %it, 1; setp.lt.u32 %q, %it, %n; @%q bra Q0;
  ret;
}}
"""
PARTS = {
    "a_branch": "@!%p bra SK; st.global.b32 [%d+4], %a; bar.warp.sync -1; SK:",
    "two_branches": "@!%p bra SK; st.global.b32 [%d+4], %a; bar.warp.sync -1; bra.uni GO; "
    "SK: st.global.b32 [%d+8], %b; bar.warp.sync -1; GO:",
    "a_loop": "SK: st.global.b32 [%d+4], %a; bar.warp.sync -1; add.s32 %c, %c, 1; setp.lt.s32 %p, %c, 9; @%p bra SK;",
    "one_in_another": "@!%p bra SK; setp.gt.s32 %s, %a, 7; @%s bra IN; st.global.b32 [%d+4], %a; bar.warp.sync -1; "
    "IN: st.global.b32 [%d+8], %n; bar.warp.sync -1; SK:",
}


@pytest.mark.parametrize("level", [0, 1, 3])
@pytest.mark.parametrize("target", ["sm_90", "sm_100", "sm_120"])
@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_threads_that_have_met_go_on_at_once(part: str, target: str, level: int) -> None:
    """What stands between a BSYNC and the place that its BSSY names is not executed by those who waited."""
    image = oric.compile(TEXT.format(target=target, part=part), arch=target, opt_level=level).image
    cubin = elf.read(image)
    assert not check_cubin(cubin).findings
    assert any("BSYNC" in line for line in disassemble(cubin.functions["k"].text, target))


WORD = """.version 9.0
.target {target}
.address_size 64
.const .align 4 .b32 table[3] = {{17, 4000000001, 5}};
.visible .entry k(.param .u64 o)
{{
  .reg .b32 %a, %b, %c, %t, %w; .reg .b64 %d, %x;
  ld.param.u64 %d, [o]; mov.u32 %t, %tid.x; mul.wide.u32 %x, %t, 16; add.s64 %d, %d, %x;
  ld.global.v2.b32 {{%a, %b}}, [%d]; ld.const.b32 %w, [table+4];
  {part}
  ret;
}}
"""
# What reads the word, what it computes, whether all readers have a form for a uniform register.
READERS = {
    "the_first_source": ("add.u32 %c, %w, %a; st.global.b32 [%d+8], %c;", lambda a, b, w: (a + w, None), True),
    "a_product": ("mad.lo.u32 %c, %w, %a, %b; st.global.b32 [%d+8], %c;", lambda a, b, w: (a * w + b, None), True),
    "what_is_taken_away": ("sub.u32 %c, %a, %w; st.global.b32 [%d+8], %c;", lambda a, b, w: (a - w, None), True),
    "what_is_taken_from": ("sub.u32 %c, %w, %a; st.global.b32 [%d+8], %c;", lambda a, b, w: (w - a, None), True),
    "a_table": (
        "lop3.b32 %c, %w, %a, %b, 0x2a; st.global.b32 [%d+8], %c;",
        lambda a, b, w: (sum(((0x2A >> ((w >> n & 1) << 2 | (a >> n & 1) << 1 | b >> n & 1)) & 1) << n for n in range(32)), None),
        True,
    ),
    "a_store_as_well": (
        "add.u32 %c, %w, %a; st.global.b32 [%d+8], %c; st.global.b32 [%d], %w;", lambda a, b, w: (a + w, w), False,
    ),
}  # fmt: skip


@pytest.mark.row("R3-11")
@pytest.mark.parametrize("target", ["sm_90", "sm_100", "sm_120"])
@pytest.mark.parametrize("name", READERS)
def test_a_word_is_uniform_where_all_readers_have_a_form(name: str, target: str) -> None:
    """In the place that it stands in or in one that can change places with it; else all readers are as they were."""
    part, meaning, uniform = READERS[name]
    cubin = oric.compile(WORD.format(target=target, part=part), arch=target)
    text = "\n".join(disassemble(elf.read(cubin.image).functions["k"].text, target))
    if target != "sm_90":
        assert (re.search(r"LDCU UR\d+, c\[0x3\]", text) is not None) == uniform, text
    word = 4000000001
    rng = np.random.default_rng(7)
    given = rng.integers(0, 1 << 32, (32, 4), dtype=np.uint32)
    memory = given.copy()
    done = oric.sim.load(cubin.image).launch("k", grid=1, block=32, args=[memory.reshape(-1)], modes=Modes(strict=True))
    assert [str(report) for report in done.reports] == []
    for (a, b, _, last), found in zip(given.tolist(), memory.tolist(), strict=True):
        first, second = meaning(a, b, word)
        assert found == [a if second is None else second, b, first & 0xFFFFFFFF, last]
