"""The cubins of the test kernels say the same about parameters, limits, memory and data as ptxas's do."""

from __future__ import annotations

import re
from pathlib import Path

import oric
import pytest
from oric.sass.listing import list_cubin
from oric.support.elf import Cubin, read

from tests.cubin.compare import structure
from tests.kernels import cases

# Records that tell about the code itself, which is not ptxas's.
OF_CODE = (
    "REGCOUNT", "FRAME_SIZE", "MIN_STACK_SIZE", "EXIT_INSTR_OFFSETS", "COOP_GROUP", "INT_WARP_WIDE", "INDIRECT_BRANCH_TARGETS",
    "CRS_STACK_SIZE",
)  # fmt: skip
# What ptxas's choice of code brings along: jump tables and wide constants, library routines.
OF_CHOICE = (".nv.constant2", ".rela.nv.constant2", ".rela.text", ".rel.debug_frame", ".rela.debug_frame", "$__internal")


def facts(cubin: Cubin) -> list[str]:
    """The lines of the structure that do not depend on the code."""
    out = []
    slots: list[str] = []
    for line in structure(cubin):
        kind, name = line.split()[:2]
        if any(word in line for word in OF_CODE) or any(name.strip("'").startswith(p) for p in OF_CHOICE):
            continue
        if kind == "segment" or (kind == "data" and name.startswith(".text")):
            continue
        if kind == "relocation" and name == ".debug_frame":
            continue
        if kind == "relocation" and name == ".nv.constant4":
            slots.append(re.sub(r" 0x\w+ ", " ", line))  # ptxas numbers the slots by declaration, we by first use
            continue
        if name.startswith((".text", ".nv.info")) or ".text" in line:
            line = re.sub(r"size \S+|\d+ registers", "", line)
        out.append(line)
    return out + sorted(slots)


@pytest.mark.row("R3-09", "R3-51")
@pytest.mark.parametrize("target", cases.TARGETS)
@pytest.mark.parametrize("file", cases.files())
def test_facts_are_those_of_ptxas(file: str, target: str) -> None:
    ours = read(oric.compile(cases.ptx(file, target), arch=target).image)
    theirs = read(cases.golden_cubin(file, target))
    assert facts(ours) == facts(theirs)


STRUCTURE = Path(__file__).parents[1] / "data" / "cubin" / "structure"


@pytest.mark.row("R3-09")
@pytest.mark.parametrize("path", sorted(STRUCTURE.glob("*.cubin")), ids=lambda p: p.name)
def test_facts_of_small_modules(path: Path) -> None:
    name, target = path.name.split(".")[:2]
    source = (STRUCTURE / f"{name}.ptx").read_text().replace(".target sm_90", f".target {target}")
    ours = read(oric.compile(source, arch=target).image)
    assert facts(ours) == facts(read(path.read_bytes()))


@pytest.mark.parametrize("target", [*cases.TARGETS, *cases.EACH_MODEL])
def test_offsets_in_the_records_point_at_exits(target: str) -> None:
    for file in cases.files():
        cubin = read(oric.compile(cases.ptx(file, target), arch=target).image)
        for function in list_cubin(cubin).functions:
            assert function.facts is not None
            exits = [line.offset for line in function.lines if re.match(r"(@!?U?P\d )?EXIT", line.text)]
            assert exits == list(function.facts.exits)
