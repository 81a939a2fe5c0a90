"""Makes the cubins of this folder anew from the CUDA sources: needs nvcc 13.0 on PATH. Run it when a source changes."""

from __future__ import annotations

import lzma
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGETS = ["sm_80", "sm_90"]
MARK = "// targets: "  # the first line of a source that has others


def targets(source: Path) -> list[str]:
    """What a source is compiled for."""
    first = source.read_text().splitlines()[0]
    return first.removeprefix(MARK).split() if first.startswith(MARK) else TARGETS


def main() -> int:
    for source in sorted(HERE.glob("*.cu")):
        for target in targets(source):
            with tempfile.TemporaryDirectory() as folder:
                out = Path(folder) / "out.cubin"
                subprocess.run(["nvcc", "-O3", f"-arch={target}", "-cubin", "-o", str(out), source.name], check=True, cwd=HERE)
                packed = lzma.compress(out.read_bytes(), preset=9 | lzma.PRESET_EXTREME)
            (HERE / f"{source.stem}.{target}.cubin.xz").write_bytes(packed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
