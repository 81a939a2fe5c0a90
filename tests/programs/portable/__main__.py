"""Make the PTX of the CUDA sources anew, of all or of those named: python -m tests.programs.portable [NAME ...]; needs nvcc 13.

With ``--run [KERNEL ...]`` the programs are compiled and run instead, as the long test does it; ``--vendor``: ptxas's code too.
"""

from __future__ import annotations

import sys

from tests.programs import cuda
from tests.programs.portable import case
from tests.programs.portable.measure import failures


def main(arguments: list[str]) -> int:
    """Returns the exit status."""
    if arguments[:1] == ["--run"]:
        vendor = "--vendor" in arguments
        names = [name for name in arguments[1:] if not name.startswith("--")] or list(case.programs())
        wrong = [line for name in names for line in failures(name, vendor)]
        print("\n".join([*wrong, f"{len(names)} programs, {len(wrong)} failures"]))
        return int(bool(wrong))
    for path in sorted(case.HERE.glob("*.cu")):
        if not arguments or path.stem in arguments:
            path.with_suffix(".ptx").write_text(cuda.ptx(path, cuda.since(path)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
