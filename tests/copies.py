"""What tests share that change and build a copy of the project."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_BUILT = ("c", "flat", "known", "obj", "oric_rules", "oric_tables", "stamp")  # of build/: what the project's own build makes


def copy(root: Path, *parts: str) -> None:
    """Copy folders of the checkout to ``root``; of ``build`` what its own build makes."""
    for part in parts:
        (root / part).mkdir(parents=True)
        for path in sorted((ROOT / part).iterdir()):
            if path.name == "__pycache__" or (part == "build" and path.name not in _BUILT):
                continue
            if path.is_dir():
                shutil.copytree(path, root / part / path.name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(path, root / part / path.name)


def quick(scratch: Path) -> dict[str, str]:
    """Environment for building below ``scratch``: C code is not optimised, and compiled modules of the copy stay with it."""
    compiler = {"QUICK_CC_OF": os.environ.get("CC", "cc"), "CC": str(Path(__file__).with_name("quick_cc.sh"))}
    return {**compiler, "PYTHONPYCACHEPREFIX": str(scratch / "pycache")}
