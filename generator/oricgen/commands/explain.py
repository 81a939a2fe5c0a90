"""``oricgen explain``: all that is known of a name."""

from __future__ import annotations

import argparse
import sys

NAME = "explain"
HELP = "print all that is known of an opcode, a target, a PTX instruction, or any other row"
_EPILOG = """\
examples:
  oricgen explain FADD --sm sm_90     an opcode: identity, forms, bits, latency, meaning, the rules that make it
  oricgen explain IADD3.X             one operation of it
  oricgen explain 205                 an opcode by its id
  oricgen explain add.f32             a PTX instruction: forms and the code that it becomes
  oricgen explain sm_90               a target; likewise a phase, a rule, any key that `oricgen query` shows
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The name, and a target to limit the answer to."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument("name", metavar="NAME", help="what to explain")
    parser.add_argument("--sm", metavar="sm_NN", help="only the machine forms, timings and rules of this target")


def run(args: argparse.Namespace) -> int:
    """Print the pages."""
    from .. import kept
    from ..explain import explain

    with kept.opened(args.root, keep=args.keep) as known:
        sys.stdout.write(explain(known.spec, args.name, args.sm))
    return 0
