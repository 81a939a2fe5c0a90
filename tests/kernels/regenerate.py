#!/usr/bin/env python3
"""Makes the stored PTX (nvcc -O3) and the ptxas-made cubins of the test kernels again.

    python3 tests/kernels/regenerate.py [--check] [NAME...]

Needs nvcc and ptxas 13.0 on PATH.  For every NAME.cu (saxpy.cu lies in examples/) and every target of TARGETS it
writes NAME.TARGET.ptx beside the source and ptxas/NAME.TARGET.cubin.xz; NAME.ptx is a source written in PTX.
`--check` writes nothing and fails when a stored PTX file differs from what nvcc makes.
"""

from __future__ import annotations

import argparse
import lzma
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "examples"
TARGETS = ("sm_75", "sm_80", "sm_90")


def sources() -> dict[str, Path]:
    """Kernel file stems and their sources (.cu, or .ptx for those written by hand)."""
    found = {path.stem: path for path in HERE.glob("*.cu")}
    found |= {path.stem: path for path in HERE.glob("*.ptx") if "." not in path.stem}
    found["saxpy"] = EXAMPLES / "saxpy.cu"
    return dict(sorted(found.items()))


def ptx_of(source: Path, target: str, folder: Path) -> str:
    """The PTX text of one source for one target; carries no path of this machine."""
    if source.suffix == ".ptx":
        return re.sub(r"^\.target \w+$", f".target {target}", source.read_text(), flags=re.M)
    shutil.copy(source, folder / source.name)
    output = folder / (source.stem + ".ptx")
    architecture = target.replace("sm_", "compute_")
    subprocess.run(["nvcc", "-O3", f"-arch={architecture}", "-ptx", source.name, "-o", output.name], cwd=folder, check=True)
    text = output.read_text()
    if str(folder) in text or "/tmp" in text:
        raise SystemExit(f"{source.name}: the PTX names a path of this machine")
    return text


def cubin_of(text: str, target: str, folder: Path) -> bytes:
    """What ptxas -O3 makes of a PTX text."""
    (folder / "kernel.ptx").write_text(text)
    subprocess.run(["ptxas", "-O3", "-arch", target, "kernel.ptx", "-o", "kernel.cubin"], cwd=folder, check=True)
    return (folder / "kernel.cubin").read_bytes()


def write(path: Path, content: bytes) -> None:
    """Write a file unless it already holds this."""
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        print("wrote", path.name)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    missing = [tool for tool in ("nvcc", "ptxas") if shutil.which(tool) is None]
    if missing:
        raise SystemExit(f"regenerate.py needs {' and '.join(missing)} on PATH")
    stale = []
    for name, source in sources().items():
        if options.names and name not in options.names:
            continue
        for target in TARGETS:
            stored = HERE / f"{name}.{target}.ptx"
            with tempfile.TemporaryDirectory() as folder:
                text = ptx_of(source, target, Path(folder))
                if options.check:
                    if not stored.exists() or stored.read_text() != text:
                        stale.append(stored.name)
                    continue
                write(stored, text.encode())
                packed = lzma.compress(cubin_of(text, target, Path(folder)), preset=9)
                write(HERE / "ptxas" / f"{name}.{target}.cubin.xz", packed)
                if source.parent == EXAMPLES and target == "sm_90":
                    write(EXAMPLES / f"{name}.ptx", text.encode())
    if stale:
        print("stale (run tests/kernels/regenerate.py):", ", ".join(stale))
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
