#!/usr/bin/env python3
"""The stored text of nvdisasm for the cubins of the tests: read by test_disasm.py, written by running this file.

    python tests/sass/nvdisasm_text.py [NVDISASM]

Stored are the lines with instructions and labels of `nvdisasm -c`, with runs of blanks in front of a note made one.
"""

from __future__ import annotations

import lzma
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
STORED = TESTS / "data" / "cubin" / "nvdisasm.txt.xz"
_CODE_LINE = re.compile(r"\s*/\*[0-9a-f]{4,}\*/|[^\s.][^\s]*:$|\.(L_x|text)\S*:$")


def cubins() -> dict[str, bytes]:
    """The cubins of the tests by a short name: finished ones and objects of the container tests, test kernels."""
    found = {p.name: p.read_bytes() for p in sorted((TESTS / "data" / "cubin").rglob("*.cubin"))}
    packed = [(TESTS / "kernels" / "ptxas").glob("*.cubin.xz"), (TESTS / "data" / "containers").glob("*.cubin.xz")]
    for path in [path for paths in packed for path in sorted(paths)]:
        found[path.stem] = lzma.decompress(path.read_bytes())
    return found


def code_lines(lines: list[str]) -> list[str]:
    """The lines with instructions and labels."""
    return [re.sub(r"\s+\(\*", " (*", line.rstrip()) for line in lines if _CODE_LINE.match(line.rstrip())]


def stored() -> dict[str, list[str]]:
    """What nvdisasm printed, by the names of :func:`cubins`."""
    out: dict[str, list[str]] = {}
    for line in lzma.decompress(STORED.read_bytes()).decode().splitlines():
        if line.startswith("== "):
            lines = out[line[3:]] = []
        else:
            lines.append(line)
    return out


def ask(nvdisasm: str, image: bytes) -> list[str]:
    """What nvdisasm prints for a cubin."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(image)
        file.flush()
        done = subprocess.run([nvdisasm, "-c", file.name], capture_output=True, text=True, check=True)
    return code_lines(done.stdout.splitlines())


def main(nvdisasm: str) -> None:
    """Ask nvdisasm again and store what it says; files that it refuses (the header form of 12.8) are left out."""
    text = []
    for name, image in cubins().items():
        if "ptxas_12_8" not in name:
            text += [f"== {name}", *ask(nvdisasm, image)]
    STORED.write_bytes(lzma.compress("\n".join(text).encode() + b"\n", preset=9))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "nvdisasm")
