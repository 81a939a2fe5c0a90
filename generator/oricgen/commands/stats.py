"""``oricgen stats``: how many rows each table has."""

from __future__ import annotations

import argparse

NAME = "stats"
HELP = "print how many rows each table of the specification has"


def configure(parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def run(args: argparse.Namespace) -> int:
    """Print one count a line: the table's name, the count, what is counted."""
    from .. import kept
    from ..tables import all_tables

    with kept.opened(args.root, keep=args.keep) as known:
        for table in all_tables():
            for what, count in table.counts(known.spec).items():
                print(f"{table.NAME:16} {count:6}  {what}")
    return 0
