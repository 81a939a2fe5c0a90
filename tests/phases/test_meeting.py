"""Member masks of all threads that sit in registers are as those that are written so (phase 72)."""

from __future__ import annotations

import oric
import pytest
from oric.support import elf

_TEXT = """
.version 8.7
.target {arch}
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 q)
{{
  .reg .pred %c, %v;
  .reg .b32 %t, %r, %m, %q;
  .reg .b64 %a, %o;
  ld.param.u64 %a, [p];
  ld.param.u32 %q, [q];
  {mask}
  mov.u32 %t, %tid.x;
  mul.wide.u32 %o, %t, 4;
  add.s64 %a, %a, %o;
  setp.gt.u32 %c, %t, 7;
  mov.u32 %r, %t;
  @%c bra SECOND;
  shfl.sync.down.b32 %r, %t, 4, 31, {use};
  bra END;
SECOND:
  vote.sync.ballot.b32 %r, %v, {use};
END:
  st.global.u32 [%a], %r;
  ret;
}}
"""
_VOTED = "setp.eq.u32 %v, %q, 1;"


def code(arch: str, mask: str, use: str) -> bytes:
    made = oric.compile(_TEXT.format(arch=arch, mask=f"{_VOTED}\n  {mask}", use=use), arch=arch, opt_level=3)
    return elf.read(made.image).kernels["k"].text


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_120a"])
def test_a_full_mask_in_a_register_is_one_that_is_written(arch: str) -> None:
    assert code(arch, "mov.b32 %m, -1;", "%m") == code(arch, "", "0xffffffff")


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_120a"])
@pytest.mark.parametrize(
    "mask",
    [
        "mov.b32 %m, 0x7fffffff;",  # not all of them
        "mov.b32 %m, -1;\n  @%v mov.b32 %m, 0xff;",  # or fewer
        "mov.u32 %m, %q;",  # who knows
    ],
)
def test_other_masks_are_waited_for_where_threads_part(arch: str, mask: str) -> None:
    assert code(arch, mask, "%m") != code(arch, "", "0xffffffff")
