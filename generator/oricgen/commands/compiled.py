"""``oricgen compiled``: compile the hot modules with mypyc."""

from __future__ import annotations

import argparse

NAME = "compiled"
HELP = "compile the hot modules with mypyc into build/compiled/"


def configure(parser: argparse.ArgumentParser) -> None:
    """No options."""


def run(args: argparse.Namespace) -> int:
    """Say what is compiled; nothing when all is as it was."""
    from ..compiled import build_compiled

    build_compiled(args.root, lambda text: print(f"oricgen: {text}", flush=True))
    return 0
