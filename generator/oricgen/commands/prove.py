"""``oricgen prove``: try both sides of every rewrite rule on random operands."""

from __future__ import annotations

import argparse
import sys
from functools import partial

NAME = "prove"
HELP = "prove the rewrite rules on random operands"
EPILOG = """\
Both sides of a rule are computed by the values of their operations, on operands that include the special ones of integers and
floats; so are the sources that may change places. It needs what `oricgen build` and `oricgen native` make.
Exit status: 0 all hold, 1 a rule is refuted (file, line and operands on standard error), 2 the specification is invalid.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The files whose rules are tried."""
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("files", metavar="FILE", nargs="*", help="files of spec/rewrites (default: all)")


def run(args: argparse.Namespace) -> int:
    """Print how much was tried for each file; 1 when a rule is refuted."""
    from ..errors import UsageError
    from ..rewriting import checks, resolve
    from ..rewriting.proof import Prover, Refuted
    from ..spec import Spec

    spec = Spec(args.root / "spec")
    rules, resolver = resolve.load(spec), resolve.Resolver(spec)
    checks.check(rules, resolver)
    known = [str(spec.path(name)) for name in spec.names(resolve.FOLDER)]
    if unknown := [name for name in args.files if not _chosen(known, name)]:
        raise UsageError(f"{unknown[0]}: no such file of spec/{resolve.FOLDER}; there are {', '.join(known)}")
    prover = Prover(resolver, rules)
    refuted = 0
    for path in [path for path in known if not args.files or any(_chosen([path], name) for name in args.files)]:
        mine = [partial(prover.prove, rule) for rule in rules.rules if rule.path == path]
        swaps = [partial(prover.prove_commute, name, entry) for name, entry in rules.commute.items() if entry.path == path]
        tuples = 0
        for prove in (*mine, *swaps):
            try:
                tuples += prove()
            except Refuted as error:
                refuted += 1
                print(f"oricgen: error: {error}", file=sys.stderr)
        print(f"{path}: {len(mine)} rules, {len(swaps)} operations that commute, {tuples} tuples of operands")
    return 1 if refuted else 0


def _chosen(paths: list[str], name: str) -> bool:
    """Whether a name on the command line is one of the files: its path, or the end of it."""
    return any(path == name or path.endswith(f"/{name}") for path in paths)
