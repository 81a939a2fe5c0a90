"""``python -m tests.ir.cases``: see the package."""

import argparse

from tests.ir.cases import all_cases, bless, difference


def main() -> None:
    parser = argparse.ArgumentParser(description="Shows which cases in plain text differ, or takes over what comes out.")
    parser.add_argument("--bless", action="store_true", help="write what comes out now; without it, show what differs")
    parser.add_argument("pattern", nargs="?", default="", help="part of the path of the cases; all without it")
    args = parser.parse_args()
    for case in all_cases(args.pattern):
        if args.bless and bless(case):
            print(f"wrote {case.path}")
        elif not args.bless and (shown := difference(case, case.result())):
            print(shown)


if __name__ == "__main__":
    main()
