"""Make the PTX of the CUDA sources anew, of all or of those named: python -m tests.programs.portable [NAME ...]; needs nvcc 13.

With ``--run [KERNEL ...]`` the programs are compiled and run instead, as the long test does it; ``--vendor``: ptxas's code too.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.corpus.compile import need
from tests.programs.portable import case
from tests.programs.portable.measure import failures

_COMMENT, _BLANK = re.compile(r"^\s*//[^\n]*\n", re.M), re.compile(r"^[ \t]*\n", re.M)


def make(path: Path) -> None:
    """NAME.ptx of a NAME.cu, whose first lines may say ``// since: 80`` and ``// nvcc: options``."""
    text = path.read_text(encoding="utf-8")
    since, flags = re.search(r"^// since: (\d+)", text, re.M), re.search(r"^// nvcc: (.*)", text, re.M)
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "out.ptx"
        options = ["-O3", "-std=c++17", "-w", *(flags[1].split() if flags else []), f"-arch=compute_{since[1] if since else 75}"]
        subprocess.run([need("nvcc"), *options, "-ptx", "-o", str(output), path.name], cwd=path.parent, check=True)
        found = _BLANK.sub("", _COMMENT.sub("", output.read_text(encoding="utf-8")))
    path.with_suffix(".ptx").write_text(found, encoding="utf-8")


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
            make(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
