"""The examples of docs/assembler.md, run as they stand there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.e2e.commands import ROOT, environment

DOC = (ROOT / "docs" / "assembler.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", DOC, re.MULTILINE | re.DOTALL)


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = folder / "bin" / "oric"
    command.parent.mkdir(exist_ok=True)
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m oric.cli "$@"\n')
    command.chmod(0o755)
    path = environment()
    path["PATH"] = f"{command.parent}:{path['PATH']}"
    return subprocess.run(["sh", "-eu", "-c", script], cwd=folder, env=path, capture_output=True, text=True, check=False)


def test_patched_and_written_kernels_run(tmp_path: Path) -> None:
    for name in ("saxpy.ptx", "scale.sass", "scale.json"):
        (tmp_path / name).write_bytes((ROOT / "examples" / name).read_bytes())
    (launch,) = blocks("json")
    (tmp_path / "patched.json").write_text(launch)
    patch, written = blocks("sh")
    for script in (patch, written):
        done = run(script, tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "patched.cubin").read_bytes() != (tmp_path / "saxpy.cubin").read_bytes()


def test_unpatched_kernel_does_not_pass(tmp_path: Path) -> None:
    """The judge itself: the launch file of the example refuses the kernel without the patch."""
    (tmp_path / "saxpy.ptx").write_bytes((ROOT / "examples" / "saxpy.ptx").read_bytes())
    (tmp_path / "patched.json").write_text(blocks("json")[0])
    done = run("oric saxpy.ptx -arch sm_90 -o patched.cubin\noric run patched.json", tmp_path)
    assert done.returncode != 0
    assert "y" in done.stdout + done.stderr


def test_mistake_is_told_as_the_document_says(tmp_path: Path) -> None:
    said = re.search(r"^    saxpy\.sass:41:(25: .*; there is FADD).*\n    (\[.*)\n    ( *\^)$", DOC, re.MULTILINE)
    assert said is not None
    (tmp_path / "x.sass").write_text((ROOT / "examples" / "scale.sass").read_text().replace("done:", f"{said[2]}\ndone:"))
    done = run("oric asm x.sass", tmp_path)
    assert done.returncode == 1
    assert re.fullmatch(r"x\.sass:\d+:" + re.escape(said[1]) + ".*", done.stderr.splitlines()[0])
    assert done.stderr.splitlines()[1:] == [said[2], said[3]]
