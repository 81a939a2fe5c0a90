"""The example of the README, step by step as `make demo` runs it."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.commands import ROOT, oric
from tests.kernels import cases


def test_demo(tmp_path: Path) -> None:
    for name in ("saxpy.ptx", "saxpy.json"):
        (tmp_path / "examples").mkdir(exist_ok=True)
        (tmp_path / "examples" / name).write_bytes((ROOT / "examples" / name).read_bytes())
    (tmp_path / "out").mkdir()
    compiled = oric("examples/saxpy.ptx", "-arch", "sm_90", "-o", "out/saxpy.cubin", "-v", cwd=tmp_path)
    assert compiled.returncode == 0, compiled.stderr
    assert "Compiling entry function 'saxpy' for 'sm_90'" in compiled.stderr
    listing = oric("disasm", "out/saxpy.cubin", cwd=tmp_path)
    assert listing.returncode == 0, listing.stderr
    for word in ("FFMA", "LDG.E", "STG.E", "EXIT"):
        assert word in listing.stdout
    run = oric("run", "examples/saxpy.json", cwd=tmp_path)
    assert run.returncode == 0, run.stderr


def test_example_is_the_tested_kernel() -> None:
    assert (ROOT / "examples" / "saxpy.ptx").read_text() == cases.ptx("saxpy", "sm_75")
