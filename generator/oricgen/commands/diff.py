"""``oricgen diff``: what a change of the specification means, as one page."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

NAME = "diff"
HELP = "write one page that says what a change of the specification means"
EPILOG = """\
Without a revision it compares HEAD with the working tree, with one that revision with the working tree, with two the first
with the second. Exit status: 0 nothing differs (and nothing is printed), 1 something does, 2 a specification is invalid.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """What to compare, where to write, how much."""
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("revisions", metavar="REV", nargs="*", help="revisions of git, two at most")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="write the page to FILE (default: standard output)")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--kernels", metavar="GLOB", action="append", help="sample kernels to compile (default: all)")
    which.add_argument("--no-kernels", action="store_true", help="compile none")
    parser.add_argument("--comment", action="store_true", help="60 lines at most, details folded: for a change request")
    parser.add_argument("--limit", metavar="N", type=int, default=40, help="most entries of a section, 0 for all (default: 40)")


def run(args: argparse.Namespace) -> int:
    """Print the page; 1 when there is one."""
    from ..errors import UsageError
    from ..review import comment, review, revisions
    from ..review import kernels as sample_kernels

    if len(args.revisions) > 2:
        raise UsageError("two revisions at most")
    root = args.root.resolve()
    kernels = [] if args.no_kernels else sample_kernels.samples(root, args.kernels or ())
    if args.kernels and not kernels:
        raise UsageError(f"no file fits {' or '.join(args.kernels)}")
    with revisions.versions(root, args.revisions) as versions:
        page = review.page(*versions, root, kernels, args.limit)
    if page and args.comment:
        page = comment.comment(page)
    if args.output:
        args.output.write_text(page, encoding="utf-8")
    else:
        sys.stdout.write(page)
    return 1 if page else 0
