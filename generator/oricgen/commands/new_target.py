"""``oricgen new-target``: the row of a new target."""

from __future__ import annotations

import argparse
import sys

NAME = "new-target"
HELP = "write the row of a new target from another one, with the questions to answer"


def configure(parser: argparse.ArgumentParser) -> None:
    """Name and base."""
    parser.add_argument("name", metavar="sm_NNN", help="the new target, or one of which only facts are known so far")
    parser.add_argument("--from", dest="base", metavar="sm_MMM", required=True, help="the target that it resembles most")
    parser.add_argument("--dry-run", action="store_true", help="print the edits, write nothing")


def run(args: argparse.Namespace) -> int:
    """Edit spec/sm_targets.yaml."""
    from .. import kept
    from ..scaffold import report, target

    with kept.opened(args.root, keep=args.keep) as known:
        spec = known.spec
        sys.stdout.write(report(target.plan(args.root, spec, args.name, args.base), spec, args.dry_run))
    return 0
