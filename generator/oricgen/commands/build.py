"""``oricgen build``: write the generated tables and C source."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..errors import UsageError

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
        UsageError: a file cannot be written.
    """
    from .. import stamp

    if stamp.current(root):
        return []

    from .. import kept
    from ..checking import checked
    from ..render import write_tree
    from ..tables import knobs

    with kept.opened(root, keep=keep) as known:
        files = checked(known.spec, known.steps)
        if (root / "runtime/oric").is_dir():
            knobs.check_readers(known.spec, root)
    try:
        for old in stamp.stale(root, files):
            old.unlink()
        changed = write_tree(root / "build", files)
        stamp.write(root, files)
    except OSError as error:
        place = _below(root, error.filename)
        raise UsageError(f"{place} cannot be written: {error.strerror or error}") from error
    return changed


def _below(root: Path, name: object) -> str:
    """How messages call a file: relative to the project folder."""
    path = Path(str(name)) if name else root / "build"
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
