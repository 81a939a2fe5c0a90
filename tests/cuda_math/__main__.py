"""Compare our code for CUDA's mathematics API with the vendor's; needs nvcc and ptxas 13 on PATH.

    python -m tests.cuda_math [--sm SM ...] [--group GROUP ...] [--function KERNEL ...] [--operands N]

Prints a line for each function whose results differ in a bit or that is refused, and the counts of every group and target;
doubles of which both are NaNs, but with other bits, are counted apart.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys

from tests.corpus.compile import ToolError

from .functions import GROUPS
from .measure import BLOCK, Outcome, measure

TARGETS = ("sm_75", "sm_90", "sm_120")
COUNT = 102_400


def _measured(question: tuple[str, str, int, tuple[str, ...]]) -> list[Outcome] | str:
    try:
        return list(measure(*question))
    except ToolError as error:
        return str(error)


def main() -> int:
    """Measure and print; 1 when anything differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.cuda_math", description="compare mathematics with ptxas's code")
    parser.add_argument("--sm", nargs="+", default=TARGETS, metavar="SM")
    parser.add_argument("--group", nargs="+", default=list(GROUPS), choices=list(GROUPS))
    parser.add_argument("--function", nargs="+", default=[], metavar="KERNEL")
    parser.add_argument("--operands", type=int, default=COUNT, help="for each function (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    args = parser.parse_args()
    count = -(-args.operands // BLOCK) * BLOCK
    questions = [(group, target, count, tuple(args.function)) for group in args.group for target in args.sm]
    failed = 0
    with multiprocessing.Pool(args.jobs) as pool:
        for (group, target, *_), found in zip(questions, pool.imap(_measured, questions), strict=True):
            if isinstance(found, str):
                print(f"{group} {target}: {found}")
                failed += 1
                continue
            wrong = [outcome for outcome in found if outcome.problem]
            failed += len(wrong)
            for outcome in wrong:
                print(f"    {outcome.function.name}: {outcome.problem}")
            nans = [f"{outcome.function.name} {outcome.nans}" for outcome in found if outcome.nans]
            print(f"{group:14} {target:8} {len(found):4} functions, {len(wrong)} differ", flush=True)
            if nans:
                print(f"    another NaN: {', '.join(nans)}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
