"""Products and sums against ptxas's code of the same PTX, bit for bit: where one fuses and the other does not, bits differ."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import oric
import pytest
from oric.driver import CompileOptions, compile_text

from tests.phases.contraction import CASES, PLACES, THREADS, Case, operands, sums

NAN = 0x7FF8000000000000


def _bits(image: bytes, kind: str) -> list[int]:
    """What is stored; a NaN of a double is one NaN, for its sign is that of the operand that stands first in the sum."""
    out = np.zeros((THREADS, PLACES), np.uint64)
    oric.sim.load(image).launch("k", 1, THREADS, [out, operands(1, kind)])
    if kind == "f64":
        out[np.isnan(out.view(np.float64))] = NAN
    found: list[int] = out.ravel().tolist()
    return found


def _agree(case: Case, kind: str, arch: str, folder: Path, level: int = 3, fmad: bool = True) -> bool:
    text = case.text(kind, arch)
    path = folder / "k.ptx"
    path.write_text(text, encoding="utf-8")
    options = [f"-O{level}", f"--fmad={str(fmad).lower()}", f"-arch={arch}"]
    subprocess.run(["ptxas", *options, str(path), "-o", str(folder / "k.cubin")], check=True, capture_output=True)
    ours = compile_text(text, CompileOptions(arch, level, contract=fmad, verify=True)).image
    return _bits(ours, kind) == _bits((folder / "k.cubin").read_bytes(), kind)


def _arch(kind: str) -> str:
    return "sm_100" if kind == "f32x2" else "sm_90"


@pytest.mark.measure
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_case(case: Case, ptxas: str, tmp_path: Path) -> None:
    ways = [(level, fmad) for level in range(4) for fmad in (True, False)]
    for kind in case.types:
        for level, fmad in ways:
            if kind == "f32x2" and not fmad and level:
                continue  # ptxas fuses pairs of f32 whatever the option says
            assert _agree(case, kind, _arch(kind), tmp_path, level, fmad), (kind, level, fmad)


def test_random_sums(ptxas: str, tmp_path: Path) -> None:
    wrong = [n for n in range(6) if not _agree(Case("random", sums(n), 0, 0), "f32", "sm_90", tmp_path)]
    assert not wrong


@pytest.mark.measure
@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_120"])
def test_many_random_sums(arch: str, ptxas: str, tmp_path: Path) -> None:
    wrong = [
        (n, kind) for n in range(100) for kind in ("f32", "f64") if not _agree(Case("", sums(n), 0, 0), kind, arch, tmp_path)
    ]
    assert not wrong
