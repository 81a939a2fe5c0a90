"""What LLVM makes of the IR and C in llvm/: ``llc`` of Debian's llvm-14, llvm-16, llvm-19 ($LLVM16, $LLVM19: bin folders)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCES = Path(__file__).resolve().parent / "llvm"
# file -> the oldest target that has all of it
IR = {
    "arithmetic": 70,
    "memory": 70,
    "atomics": 60,
    "globals": 50,
    "calls": 50,
    "control": 50,
    "special": 70,
    "tensors": 80,
    "textures": 50,
}
OLDEST = ("globals", "special")  # what LLVM 14 can read: it stumbles over pointers without types
PARTS = 12
VERSIONS = {50: 60, 60: 60, 70: 70, 80: 75, 90: 80}  # PTX for a target


def build(folder: Path) -> dict[str, str]:
    """Compile everything; what a compiler refuses is named on standard error and left out."""
    out = {}
    for name, command, text in _jobs(folder):
        path = folder / name
        if not path.exists():
            done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"{name}: {(done.stderr.splitlines() or ['?'])[0]}", file=sys.stderr)
                continue
            path.write_text(done.stdout)
        out[name] = path.read_text()
    return out


def _jobs(folder: Path) -> Iterator[tuple[str, list[str], str]]:
    middle, newer = os.environ.get("LLVM16"), os.environ.get("LLVM19")
    for stem, least in IR.items():
        text = (SOURCES / f"{stem}.ll").read_text()
        if stem in OLDEST:
            yield f"{stem}.sm_{least}.llc14.ptx", _llc("llc-14", least, "-opaque-pointers"), text
        if middle:
            yield f"{stem}.sm_80.llc16.ptx", _llc(f"{middle}/llc", 80), text
            yield f"{stem}.sm_{least}.O0.llc16.ptx", _llc(f"{middle}/llc", least, "-O0"), text
        if newer:
            yield f"{stem}.sm_90.llc19.ptx", _llc(f"{newer}/llc", 90), text
    if newer:
        yield from _programs(folder, newer)


def _programs(folder: Path, newer: str) -> Iterator[tuple[str, list[str], str]]:
    for part in range(PARTS):
        for level, sm, more in (("-O2", 70, ()), ("-O3", 90, ()), ("-O0", 80, ("-g",))):
            ir = folder / f"programs{part}{level}.ll"
            if not ir.exists():
                clang = [f"{newer}/clang", "-target", "nvptx64-nvidia-cuda", f"-march=sm_{sm}", level, f"-DPART={part}", *more]
                where = [
                    "-nocudalib",
                    "-nogpulib",
                    "-fdebug-compilation-dir=/build",
                    "-S",
                    "-emit-llvm",
                    "programs.c",
                    "-o",
                    str(ir),
                ]
                done = subprocess.run([*clang, *where, "-o", str(ir)], cwd=SOURCES, capture_output=True, text=True, check=False)
                if done.returncode:
                    print(f"{ir.name}: {next(line for line in done.stderr.splitlines() if 'error' in line)}", file=sys.stderr)
                    continue
            text = re.sub(r'"target-features"="[^"]*"', "", ir.read_text())
            suffix = "g." if more else ""
            yield f"programs{part}.sm_{sm}.{suffix}llc19.ptx", _llc(f"{newer}/llc", sm, level), text


def _llc(program: str, sm: int, *options: str) -> list[str]:
    return [program, "-march=nvptx64", f"-mcpu=sm_{sm}", f"-mattr=+ptx{VERSIONS[sm]}", *options, "-o", "-"]
