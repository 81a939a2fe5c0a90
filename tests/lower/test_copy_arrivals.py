"""An mbarrier that hears of copies, named by a generic address: what its address in shared memory is, before sm_90 and since."""

from __future__ import annotations

import numpy as np
import oric
import pytest
from oric.sass.instruction import disassemble
from oric.support import elf

KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{{
    .shared .align 8 .b64 bar;
    .shared .align 16 .b32 data[32];
    .reg .pred %p;
    .reg .b32 %r<8>;
    .reg .b64 %a<8>;
    ld.param.u64 %a1, [in];
    ld.param.u64 %a2, [out];
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %p, %r1, 0;
    @%p bra READY;
    mbarrier.init.shared.b64 [bar], 32;
READY:
    bar.sync 0;
    mul.wide.u32 %a3, %r1, 4;
    add.u64 %a1, %a1, %a3;
    add.u64 %a2, %a2, %a3;
    mov.u32 %r2, data;
    shl.b32 %r3, %r1, 2;
    add.u32 %r2, %r2, %r3;
    cp.async.ca.shared.global [%r2], [%a1], 4;
    mov.u64 %a4, bar;
    cvta.shared.u64 %a4, %a4;
    {arrive}
    xor.b32 %r3, %r3, 124;
    mbarrier.arrive.shared.b64 %a5, [bar];
WAIT:
    mbarrier.test_wait.shared.b64 %p, [bar], %a5;
    @!%p bra WAIT;
    mov.u32 %r4, data;
    add.u32 %r4, %r4, %r3;
    ld.shared.u32 %r5, [%r4];
    st.global.u32 [%a2], %r5;
    ret;
}}
"""
# With the arrival that the copies' end is counted as expected already, an mbarrier expects 64.
NOINC = KERNEL.replace("[bar], 32;", "[bar], 64;")
WINDOW = "-c[0x0][0x18]"


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("arch", ["sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a"])
@pytest.mark.parametrize("address", ["%a4", "bar"])
@pytest.mark.parametrize("kind", [".noinc", ""])
def test_arrivals_at_a_generic_address(kind: str, address: str, arch: str, level: int) -> None:
    text = (NOINC if kind else KERNEL).format(arrive=f"cp.async.mbarrier.arrive{kind}.b64 [{address}];")
    module = oric.sim.load(oric.compile(text, arch=arch, opt_level=level).image)
    x, y = np.arange(32, dtype=np.uint32) * 7, np.zeros(32, np.uint32)
    done = module.launch("k", 1, 32, [x, y], modes=oric.sim.Modes(strict=True, memcheck=True))
    assert not done.reports
    assert np.array_equal(y, x[::-1])


def code(arrive: str, arch: str) -> str:
    cubin = elf.read(oric.compile(KERNEL.format(arrive=arrive), arch=arch).image)
    return "\n".join(disassemble(cubin.functions["k"].text, arch))


@pytest.mark.parametrize("kind", [".noinc", ""])
def test_the_window_has_a_low_word_before_there_were_clusters(kind: str) -> None:
    arrive = f"mov.b64 %a4, %a1;\ncp.async.mbarrier.arrive{kind}.b64 [%a4];"
    assert WINDOW in code(arrive, "sm_80")
    assert WINDOW not in code(arrive, "sm_90")
    assert WINDOW not in code(f"cp.async.mbarrier.arrive{kind}.b64 [bar];", "sm_80")


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_an_address_of_32_bits_has_zeros_above(arch: str) -> None:
    """As ptxas has it; of other accesses it refuses such an address."""
    assert "ARRIVES" in code("cp.async.mbarrier.arrive.noinc.b64 [%r2+8];", arch)
