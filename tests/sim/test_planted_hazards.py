"""Hazards planted in ptxas-made kernels are reported by strict mode, if a thread comes to them."""

from __future__ import annotations

import pytest
from oric.support import elf

from tests.kernels import cases
from tests.sim import hazards

# Mutants (target, function, byte offset) with findings whose two instructions are reached, but by no thread without something in
# between that waits: a branch that lets the first one through leads away from the second, or leads through another wait.
NOT_ONE_WAY = {
    *[("sm_80", "gcd_u32", at) for at in (0x270, 0x2A0)],  # only a divisor of 0 skips the loop
    *[("sm_90", "gcd_u32", at) for at in (0x120, 0x2E0)],
    ("sm_80", "struct_param", 0x3A0), ("sm_90", "struct_param", 0x170),  # thread 0 alone goes on, and has an element
    *[("sm_80", "tables_update", at) for at in (0xC0, 0xF0)],  # thread 0 alone goes on, and has no element
    *[("sm_90", "tables_update", at) for at in (0xE0, 0x110)],
    *[("sm_90", "transpose", at) for at in (0x540, 0x640, 0x730, 0x740, 0x850)],  # who has a later element has the earlier ones
    *[("sm_90", "histogram", at) for at in (0x30, 0x50)],  # a block of more than 256 threads
    *[("sm_90", "interpret", at) for at in (0x1E0, 0xE90)],  # a program without a jump through the table
}  # fmt: skip


def kernels(target: str) -> list[hazards.Kernel]:
    out = []
    for file in cases.files():
        image = cases.golden_cubin(file, target)
        mine = [c for c in cases.CASES if c.file == file]
        for function in elf.read(image).functions.values():
            out.append(hazards.Kernel(target, image, function, lambda mine=mine: [s for c in mine for s in c.build()]))
    return out


@pytest.mark.parametrize("target", cases.TARGETS)
def test_planted_hazards_are_reported(target: str) -> None:
    result = hazards.measure(kernels(target), every=17)
    assert {(target, function, at) for function, _, at in result.missed} <= NOT_ONE_WAY
    assert sum(result.caught.values()) >= 150
    assert set(result.caught) == set(hazards.KINDS)


@pytest.mark.measure
@pytest.mark.parametrize("target", cases.TARGETS)
def test_every_planted_hazard_is_reported(target: str) -> None:
    result = hazards.measure(kernels(target), every=1)
    assert {(target, function, at) for function, _, at in result.missed} <= NOT_ONE_WAY
    assert sum(result.caught.values()) >= 3000
