"""Makes the cubins of this folder anew from the CUDA sources: needs nvcc 13.0 on PATH. Run it when a source changes."""

from __future__ import annotations

import lzma
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = Path(tempfile.gettempdir()) / "planted"  # the line information names it
TARGETS = ("sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a")
MARK = "// targets: "  # the first line of a source that is not for all of them


def main() -> int:
    """Compile every source for every target, with line information that names no folder of this machine."""
    for source in sorted(HERE.glob("*.cu")):
        first = source.read_text(encoding="utf-8").splitlines()[0]
        for target in first.removeprefix(MARK).split() if first.startswith(MARK) else TARGETS:
            FOLDER.mkdir(exist_ok=True)
            shutil.copy(source, FOLDER)
            command = ["nvcc", "-O3", "-lineinfo", f"-arch={target}", "-cubin", "-o", "out.cubin", source.name]
            subprocess.run(command, check=True, cwd=FOLDER)
            packed = lzma.compress((FOLDER / "out.cubin").read_bytes(), preset=9 | lzma.PRESET_EXTREME)
            (HERE / f"{source.stem}.{target}.cubin.xz").write_bytes(packed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
