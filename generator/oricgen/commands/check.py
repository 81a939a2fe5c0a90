"""``oricgen check``: check the specification, write nothing."""

from __future__ import annotations

import argparse

NAME = "check"
HELP = "check the specification; write nothing"


def configure(parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def run(args: argparse.Namespace) -> int:
    """Render everything into nothing: a mistake anywhere is an error."""
    from ..outputs import render_all
    from ..spec import Spec
    from ..tables import check_all

    spec = Spec(args.root / "spec")
    check_all(spec)
    render_all(spec)
    return 0
