"""``oric explain ocg:NAME``: what is known of an intrinsic."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterable

from oric_tables.intrinsics import OPERATIONS
from oric_tables.targets import TARGETS

from oric.driver.explain import DEFAULT_TARGET, SCHEME, explain

from . import ERROR_STATUS


def main(argv: list[str]) -> int:
    """Print the page of an intrinsic, or the list of them; returns the exit status."""
    parser = argparse.ArgumentParser(prog="oric explain", description="What is known of an intrinsic.")
    parser.add_argument("name", metavar="NAME", help="ocg:OPERATION, for example ocg:tcmma; ocg: lists the operations")
    parser.add_argument("--sm", default=DEFAULT_TARGET, metavar="TARGET", help=f"for which target (default: {DEFAULT_TARGET})")
    try:
        args = parser.parse_args(argv)
    except SystemExit as end:
        return ERROR_STATUS if end.code else 0
    name = args.name.removeprefix(SCHEME)
    if not args.name.startswith(SCHEME):
        return _refuse(f"'{args.name}' is no name of an intrinsic: write {SCHEME}OPERATION")
    if args.sm not in TARGETS:
        return _refuse(f"unknown target '{args.sm}'{_near(args.sm, TARGETS)}")
    if not name:
        sys.stdout.writelines(f"{SCHEME}{key:28}{operation.doc}\n" for key, operation in OPERATIONS.items())
        return 0
    if name not in OPERATIONS:
        return _refuse(f"there is no operation '{name}'{_near(name, OPERATIONS)}")
    sys.stdout.write(explain(args.name, args.sm))
    return 0


def _refuse(message: str) -> int:
    print(f"oric: error: {message}", file=sys.stderr)
    return ERROR_STATUS


def _near(name: str, known: Iterable[str]) -> str:
    found = difflib.get_close_matches(name, known, 1)
    return f"; did you mean '{found[0]}'?" if found else ""
