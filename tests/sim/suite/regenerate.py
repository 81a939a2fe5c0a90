"""Makes the cubins of this folder anew: needs nvcc 13.0 on PATH.

    python3 tests/sim/suite/regenerate.py [NAME...]

A comment `// nvcc: FLAGS` in the first line of a source adds flags, `// since: NN` leaves out targets below sm_NN,
`// only: sm_90a ...` all others. `// levels: O0 ...` makes cubins of these levels of ptxas too (G: for the debugger), for two of
the targets. What a debugger reads of them, except for line numbers, is blanked: it is most of the file, and the simulator reads
none of it.
"""

from __future__ import annotations

import lzma
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from oric.support import elf

HERE = Path(__file__).resolve().parent
TARGETS = ("sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a")
LEVELS = {"O0": ["-Xptxas", "-O0"], "O1": ["-Xptxas", "-O1"], "G": ["-G"]}
LEVEL_TARGETS = ("sm_90a", "sm_120a")
DEBUG = re.compile(r"\.(rela?\.|nv\.merc\.)*(nv_)?debug_(?!line$)")


def targets_of(text: str) -> list[str]:
    """The targets that a source is made for."""
    since, only = re.search(r"^// since: (\d+)", text, re.M), re.search(r"^// only: (.*)", text, re.M)
    allowed = only.group(1).split() if only else TARGETS
    return [t for t in TARGETS if t in allowed and (not since or int(re.sub(r"\D", "", t)) >= int(since.group(1)))]


def make(source: Path) -> None:
    """Write the cubins of one source."""
    text = source.read_text(encoding="utf-8")
    found = re.search(r"^// levels: (.*)", text, re.M)
    levels = found.group(1).split() if found else []
    for target in targets_of(text):
        write(source, target, compiled(source, target, ["-O3"]))
        for level in levels if target in LEVEL_TARGETS else []:
            write(source, f"{target}.{level}", blanked(compiled(source, target, LEVELS[level])))


def compiled(source: Path, target: str, level: list[str]) -> bytes:
    """What nvcc makes of a source."""
    flags = re.search(r"^// nvcc: (.*)", source.read_text(encoding="utf-8"), re.M)
    more = flags.group(1).split() if flags else []
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "out.cubin"
        command = ["nvcc", *level, "-std=c++17", *more, f"-arch={target}", "-cubin", "-o", str(made), source.name]
        subprocess.run(command, check=True, cwd=HERE)
        return made.read_bytes()


def blanked(cubin: bytes) -> bytes:
    """A cubin with zeros for debug information, except for line numbers."""
    out = bytearray(cubin)
    for section in elf.read(cubin).sections:
        if DEBUG.match(section.name):
            out[section.offset : section.offset + len(section.data)] = bytes(len(section.data))
    return bytes(out)


def write(source: Path, ending: str, cubin: bytes) -> None:
    """Put a cubin, compressed, among the others."""
    packed = lzma.compress(cubin, preset=9 | lzma.PRESET_EXTREME)
    (HERE / "cubins" / f"{source.stem}.{ending}.cubin.xz").write_bytes(packed)


def main() -> int:
    chosen = [HERE / f"{name}.cu" for name in sys.argv[1:]] or sorted(HERE.glob("*.cu"))
    for source in chosen:
        make(source)
    return 0


if __name__ == "__main__":
    sys.exit(main())
