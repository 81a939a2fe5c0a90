"""Position independent objects (-c -pic): alone in the simulator, linked with each other, with others and with those of ptxas."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import oric
import oric.sim
import pytest
from oric.sass.check import check_cubin
from oric.support.elf import Cubin, read
from oric_tables.cubin import RELOCATIONS

from . import call_programs, call_runs, object_programs, splitting

TARGETS = ("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")
LEVELS = (0, 1, 3)
STACK = 1 << 16  # bytes: how deep functions go that call themselves nobody knows
PROGRAMS = call_programs.PROGRAMS | object_programs.PROGRAMS
# Of each part of a program, who makes it and whether it is position independent: ours, ptxas's; in capitals it is.
MIXES = ("OO", "Oo", "oO", "OP", "PO", "Op", "pO")


def text(name: str, target: str) -> str:
    return call_runs.text(PROGRAMS[name], target)


def wanted(name: str) -> tuple[list[int], list[str]]:
    return call_runs.wanted(PROGRAMS[name]), []


def ours(module: str, target: str, level: int = 3, independent: bool = True) -> bytes:
    made = oric.compile(module, arch=target, opt_level=level, verify=True, relocatable=True, position_independent=independent)
    return made.image


def launch(image: bytes) -> tuple[list[int], list[str]]:
    return call_runs.launch(image, stack_bytes=STACK)


def settled_addresses(cubin: Cubin) -> set[str]:
    """Relocations of code that put an address there, as a position independent object has none of; shared memory and constants
    are spaces of their own.
    """
    own = {"R_CUDA_ABS32_32", "R_CUDA_ABS16_32"}
    texts = {function.section for function in cubin.functions.values()}
    kinds = {RELOCATIONS[r.type].name for r in cubin.relocations if r.section in texts}
    return {name for name in kinds - own if not name.startswith("R_CUDA_CONST_FIELD")}


@pytest.mark.parametrize("name", PROGRAMS)
def test_alone(name: str) -> None:
    """An object that needs nothing from elsewhere is right, and without hazards: on each target at one level."""
    for turn, target in enumerate(TARGETS, list(PROGRAMS).index(name)):
        image = ours(text(name, target), target, LEVELS[turn % len(LEVELS)])
        assert launch(image) == wanted(name), target
        assert check_cubin(read(image)).findings == [], target
        assert settled_addresses(read(image)) == set()


class Linker:
    """Compiles parts of programs and links them."""

    def __init__(self, folder: Path, ptxas: str, nvlink: str) -> None:
        self.folder = folder
        self.ptxas = ptxas
        self.nvlink = nvlink

    def make(self, module: str, target: str, maker: str, level: int, name: str) -> None:
        if maker in "oO":
            (self.folder / name).write_bytes(ours(module, target, level, maker == "O"))
            return
        (self.folder / "in.ptx").write_text(module)
        command = [self.ptxas, "-c", f"-pic={str(maker == 'P').lower()}", f"-arch={target}", "in.ptx", "-o", name]
        subprocess.run(command, cwd=self.folder, check=True, capture_output=True)

    def link(self, parts: tuple[str, ...], makers: str, target: str, level: int) -> bytes:
        names = [f"{number}.o" for number in range(len(parts))]
        for name, part, maker in zip(names, parts, makers, strict=True):
            self.make(part, target, maker, level, name)
        command = [self.nvlink, f"-arch={target}", *names, "-o", "linked.cubin"]
        done = subprocess.run(command, cwd=self.folder, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return (self.folder / "linked.cubin").read_bytes()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_linked(name: str, tmp_path: Path, ptxas: str, nvlink: str) -> None:
    """Alone, and some functions elsewhere, in three of the ways."""
    chance = random.Random(name)
    linker = Linker(tmp_path, ptxas, nvlink)
    target, level = chance.choice(TARGETS), chance.choice(LEVELS)
    module = text(name, target)
    assert launch(linker.link((module,), "O", target, level)) == wanted(name), (target, level)
    functions = splitting.functions(module)
    if functions:
        there = frozenset(chance.sample(functions, max(1, len(functions) // 2)))
        for makers in chance.sample(MIXES, 3):
            image = linker.link(splitting.split(module, there), makers, target, level)
            assert launch(image) == wanted(name), (target, sorted(there), makers, level)
            assert check_cubin(read(image)).findings == []


@pytest.mark.measure
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_mix(name: str, target: str, tmp_path: Path, ptxas: str, nvlink: str) -> None:
    linker = Linker(tmp_path, ptxas, nvlink)
    chance = random.Random(name + target)
    functions = splitting.functions(text(name, target))
    for makers in MIXES if functions else ():
        there = frozenset(chance.sample(functions, chance.randint(1, len(functions))))
        level = chance.choice(LEVELS)
        image = linker.link(splitting.split(text(name, target), there), makers, target, level)
        assert launch(image) == wanted(name), (sorted(there), makers, level)


@pytest.mark.parametrize("target", ["sm_75", "sm_90", "sm_120"])
def test_programs_are_so_anyhow(target: str) -> None:
    module = text("table of functions", target)
    assert oric.compile(module, arch=target, position_independent=True).image == oric.compile(module, arch=target).image
