"""Tests of mbarriers acquire: what is loaded behind one is loaded behind it, and again if it was loaded in front of it."""

from __future__ import annotations

import oric
import pytest
from oric.sass.instruction import disassemble
from oric.support import elf

# The address of the mbarrier is known late, that of the data early.
KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {{
  .reg .b64 %d<9>; .reg .b32 %r<20>; .reg .pred %p<4>; .shared .align 8 .b64 bar[8]; .shared .align 16 .b32 data[64];
  ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r9, data; mad.lo.u32 %r2, %r1, 16, %r9;
  ld.global.u32 %r11, [%d1+4]; mov.u32 %r10, bar; mad.lo.u32 %r10, %r11, 8, %r10; mov.b64 %d2, {{%r11, %r1}};
  {front}
  mbarrier.{test};
  {behind}
  st.global.v4.u32 [%d1], {{%r4, %r5, %r6, %r7}};
  ret;
}}
"""
PARITY = "test_wait.parity.shared.b64 %p1, [%r10], 0"
STATE = "test_wait.shared.b64 %p1, [%r10], %d2"
CHOICE = "mov.u32 %r5, 1; mov.u32 %r6, 2; mov.u32 %r7, 3; selp.b32 %r4, %r4, 77, %p1;"


def shared(front: str, test: str, behind: str, arch: str, level: int) -> list[str]:
    """The accesses of shared memory in order: of the mbarrier, whose register is no multiple, and of the data by their offset."""
    text = KERNEL.format(front=front, test=test, behind=behind)
    image = oric.compile(text, arch=arch, opt_level=level).image
    lines = disassemble(elf.read(image).kernels["k"].text, arch)
    names = []
    for line in lines:
        if "LDS" in line or "SYNCS.PHASECHK" in line:
            names.append("data" if any(f"+{hex(offset)}]" in line for offset in DATA) else "test")
    return names


DATA = [0x70, 0x74, 0x78, 0x40 + 0x70, 0x40 + 0x74, 0x40 + 0x78, 0x400 + 0x70, 0x440 + 0x70, 0x440 + 0x74, 0x440 + 0x78]


@pytest.mark.parametrize("level", [0, 1, 3])
@pytest.mark.parametrize("test", [PARITY, STATE])
@pytest.mark.parametrize("arch", ["sm_80", "sm_89", "sm_90", "sm_120"])
def test_a_load_stays_behind_a_test(arch: str, test: str, level: int) -> None:
    assert shared("", test, "ld.shared.u32 %r4, [%r2+112];" + CHOICE, arch, level) == ["test", "data"]


@pytest.mark.parametrize("test", [PARITY, STATE])
@pytest.mark.parametrize("arch", ["sm_80", "sm_89", "sm_90", "sm_120"])
def test_what_was_loaded_before_is_loaded_again(arch: str, test: str) -> None:
    found = shared("ld.shared.u32 %r3, [%r2+112];", test, f"ld.shared.u32 %r4, [%r2+112]; {CHOICE} mov.u32 %r5, %r3;", arch, 3)
    assert found == ["data", "test", "data"]


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_neighbours_are_not_loaded_together_over_a_test(arch: str) -> None:
    found = shared("ld.shared.u32 %r3, [%r2+112];", PARITY, f"ld.shared.u32 %r4, [%r2+116]; {CHOICE} mov.u32 %r5, %r3;", arch, 3)
    assert found == ["data", "test", "data"]
