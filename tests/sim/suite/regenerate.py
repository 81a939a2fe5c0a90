"""Makes the cubins of this folder anew: needs nvcc 13.0 on PATH.

    python3 tests/sim/suite/regenerate.py [NAME...]

A comment `// nvcc: FLAGS` in the first line of a source adds flags, `// since: NN` leaves out targets below sm_NN,
`// only: sm_90a ...` all others.
"""

from __future__ import annotations

import lzma
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGETS = ("sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a")


def targets_of(text: str) -> list[str]:
    """The targets that a source is made for."""
    since, only = re.search(r"^// since: (\d+)", text, re.M), re.search(r"^// only: (.*)", text, re.M)
    allowed = only.group(1).split() if only else TARGETS
    return [t for t in TARGETS if t in allowed and (not since or int(re.sub(r"\D", "", t)) >= int(since.group(1)))]


def make(source: Path) -> None:
    """Write the cubins of one source."""
    text = source.read_text(encoding="utf-8")
    flags = re.search(r"^// nvcc: (.*)", text, re.M)
    for target in targets_of(text):
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder) / "out.cubin"
            more = flags.group(1).split() if flags else []
            command = ["nvcc", "-O3", "-std=c++17", *more, f"-arch={target}", "-cubin", "-o", str(made), source.name]
            subprocess.run(command, check=True, cwd=HERE)
            packed = lzma.compress(made.read_bytes(), preset=9 | lzma.PRESET_EXTREME)
        (HERE / "cubins" / f"{source.stem}.{target}.cubin.xz").write_bytes(packed)


def main() -> int:
    chosen = [HERE / f"{name}.cu" for name in sys.argv[1:]] or sorted(HERE.glob("*.cu"))
    for source in chosen:
        make(source)
    return 0


if __name__ == "__main__":
    sys.exit(main())
