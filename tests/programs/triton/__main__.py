"""Compile and run the kernels that Triton made PTX of.

    python -m tests.programs.triton [NAME ...] [--sm NUMBER ...] [--level N] [--vendor]   # judge our code, or ptxas's
    python -m tests.programs.triton --compare [NAME ...] [--sm NUMBER ...]                # ours beside ptxas -O3's
    python -m tests.programs.triton --make [NAME ...]                                     # the PTX anew; needs Triton 3.6
    python -m tests.programs.triton --driver PTXAS [NAME ...]                             # Triton calls this program as ptxas

NAME may be a pattern (``'product_*'``).
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
from collections import Counter

from tests.corpus.compile import need
from tests.cubin.loader_facts import ptxas_image
from tests.programs.compare import compare
from tests.programs.triton import make, stored
from tests.programs.triton.case import ALL, instances
from tests.programs.triton.compare import subjects
from tests.programs.triton.measure import every, judge, problem, sm


def main() -> int:
    """Returns the exit status: 1 when anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.programs.triton", description="kernels of Triton")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--sm", nargs="+", type=int, default=ALL, choices=ALL)
    parser.add_argument("--level", type=int, default=3)
    parser.add_argument("--vendor", action="store_true", help="judge ptxas's code")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--make", action="store_true")
    parser.add_argument("--driver", metavar="PTXAS")
    args = parser.parse_args()
    patterns = args.names or ["*"]
    names = [name for name in instances() if any(fnmatch.fnmatch(name, p) for p in patterns)]
    which = [(name, target) for name, target in every() if name in names and target in args.sm]
    if args.make:
        return make.make(names if args.names else [])
    if args.driver:
        return make.drive(args.driver, which)
    if args.compare:
        compare(need("ptxas"), subjects(which))
        return 0
    counts: Counter[str] = Counter()
    for name, target in which:
        if args.vendor:
            image = ptxas_image(need("ptxas"), stored.ptx(name, target), sm(target))
            found = "refused: by ptxas" if image is None else judge(name, target, image, checked=False)
        else:
            found = problem(name, target, args.level)
        counts[kind := "right" if not found else "refused" if found.startswith("refused") else "wrong"] += 1
        if kind != "right":
            print(f"{name} {sm(target)}: {found}", flush=True)
    print(f"{counts['right']} right, {counts['wrong']} wrong, {counts['refused']} refused")
    return int(counts["wrong"] > 0)


if __name__ == "__main__":
    sys.exit(main())
