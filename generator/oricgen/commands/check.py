"""``oricgen check``: check the specification, write nothing."""

from __future__ import annotations

import argparse
import sys

NAME = "check"
_SOUND = "all"
HELP = "check the specification; write nothing but what is known of it then"


def configure(parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def run(args: argparse.Namespace) -> int:
    """Render everything into nothing: a mistake anywhere is an error, a file of an editor a warning."""
    from .. import kept

    with kept.opened(args.root, keep=args.keep) as known:
        if _SOUND in known.steps:
            return 0
        from ..checking import checked, remarks

        checked(known.spec, known.steps, render=False)
        said = remarks(known.spec)
        for text in said:
            print(f"oricgen: warning: {text}", file=sys.stderr)
        if not said:
            known.conclude(_SOUND)
    return 0
