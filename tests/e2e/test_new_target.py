"""A new SM target is an edit of spec/sm_targets.yaml and nothing else."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.commands import ROOT, environment
from tests.kernels import cases

CODE = """
import sys
import numpy as np
import oric
from tests.kernels import cases
text = cases.ptx("saxpy", "sm_90").replace(".target sm_90", ".target sm_91")
cubin = oric.compile(text, arch="sm_91")
assert oric.__file__.startswith(sys.argv[1]), oric.__file__
module = oric.sim.load(cubin.image)
for case in cases.CASES:
    if case.file == "saxpy":
        for step in case.build():
            module.launch(step.kernel, grid=step.grid, block=step.block, args=step.args)
            step.check()
open("saxpy.cubin", "wb").write(cubin.image)
"""


@pytest.fixture
def edited(tmp_path: Path) -> Path:
    """A copy of the project where sm_targets.yaml has a second sm_90 under the name sm_91, with its tables built."""
    for part in ("spec", "runtime"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    targets = tmp_path / "spec" / "sm_targets.yaml"
    text = targets.read_text()
    block = re.search(r"^  sm_90:\n(?:    .*\n|\n)+", text, flags=re.M)
    assert block
    copy = block[0].replace("  sm_90:", "  sm_91:", 1).replace("number: 90", "number: 91", 1)
    targets.write_text(text[: block.end()] + copy + text[block.end() :])
    generator = [sys.executable, "-m", "oricgen", "--root", str(tmp_path)]
    subprocess.run([*generator, "build"], env=environment(), check=True, capture_output=True)
    # The C sources are the same, so the compiled module is too; otherwise it would be built here.
    ours = {path.name: path.read_bytes() for path in (tmp_path / "build" / "c").iterdir()}
    stored = {path.name: path.read_bytes() for path in (ROOT / "build" / "c").iterdir() if path.name in ours}
    if ours == stored:
        for module in (ROOT / "build" / "oric_tables").glob("_native*"):
            shutil.copy(module, tmp_path / "build" / "oric_tables" / module.name)
    else:
        subprocess.run([*generator, "native"], env=environment(), check=True, capture_output=True)
    return tmp_path


def test_copied_target_compiles_saxpy(edited: Path) -> None:
    paths = ":".join(map(str, [edited / "runtime", edited / "build", ROOT]))
    subprocess.run([sys.executable, "-c", CODE, str(edited)], cwd=edited, env=environment(PYTHONPATH=paths), check=True)
    assert cases.ptx("saxpy", "sm_90")
    plain = subprocess.run(
        [sys.executable, "-m", "oric.cli", "disasm", "saxpy.cubin"], cwd=edited, env=environment(PYTHONPATH=paths), check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    assert "FFMA" in plain.stdout
