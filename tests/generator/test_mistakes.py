"""Every mistake of tests/generator/mistakes is refused with the right file, line and words."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.generator import planted
from tests.generator.planted import FOLDER, ROOT, Mistake

CASES = [(path.stem, m) for path in sorted(FOLDER.glob("*.yaml")) for m in planted.read(path)]


@pytest.mark.parametrize(("table", "mistake"), CASES, ids=[f"{t}: {m.name}" for t, m in CASES])
def test_mistake(table: str, mistake: Mistake) -> None:
    error = planted.errors({mistake.file: mistake.text()})
    assert error is not None, "nothing is said of it"
    assert str(error).startswith(f"spec/{mistake.place}:"), str(error)
    assert mistake.message in error.message
    assert error.line in mistake.lines(), str(error)


def test_names_are_unique() -> None:
    names = [(t, m.name) for t, m in CASES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("command", ["build", "check"])
def test_on_the_command_line(tmp_path: Path, command: str) -> None:
    """Exit status 2, one line on standard error, no traceback, nothing written."""
    shutil.copytree(ROOT / "spec", tmp_path / "spec")
    _, mistake = CASES[0]
    (tmp_path / "spec" / mistake.file).write_text(mistake.text(), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "oricgen", "--root", str(tmp_path), command],
        env={"PYTHONPATH": str(ROOT / "generator"), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"oricgen: error: spec/{mistake.place}:{mistake.lines()[0]}: ")
    assert len(done.stderr.splitlines()) == 1
    assert {p.name for p in tmp_path.iterdir()} == {"spec"}
