"""What ptxas's files of a few modules tell of relocations that are settled (--preserve-relocs), stored to hold ours against it.

python -m tests.cubin.resolved_facts    # makes tests/data/cubin/resolved.json anew; needs ptxas 13.0.88 on PATH
"""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from oric.support.elf import Cubin, Section, Symbol, read
from oric_tables.cubin import RELOCATIONS, Relocation

from tests.cubin.object_facts import DATA, for_target, name_of

FILE = DATA / "resolved.json"
TARGETS = ("sm_75", "sm_80", "sm_86", "sm_89")
WAYS = {"whole": (), "extensible": ("-ewp",)}
PREFIX = ".nv.resolvedrela"


def texts() -> list[tuple[str, str]]:
    return [(path.stem, path.read_text()) for path in sorted((DATA / "resolved").glob("*.ptx"))]


def entries(cubin: Cubin) -> Iterator[tuple[Section, int, Relocation, Symbol, int]]:
    """Every entry: the section that it is of, the place there, the type, the symbol, the addend."""
    for section in cubin.sections:
        if section.name.startswith(PREFIX):
            for place, kind, symbol, addend in struct.iter_unpack("<QIIq", section.data):
                yield cubin.sections[section.info], place, RELOCATIONS[kind], cubin.symbols[symbol], addend


def facts(image: bytes) -> dict[str, Any]:
    """The sections, and which symbols they name; which instructions do is for who made the code to choose."""
    cubin = read(image)
    headers = {
        s.name: [hex(s.type), hex(s.flags), cubin.sections[s.link].name, cubin.sections[s.info].name, s.align, s.entsize]
        for s in cubin.sections
        if s.name.startswith(PREFIX)
    }
    named: dict[str, dict[str, Any]] = {}
    for section, _, _, symbol, _ in entries(cubin):
        where = cubin.sections[symbol.section].name if symbol.section < len(cubin.sections) else hex(symbol.section)
        size = symbol.size if symbol.info & 0xF in (1, 0xD) else 0
        named.setdefault(section.name, {})[name_of(symbol.name)] = [hex(symbol.info), hex(symbol.other), where, size]
    parameters = [(cubin.sections[s.section].name, s.value, s.size) for s in cubin.symbols if s.name == "_param"]
    return {"headers": headers, "named": named, "parameters": sorted(parameters)}


def make(ptxas: str) -> None:
    stored: dict[str, Any] = {}
    for name, text in texts():
        for target in TARGETS:
            for way, options in WAYS.items():
                with tempfile.TemporaryDirectory() as folder:
                    (Path(folder) / "in.ptx").write_text(for_target(text, target))
                    command = [ptxas, "-preserve-relocs", *options, "-arch", target, "in.ptx", "-o", "out.cubin"]
                    subprocess.run(command, cwd=folder, check=True, capture_output=True)
                    stored[f"{name} {target} {way}"] = facts((Path(folder) / "out.cubin").read_bytes())
    FILE.write_text(json.dumps(stored, indent=0, separators=(",", ":"), sort_keys=True) + "\n")


if __name__ == "__main__":
    found = shutil.which("ptxas")
    assert found, "ptxas 13.0.88 is not on PATH"
    make(found)
