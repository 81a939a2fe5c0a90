"""``oricgen new-opcode``: the rows of a new opcode."""

from __future__ import annotations

import argparse
import sys

NAME = "new-opcode"
HELP = "write the rows of a new opcode after another one, with the questions to answer"


def configure(parser: argparse.ArgumentParser) -> None:
    """Name, model, numbers."""
    parser.add_argument("name", metavar="NAME", help="name of the new opcode (IMAD_WIDE style)")
    parser.add_argument("--like", metavar="NAME", required=True, help="the opcode that it resembles most")
    parser.add_argument("--id", type=_number, metavar="N", help="an id that no document names; default: the next own one")
    parser.add_argument("--machine", type=_number, metavar="0xNNN", help="its machine opcode, bits 0-8 of the word; default: ask")
    parser.add_argument("--dry-run", action="store_true", help="print the edits, write nothing")


def _number(text: str) -> int:
    return int(text, 0)


def run(args: argparse.Namespace) -> int:
    """Edit spec/opcodes.yaml, spec/encoding and spec/latency."""
    from .. import kept
    from ..scaffold import opcode, report

    with kept.opened(args.root, keep=args.keep) as known:
        spec = known.spec
        sys.stdout.write(report(opcode.plan(args.root, spec, args.name, args.like, args.id, args.machine), spec, args.dry_run))
    return 0
