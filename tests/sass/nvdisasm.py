"""The vendor's disassembler as a judge, when there is one: $NVDISASM, on PATH, or in an installed triton wheel."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

NOP = 0x000FC000000000000000000000007918
_LINE = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?) ?;\s*$")
_ADDRESS = re.compile(r"0x([0-9a-f]+)")


def find() -> str | None:
    """Path of nvdisasm; None when this machine has none."""
    named = os.environ.get("NVDISASM") or shutil.which("nvdisasm")
    if named:
        return named
    spec = importlib.util.find_spec("triton")
    for place in (spec.submodule_search_locations or []) if spec else []:
        tool = Path(place) / "backends/nvidia/bin/nvdisasm"
        if tool.exists():
            return str(tool)
    return None


def version(tool: str) -> str:
    """The tool's release, as it says it."""
    text = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout
    match = re.search(r"release (\S+),", text)
    return match[1] if match else "unknown"


def texts(tool: str, isa: str, words: list[int]) -> list[str | None]:
    """The text of every word as if it stood alone at its index * 16; None where the tool refuses the word."""
    words = list(words)
    refused: set[int] = set()
    while True:
        out = _run(tool, isa, words)
        if out.returncode == 0:
            break
        found = {int(m[1], 16) >> 4 for line in out.stderr.splitlines() for m in [_ADDRESS.search(line)] if m}
        new = {i for i in found if i < len(words)} - refused
        if not new:
            if len(words) == 1:
                return [None]
            half = len(words) // 2
            rest = texts(tool, isa, words[:half]) + texts(tool, isa, words[half:])
            return [None if i in refused else text for i, text in enumerate(rest)]
        refused |= new
        for i in new:
            words[i] = NOP
    result: list[str | None] = [None] * len(words)
    for line in out.stdout.splitlines():
        match = _LINE.match(line)
        if match:
            result[int(match[1], 16) >> 4] = match[2]
    return [None if i in refused else text for i, text in enumerate(result)]


def _run(tool: str, isa: str, words: list[int]) -> subprocess.CompletedProcess[str]:
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        file.write(b"".join(w.to_bytes(16, "little") for w in words))
        file.flush()
        command = [tool, "-b", isa.upper().replace("_", ""), "-ndf", file.name]
        return subprocess.run(command, capture_output=True, text=True, check=False)
