"""``oricgen check``: check the specification, write nothing."""

from __future__ import annotations

import argparse

NAME = "check"
_SOUND = "all"
HELP = "check the specification; write nothing but what is known of it then"


def configure(parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def run(args: argparse.Namespace) -> int:
    """Render everything into nothing: a mistake anywhere is an error."""
    from .. import kept

    with kept.opened(args.root, keep=args.keep) as known:
        if _SOUND not in known.steps:
            from ..outputs import all_outputs
            from ..tables import all_tables

            for table in all_tables():
                known.step(f"table {table.NAME}", table.check)
            for output in all_outputs():
                known.step(f"output {output.__name__}", output.render)
            known.conclude(_SOUND)
    return 0
