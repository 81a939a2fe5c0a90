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
    for name in build(args.root, keep=args.keep):
        print(f"wrote build/{name}")
    return 0


def build(root: Path, *, keep: bool = False) -> list[str]:
    """Render everything below ``root/build``, unless it is there already; returns the files that changed.

    ``keep``: with what is known of the specification (:mod:`oricgen.kept`).

    Raises:
        SpecError: a mistake in the specification.
    """
    from .. import stamp

    if stamp.current(root):
        return []

    from .. import kept
    from ..outputs import render_all
    from ..render import write_tree
    from ..tables import all_tables

    with kept.opened(root, keep=keep) as known:
        for table in all_tables():
            known.step(f"table {table.NAME}", table.check)
        files = render_all(known.spec)
    for old in stamp.stale(root, files):
        old.unlink()
    changed = write_tree(root / "build", files)
    stamp.write(root, files)
    return changed
