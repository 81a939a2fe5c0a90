"""Makes matrix.*.cubin.xz anew from the forms of tests/sim/matrix_forms.py: needs ptxas 13.0 on PATH.

Run it as a module from the root.
"""

from __future__ import annotations

import lzma
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.sim.matrix_forms import TARGETS, module_text

HERE = Path(__file__).resolve().parent


def main() -> int:
    for target in TARGETS:
        with tempfile.TemporaryDirectory() as folder:
            source, out = Path(folder) / "in.ptx", Path(folder) / "out.cubin"
            source.write_text(module_text(target), encoding="utf-8")
            subprocess.run(["ptxas", "-O3", f"-arch={target}", "-o", str(out), str(source)], check=True)
            packed = lzma.compress(out.read_bytes(), preset=9 | lzma.PRESET_EXTREME)
        (HERE / f"matrix.{target}.cubin.xz").write_bytes(packed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
