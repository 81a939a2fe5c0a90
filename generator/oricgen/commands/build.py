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
    """Render everything below ``root/build``, unless it is there already; returns the files that changed.

    Raises:
        SpecError: a mistake in the specification.
    """
    from .. import stamp

    if stamp.current(root):
        return []

    from ..outputs import render_all
    from ..render import write_tree
    from ..spec import Spec
    from ..tables import check_all

    spec = Spec(root / "spec")
    check_all(spec)
    files = render_all(spec)
    for old in stamp.stale(root, files):
        old.unlink()
    changed = write_tree(root / "build", files)
    stamp.write(root, files)
    return changed
