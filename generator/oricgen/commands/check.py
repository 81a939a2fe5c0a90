"""``oricgen check``: check the specification, write nothing."""

from __future__ import annotations

import argparse
import sys

NAME = "check"
HELP = "check the specification; write nothing"


def configure(parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def run(args: argparse.Namespace) -> int:
    """Render everything into nothing: a mistake anywhere is an error, a file of an editor a warning."""
    from ..checking import checked, remarks
    from ..spec import Spec

    spec = Spec(args.root / "spec")
    checked(spec)
    for text in remarks(spec):
        print(f"oricgen: warning: {text}", file=sys.stderr)
    return 0
