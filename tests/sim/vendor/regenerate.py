"""Makes the cubins of this folder anew from the sources in CUDA (nvcc 13.0 on PATH) and PTX (ptxas). Run it when one changes.

python tests/sim/vendor/regenerate.py [NAME...]
"""

from __future__ import annotations

import lzma
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGETS = ["sm_80", "sm_90"]
MARK = "// targets: "  # the first line of a source that has others
LEVELS = "// levels: "  # the second line of a source that ptxas compiles at other levels too, for the last of its targets


def targets(source: Path) -> list[str]:
    """What a source is compiled for."""
    first = source.read_text().splitlines()[0]
    return first.removeprefix(MARK).split() if first.startswith(MARK) else TARGETS


def levels(source: Path) -> list[str]:
    """Levels besides ptxas's own."""
    second = source.read_text().splitlines()[1]
    return second.removeprefix(LEVELS).split() if second.startswith(LEVELS) else []


def make(source: Path, target: str, options: list[str], name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.cubin"
        compiler = ["nvcc", "-O3", "-cubin"] if source.suffix == ".cu" else ["ptxas"]
        command = [*compiler, f"-arch={target}", *options, "-o", str(out), source.name]
        subprocess.run(command, check=True, cwd=HERE)
        packed = lzma.compress(out.read_bytes(), preset=9 | lzma.PRESET_EXTREME)
    (HERE / f"{name}.{target}.cubin.xz").write_bytes(packed)


def main() -> int:
    for source in sorted([*HERE.glob("*.cu"), *HERE.glob("*.ptx")]):
        if sys.argv[1:] and source.stem not in sys.argv[1:]:
            continue
        for target in targets(source):
            make(source, target, [], source.stem)
        for level in levels(source):
            make(source, targets(source)[-1], [f"-Xptxas=-O{level}"], f"{source.stem}_O{level}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
