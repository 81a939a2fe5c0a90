"""Command line of the generator; the commands are the modules of :mod:`oricgen.commands`."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from pathlib import Path

from .commands import all_commands
from .errors import MOST, SpecError, UsageError

CHECKOUT = Path(__file__).resolve().parents[2]
ROOT = CHECKOUT if (CHECKOUT / "spec").is_dir() else Path.cwd()  # installed: the folder one stands in


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="oricgen", description="Compile, check, review and extend the tables of spec/.")
    parser.add_argument("--root", type=Path, default=ROOT, help="project folder (default: the checkout)")
    sub = parser.add_subparsers(dest="command", required=True)
    for command in all_commands():
        own = sub.add_parser(command.NAME, help=command.HELP, description=command.HELP)
        command.configure(own)
        own.set_defaults(run=command.run)
    return parser


def main(argv: list[str], *, keep: bool = False) -> int:
    """Run the command line; returns the exit status. ``keep``: what is learned of the specification is kept (:mod:`.kept`)."""
    args = _parser().parse_args(argv, argparse.Namespace(keep=keep))
    try:
        status = int(args.run(args))
        sys.stdout.flush()
        return status
    except SpecError as error:
        for one in error.all()[:MOST]:
            print(f"oricgen: error: {one}", file=sys.stderr)
        if len(error.others) >= MOST:
            print(f"... and {len(error.others) + 1 - MOST} more", file=sys.stderr)
        return 2
    except UsageError as error:
        print(f"oricgen: error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # `oricgen query ... | head`: the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except ModuleNotFoundError as error:
        print(f"oricgen: error: {error.name} is not installed: pip install 'oric[spec]'", file=sys.stderr)
        return 2


def entry() -> None:
    """The ``oricgen`` console script. It ends before there is garbage enough to look for."""
    gc.disable()
    sys.exit(main(sys.argv[1:], keep=True))
