"""Every kernel at every limit: its allocation is proved, the hazard checker finds nothing, and it does what it should."""

from __future__ import annotations

import oric
import pytest
from oric.sass.check import check_cubin
from oric.sim import Modes
from oric.support import elf
from oric.support.targets import TargetError

from bench import modules
from tests.kernels import cases

LIMITS = (24, 32, 40, 64)
LEVELS = (0, 3)
TARGETS = ("sm_80", "sm_90")


def compiled(text: str, arch: str, level: int, limit: int) -> bytes:
    """The image, whose allocation was proved on the way as in all tests."""
    done = oric.compile(text, arch=arch, opt_level=level, maxrregcount=limit)
    assert all(kernel.registers <= limit or kernel.bounded for kernel in done.kernels.values())
    report = check_cubin(elf.read(done.image))
    assert (report.findings, report.unknown) == ([], [])
    image: bytes = done.image
    return image


@pytest.mark.sampled(5)
@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("arch", TARGETS)
def test_kernels(arch: str, level: int, limit: int) -> None:
    for file in cases.files():
        image = compiled(cases.ptx(file, arch), arch, level, limit)
        cases.launch(image, file, Modes(strict=True, memcheck=True))


# Modules with a matrix instruction of more operands than a limit of 24 allows, and their least limit; ptxas refuses them, too.
LEAST = dict.fromkeys(
    (
        *(f"nvcc/matrices.sm_{sm}" for sm in (75, 80, 90, 100, 120)),
        *(f"nvcc/sources.small_types.sm_{sm}" for sm in ("75.G", "80.lineinfo", "90a", "100a")),
        *(f"nvcc/suite.tiles.sm_{sm}" for sm in ("90a", "100a")),
    ),
    32,
) | {"nvcc/sim.gemm.sm_90a": 40, "nvcc/suite.tensor_memory.sm_100a": 40}
MODULES = {one.name: one for one in modules.corpora()}


@pytest.mark.measure
@pytest.mark.parametrize("name", list(MODULES)[::3])
def test_modules_of_other_compilers(name: str) -> None:
    """Two limits at each level, others for every second module; what no code is made of is refused at a limit just the same."""
    one, odd = MODULES[name], list(MODULES).index(name) % 2
    for arch in (one.target, "sm_80") if one.target == "sm_90" else (one.target,):
        if not modules.compiles(one._replace(target=arch), 0):
            with pytest.raises((oric.CompileError, TargetError)):
                oric.compile(one.text, arch=arch, maxrregcount=LIMITS[0])
            continue
        for level in LEVELS:
            for limit in LIMITS[odd ^ (level > 0) :: 2]:
                if limit < LEAST.get(name, 0):
                    with pytest.raises(oric.CompileError, match=f"registers .R. and {limit - 2} are available"):
                        oric.compile(one.text, arch=arch, opt_level=level, maxrregcount=limit)
                else:
                    compiled(one.text, arch, level, limit)


def test_modules_of_other_compilers_are_many() -> None:
    assert sum(modules.compiles(one, 0) for one in list(MODULES.values())[::10]) >= 10
