"""``oricgen native``: compile the C module."""

from __future__ import annotations

import argparse

NAME = "native"
HELP = "compile the C module into build/oric_tables/"


def configure(parser: argparse.ArgumentParser) -> None:
    """Which build."""
    parser.add_argument("--sanitize", action="store_true", help="with AddressSanitizer and UBSan")


def run(args: argparse.Namespace) -> int:
    """Print the path of the module."""
    from ..native import build_native

    print(build_native(args.root, sanitize=args.sanitize))
    return 0
