"""Makes matrix.*, group.*, tensor.* (from tests/sim/*_forms.py) and gemm.*.cubin.xz (from tests/sim/gemm.cu) anew.

It needs nvcc and ptxas 13.0 on PATH.
Run it as a module from the root.
"""

from __future__ import annotations

import lzma
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.sim import group_forms, matrix_forms, tensor_forms

HERE = Path(__file__).resolve().parent


def make(name: str, target: str, text: str | None = None) -> None:
    """Assemble (without a text: compile) and pack one module."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "in.ptx", Path(folder) / "out.cubin"
        tool = ["nvcc", "-std=c++17", "-cubin", str(HERE.parent / f"{name}.cu")]
        if text is not None:
            source.write_text(text, encoding="utf-8")
            tool = ["ptxas", str(source)]
        subprocess.run([*tool, "-O3", f"-arch={target}", "-o", str(out)], check=True)
        packed = lzma.compress(out.read_bytes(), preset=9 | lzma.PRESET_EXTREME)
    (HERE / f"{name}.{target}.cubin.xz").write_bytes(packed)


def main() -> int:
    for target in matrix_forms.TARGETS:
        make("matrix", target, matrix_forms.module_text(target))
    make("group", "sm_90a", group_forms.module_text())
    make("tensor", "sm_100a", tensor_forms.module_text())
    make("tensor", "sm_103a", tensor_forms.extremes_text())
    for target in ("sm_80", "sm_90a", "sm_100a", "sm_120a"):
        make("gemm", target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
