"""Extra lane: NVIDIA's disassembler reads every cubin whole and prints the instructions and labels that `oric disasm` prints.

Needs nvdisasm 13 (PATH or $NVDISASM); without it the lane is left out and the summary of the test run says so.
"""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
from pathlib import Path

import oric
import pytest
from oric.cli import main as command

from tests.kernels import cases


def code_lines(text: str) -> list[str]:
    """Instructions with their offsets, labels and section names of a listing, without directives, comments and layout."""
    lines = []
    for line in text.splitlines():
        line = line.rstrip()
        instruction = re.match(r"\s*/\*([0-9a-f]+)\*/\s+(.*?)\s*;?$", line)
        if instruction:
            lines.append(f"{instruction[1]} {' '.join(instruction[2].split())}")
        elif re.match(r"[.$\w]+:$", line):
            lines.append(line)
    return lines


def compare(nvdisasm: str, image: bytes, folder: Path) -> int:
    """Compare both listings of a cubin; gives the number of instructions."""
    (folder / "in.cubin").write_bytes(image)
    theirs = subprocess.run([nvdisasm, "-c", "in.cubin"], cwd=folder, capture_output=True, text=True, check=False)
    assert theirs.returncode == 0, theirs.stderr
    ours = io.StringIO()
    with contextlib.redirect_stdout(ours):
        assert command(["disasm", "--plain", str(folder / "in.cubin")]) == 0
    expected = code_lines(theirs.stdout)
    assert code_lines(ours.getvalue()) == expected
    return sum(1 for line in expected if not line.endswith(":"))


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("target", cases.TARGETS)
@pytest.mark.parametrize("file", cases.files())
def test_own_cubin(nvdisasm: str, tmp_path: Path, file: str, target: str, level: int) -> None:
    cubin = oric.compile(cases.ptx(file, target), arch=target, opt_level=level)
    assert compare(nvdisasm, cubin.image, tmp_path) >= sum(kernel.instructions for kernel in cubin.kernels.values())


@pytest.mark.parametrize("target", cases.TARGETS)
@pytest.mark.parametrize("file", cases.files())
def test_ptxas_cubin(nvdisasm: str, tmp_path: Path, file: str, target: str) -> None:
    assert compare(nvdisasm, cases.golden_cubin(file, target), tmp_path) > 10


def test_reader_of_listings() -> None:
    """The comparison sees instructions and labels, and sees a difference."""
    text = "\t.target\tsm_90\nk:\n.text.k:\n        /*0000*/                   MOV R1,  R2 ;\n.L_x_0:\n[B0] /*0010*/ EXIT ;\n"
    assert code_lines(text) == ["k:", ".text.k:", "0000 MOV R1, R2", ".L_x_0:"]
