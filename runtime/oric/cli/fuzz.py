"""``oric fuzz``: random kernels through the compiler and the simulator; failures are shrunk and kept."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path
from typing import Final

from oric_tables.targets import TARGETS

from oric.fuzz.campaign import KINDS, campaign, program_of
from oric.sass.arguments import Parser, UsageError
from oric.support.files import OutputError
from oric.support.targets import TargetError, find_target

FAILED_STATUS: Final = 1
TROUBLE_STATUS: Final = 2
_MOST_SEED: Final = 1 << 62


def main(argv: list[str]) -> int:
    """Run ``oric fuzz``; returns the exit status: 0 nothing failed, 1 something did, 2 the arguments or the folder are wrong."""
    try:
        args = _parser().parse_args(argv)
        targets = [find_target(name, "arch").name for name in args.arch or list(TARGETS)]
        if min(args.count, args.seed, args.size) < 0 or args.seed > _MOST_SEED or args.seconds < 0:
            raise UsageError("numbers of programs, seeds, statements and seconds are not negative")
        if args.show:
            sys.stdout.write(program_of(args.seed, targets[0], args.size, args.kind).text(targets[0]))
            return 0
        return _run(args, targets)
    except (UsageError, TargetError, OutputError) as error:
        print(f"oric: error: {error}", file=sys.stderr)
        return TROUBLE_STATUS


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="oric fuzz",
        description="Compile random PTX kernels at every level, run them in the simulator, compare with a reference and ptxas.",
    )
    parser.add_argument(
        "-arch", "--arch", metavar="SM", action="append", help="a target; may be repeated; without it all in turn"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the first program; the next have the next ones")
    parser.add_argument("--count", type=int, default=100, metavar="N", help="number of programs (100)")
    parser.add_argument("--seconds", type=float, default=0.0, metavar="T", help="stop after this time")
    parser.add_argument("--kind", choices=list(KINDS), default="kernels", help="calls: with functions that call each other")
    parser.add_argument("--size", type=int, default=0, metavar="N", help="statements of a program; without it, 10 to 100")
    parser.add_argument("-o", "--output", default="oric-fuzz", metavar="FOLDER", help="where failures are kept (oric-fuzz)")
    parser.add_argument("--no-ptxas", action="store_true", help="do not ask ptxas, even when it is on PATH")
    parser.add_argument("--show", action="store_true", help="print the program of --seed and stop")
    return parser


def _run(args: argparse.Namespace, targets: list[str]) -> int:
    ptxas = None if args.no_ptxas else shutil.which("ptxas")
    if ptxas is None and not args.no_ptxas:
        print("oric: there is no ptxas on PATH: programs are compared with the reference alone", file=sys.stderr)
    until = time.monotonic() + args.seconds if args.seconds else 0.0
    seeds = range(args.seed, args.seed + args.count)
    counts, kept = campaign(
        targets, seeds, Path(args.output), ptxas, args.size, until, say=lambda line: print(line, flush=True), kind=args.kind
    )
    parts = ", ".join(f"{count} {name}" for name, count in sorted(counts.items(), key=lambda item: item[0] != "right"))
    print(f"{counts.get('right', 0) + counts.get('failing', 0)} programs: {parts}" if parts else "no programs")
    return FAILED_STATUS if kept else 0
