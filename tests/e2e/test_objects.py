"""Objects to link (-c): alone in the simulator, linked with each other and with those of ptxas."""

from __future__ import annotations

import itertools
import random
import subprocess
from pathlib import Path

import oric
import oric.sim
import pytest
from oric.sass.check import check_cubin
from oric.support.elf import read
from oric_tables.targets import TARGETS as ALL_TARGETS

from tests.programs.measure import judge
from tests.programs.portable import case as portable

from . import call_programs, call_registers, call_runs, object_programs, splitting

TARGETS = ("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")
LIMITS = (None, 24, 32, 64)
STACK = 1 << 16  # bytes: how deep functions go that call themselves nobody knows
PROGRAMS = call_programs.PROGRAMS | call_registers.REGISTER_PROGRAMS | object_programs.PROGRAMS


def text(name: str, target: str) -> str:
    return call_runs.text(PROGRAMS[name], target)


def wanted(name: str) -> list[int]:
    return call_runs.wanted(PROGRAMS[name])


def launch(image: bytes) -> tuple[list[int], list[str]]:
    return call_runs.launch(image, stack_bytes=STACK)


def ours(module: str, target: str, level: int = 3, limit: int | None = None) -> bytes:
    return oric.compile(module, arch=target, opt_level=level, maxrregcount=limit, verify=True, relocatable=True).image


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_alone(name: str) -> None:
    """An object that needs nothing from elsewhere is right, and without hazards: on each target at one level and limit."""
    for turn, target in enumerate(TARGETS, list(PROGRAMS).index(name)):
        way = (0, 1, 3)[turn % 3], LIMITS[turn % len(LIMITS)]
        image = ours(text(name, target), target, *way)
        assert launch(image) == (wanted(name), []), (target, way)
        assert check_cubin(read(image)).findings == [], (target, way)


@pytest.mark.measure
@pytest.mark.parametrize("level", [0, 1, 3])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_alone_in_every_way(name: str, target: str, level: int) -> None:
    for limit in LIMITS:
        image = ours(text(name, target), target, level, limit)
        assert launch(image) == (wanted(name), []), limit
        assert check_cubin(read(image)).findings == [], limit


@pytest.mark.parametrize("target", ALL_TARGETS)
def test_every_target(target: str) -> None:
    assert launch(ours(text("table of functions", target), target)) == (wanted("table of functions"), [])


def test_what_is_elsewhere_is_named() -> None:
    module, _ = splitting.split(text("mutual", "sm_90"), frozenset(splitting.functions(text("mutual", "sm_90"))[:1]))
    image = ours(module, "sm_90")
    with pytest.raises(oric.sim.LoadError, match=r"needs a linker before it can run, as '.*' is not in it"):
        oric.sim.load(image)


class Linker:
    """Splits programs, compiles the parts and links them."""

    def __init__(self, folder: Path, ptxas: str, nvlink: str) -> None:
        self.folder = folder
        self.ptxas = ptxas
        self.nvlink = nvlink

    def theirs(self, module: str, target: str, name: str, limit: int | None) -> None:
        (self.folder / f"{name}.ptx").write_text(module)
        most = [f"-maxrregcount={limit}"] if limit else []
        command = [self.ptxas, "-c", f"-arch={target}", *most, f"{name}.ptx", "-o", f"{name}.o"]
        subprocess.run(command, cwd=self.folder, check=True, capture_output=True)

    def link(self, parts: tuple[str, str], makers: str, target: str, level: int, limit: int | None) -> bytes:
        """``makers``: of each part, ``o`` for ours, ``p`` for ptxas."""
        for name, module, maker in zip("ab", parts, makers, strict=True):
            if maker == "o":
                (self.folder / f"{name}.o").write_bytes(ours(module, target, level, limit))
            else:
                self.theirs(module, target, name, limit)
        command = [self.nvlink, f"-arch={target}", "a.o", "b.o", "-o", "linked.cubin"]
        done = subprocess.run(command, cwd=self.folder, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return (self.folder / "linked.cubin").read_bytes()


def splits(module: str) -> list[frozenset[str]]:
    names = splitting.functions(module)
    names = names[:10]
    return [frozenset(chosen) for count in range(len(names) + 1) for chosen in itertools.combinations(names, count)]


WITH_FUNCTIONS = [name for name in PROGRAMS if splitting.functions(text(name, TARGETS[0]))]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", WITH_FUNCTIONS)
def test_mixed_links(name: str, tmp_path: Path, ptxas: str, nvlink: str) -> None:
    """Functions of one program, some compiled here and some by ptxas, work together; a few of the ways."""
    chance = random.Random(name)
    linker = Linker(tmp_path, ptxas, nvlink)
    target = chance.choice(TARGETS)
    ways = splits(text(name, target))
    for there in chance.sample(ways[1:], 1):
        parts = splitting.split(text(name, target), there)
        for makers in ("op", "po"):
            level, limit = chance.choice((0, 1, 3)), chance.choice(LIMITS)
            image = linker.link(parts, makers, target, level, limit)
            assert launch(image) == (wanted(name), []), (target, sorted(there), makers, level, limit)
            assert check_cubin(read(image)).findings == []


@pytest.mark.measure
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_split(name: str, target: str, tmp_path: Path, ptxas: str, nvlink: str) -> None:
    linker = Linker(tmp_path, ptxas, nvlink)
    chance = random.Random(name + target)
    for there in splits(text(name, target))[:16]:
        parts = splitting.split(text(name, target), there)
        for makers in ("op", "po"):
            level, limit = chance.choice((0, 1, 3)), chance.choice(LIMITS)
            assert launch(linker.link(parts, makers, target, level, limit)) == (wanted(name), []), (there, makers, level, limit)


WHOLE = [name for name in portable.programs() if splitting.functions(portable.module(name, TARGETS[0]))]


@pytest.mark.measure
@pytest.mark.parametrize("name", WHOLE)
def test_mixed_links_of_whole_programs(name: str, tmp_path: Path, ptxas: str, nvlink: str) -> None:
    """Those that nvcc has made of CUDA among them: each split, up to four of them."""
    chance = random.Random(name)
    linker = Linker(tmp_path, ptxas, nvlink)
    entry = portable.programs()[name]
    ways = splits(portable.module(name, TARGETS[0]))
    for there in chance.sample(ways[1:], min(4, len(ways) - 1)):
        target = chance.choice(entry.targets)
        parts = splitting.split(portable.module(name, target), there)
        for makers in ("oo", "op", "po"):
            level, limit = chance.choice((0, 1, 3)), chance.choice(LIMITS)
            image = linker.link(parts, makers, target, level, limit)
            assert judge(entry, image, stack=STACK)[0] == "", (target, sorted(there), makers, level, limit)


PAIRS = Path(__file__).resolve().parents[1] / "data" / "pairs"
NAMES = sorted({path.name.split(".")[0] for path in PAIRS.glob("*.ptx")})


def pair(name: str, target: str) -> tuple[str, str]:
    """Two modules that name functions and variables of each other: weak, common, static ones of one name, tables ..."""
    first, second = ((PAIRS / f"{name}.{part}.ptx").read_text() for part in ("first", "second"))
    return first.replace(".target sm_75", f".target {target}"), second.replace(".target sm_75", f".target {target}")


@pytest.mark.parametrize("name", NAMES)
def test_pairs_have_code(name: str) -> None:
    for module in pair(name, "sm_90"):
        assert read(ours(module, "sm_90")).functions


@pytest.mark.measure
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", NAMES)
def test_pairs(name: str, target: str, tmp_path: Path, ptxas: str, nvlink: str) -> None:
    """Linked, they do what they do when ptxas has made both."""
    linker = Linker(tmp_path, ptxas, nvlink)
    right = launch(linker.link(pair(name, target), "pp", target, 3, None))[0]
    for makers in ("oo", "op", "po"):
        for level, limit in ((0, None), (1, 32), (3, 24), (3, None)):
            assert launch(linker.link(pair(name, target), makers, target, level, limit)) == (right, []), (makers, level, limit)
