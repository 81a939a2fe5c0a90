"""``oricgen build``: write the generated tables and C source."""

from __future__ import annotations

import argparse
from pathlib import Path

NAME = "build"
HELP = "write the generated tables and C source to build/"


def configure(parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def run(args: argparse.Namespace) -> int:
    """Print what was written."""
    for name in build(args.root):
        print(f"wrote build/{name}")
    return 0


def build(root: Path) -> list[str]:
    """Render everything below ``root/build``; returns the files that changed.

    Raises:
        SpecError: a mistake in the specification.
    """
    from ..outputs import render_all
    from ..render import write_tree
    from ..spec import Spec
    from ..tables import check_all

    spec = Spec(root / "spec")
    check_all(spec)
    files = render_all(spec)
    out = root / "build"
    for folder in ("oric_tables", "c", "flat"):
        for old in (out / folder).glob("*.*"):
            name = f"{folder}/{old.name}"
            if name not in files and old.suffix in (".py", ".c", ".h", ".txt"):
                old.unlink()
    return write_tree(out, files)
