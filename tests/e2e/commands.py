"""Runs the oric command in a process of its own, as users do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATHS = [str(ROOT / part) for part in ("runtime", "generator", "build")]


def environment(**more: str) -> dict[str, str]:
    """This process's environment with this checkout in front of the module path."""
    return os.environ | {"PYTHONPATH": os.pathsep.join([*PATHS, str(ROOT)])} | more


def oric(*words: str | Path, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run `oric WORDS...` in a folder; nothing is raised for a bad exit status."""
    return subprocess.run(
        [sys.executable, "-m", "oric.cli", *map(str, words)],
        cwd=cwd, env=environment(**more), capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
