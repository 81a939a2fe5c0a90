"""``oricgen compiled``: compile the parser with mypyc."""

from __future__ import annotations

import argparse

NAME = "compiled"
HELP = "compile the parser's hot modules with mypyc into build/compiled/"


def configure(parser: argparse.ArgumentParser) -> None:
    """No options."""


def run(args: argparse.Namespace) -> int:
    """Print the folder to put on the path before runtime/."""
    from ..compiled import build_compiled

    print(build_compiled(args.root))
    return 0
