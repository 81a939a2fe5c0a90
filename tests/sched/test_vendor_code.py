"""The tables against code that ptxas made: the checker finds nothing in it."""

from __future__ import annotations

import pytest
from oric.sass import decode
from oric.support import elf
from oric_tables.targets import TARGETS

from tests.kernels.cases import files, golden_cubin
from tests.sched.machine_code import VendorWalker, Words
from tests.sched.model import HazardError

CASES = [(file, arch) for file in files() for arch in ("sm_80", "sm_90")]


def hazards(words: bytes, arch: str) -> list[str]:
    """Walk every stretch of code without jumps and labels; a new one begins with nothing pending."""
    isa = TARGETS[arch].isa_name
    instructions = decode(words, arch)
    starts = {0}
    for i, instruction in enumerate(instructions):
        for operand in instruction.operands:
            if operand.kind == "label":
                starts.add(i + 1 + operand.value // 16)
    code = Words.of(instructions, isa)
    walker, found = VendorWalker(code, isa), []
    for i, instruction in enumerate(instructions):
        if i in starts or (i and instructions[i - 1].op.name in ("BRA", "EXIT", "BRX", "CALL.REL", "RET", "BSYNC")):
            walker = VendorWalker(code, isa)
        if instruction.control.stall == 0 and instruction.op.name in ("BRA", "NOP"):
            continue
        try:
            walker.step(i)
        except HazardError as error:
            found.append(f"{instruction}: {error}")
            walker = VendorWalker(code, isa)
    return found


@pytest.mark.parametrize(("file", "arch"), CASES)
def test_nothing_is_found_in_code_of_ptxas(file, arch):
    cubin = elf.read(golden_cubin(file, arch))
    found = []
    for section in cubin.sections:
        if section.name.startswith(".text."):
            found += hazards(section.data, arch)
    assert found == []
