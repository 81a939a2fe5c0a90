"""Compile and run the kernels of this folder.

    python -m tests.programs.tiles [NAME ...] [--sm SM ...] [--level N] [--vendor]   # judge our code, or ptxas's
    python -m tests.programs.tiles --compare [NAME ...] [--sm SM ...]                # ours beside ptxas -O3's
    python -m tests.programs.tiles --make [SOURCE ...]                               # the PTX anew; needs nvcc 13

NAME may be a pattern (``'product_*'``).
"""

from __future__ import annotations

import argparse
import fnmatch
import sys

from tests.corpus.compile import need
from tests.cubin.loader_facts import ptxas_image
from tests.programs import archive, cuda
from tests.programs.compare import compare
from tests.programs.tiles.case import FILE, HERE, module, programs
from tests.programs.tiles.measure import judge, problem, subject


def make(names: list[str]) -> int:
    """Store the PTX of the sources of these names, of all where none is given."""
    found = dict(archive.read(FILE)) if names and FILE.exists() else {}
    for path in sorted(HERE.glob("*.cu")):
        if not names or path.stem in names:
            found[f"{path.stem}.ptx"] = cuda.ptx(path, cuda.since(path))
    archive.write(FILE, found)
    return 0


def main() -> int:
    """Returns the exit status: 1 when anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.programs.tiles", description="products of matrices by tiles")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--sm", nargs="+", metavar="SM")
    parser.add_argument("--level", type=int, default=3)
    parser.add_argument("--vendor", action="store_true", help="judge ptxas's code")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--make", action="store_true")
    args = parser.parse_args()
    if args.make:
        return make(args.names)
    entries = [e for e in programs().values() if any(fnmatch.fnmatch(e.name, p) for p in args.names or ["*"])]
    which = [(e.name, target) for e in entries for target in e.targets if not args.sm or target in args.sm]
    if args.compare:
        compare(need("ptxas"), (subject(name, target) for name, target in which))
        return 0
    wrong = 0
    for name, target in which:
        if args.vendor:
            image = ptxas_image(need("ptxas"), module(name, target), target)
            found = "refused: by ptxas" if image is None else judge(name, image, checked=False)
        else:
            found = problem(name, target, args.level)
        wrong += bool(found)
        print(f"{name} {target}: {found or 'right'}", flush=True)
    print(f"{len(which)} run, {wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
