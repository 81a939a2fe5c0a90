"""Run the programs as this compiler compiles them.

    python -m tests.programs [--sm SM ...] [--source FILE ...] [--kernel NAME ...] [--list] [--vendor]

Prints what is wrong, a line a target, and with ``--list`` what is refused and why. With ``--vendor`` ptxas's code of the same
PTX is judged too.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections import Counter

from tests.corpus.compile import need
from tests.cubin.loader_facts import ptxas_image
from tests.programs.measure import TARGETS, Outcome, measure
from tests.programs.stored import sources


def _measured(question: tuple[str, str, tuple[str, ...], bool]) -> list[Outcome]:
    source, target, names, vendor = question
    return list(measure(source, target, names, (lambda text, sm: ptxas_image(need("ptxas"), text, sm)) if vendor else None))


def main() -> int:
    """Measure and print; 1 when anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.programs", description="compile and run whole programs")
    parser.add_argument("--sm", nargs="+", default=TARGETS, metavar="SM")
    parser.add_argument("--source", nargs="+", default=sources(), choices=sources())
    parser.add_argument("--kernel", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--list", action="store_true", help="name what is refused")
    parser.add_argument("--vendor", action="store_true", help="judge ptxas's code too")
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    args = parser.parse_args()
    failed = 0
    with multiprocessing.Pool(args.jobs) as pool:
        for target in args.sm:
            counts: Counter[str] = Counter()
            for found in pool.imap(_measured, [(source, target, tuple(args.kernel), args.vendor) for source in args.source]):
                for outcome in found:
                    kind = "refused" if outcome.refusal else "wrong" if outcome.problem else "right"
                    counts[kind] += 1
                    if outcome.problem or (outcome.refusal and args.list):
                        print(
                            f"    {target} -O{outcome.level} {outcome.kernel}: {outcome.refusal or outcome.problem}", flush=True
                        )
            failed += counts["wrong"]
            print(
                f"{target:8} {counts['right']:4} right, {counts['wrong']} wrong, {counts['refused']} kernels refused", flush=True
            )
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
