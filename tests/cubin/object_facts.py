"""What a linker sees of ptxas's files of a few modules, stored so that ours can be held against it without ptxas.

python -m tests.cubin.object_facts    # makes the files of KINDS in tests/data/cubin anew; needs ptxas 13.0.88 on PATH
"""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from oric.support.elf import Cubin, read

HERE = Path(__file__).parent
DATA = HERE.parent / "data" / "cubin"


class Kind(NamedTuple):
    """A kind of files for linkers: ptxas's options, ours of the library, the folder of the modules."""

    options: tuple[str, ...]
    ours: dict[str, bool]
    folder: str


KINDS = {
    "objects": Kind(("-c",), {"relocatable": True}, "objects"),
    "independent": Kind(("-c", "-pic=true"), {"relocatable": True, "position_independent": True}, "objects"),
    "extensible": Kind(("-ewp",), {"extensible": True}, "extensible"),
}
TARGETS = ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120")
# Symbols that tell of choices of whoever made the code: names of banks, sections that are there for debuggers, parameters.
_CHOSEN = re.compile(r"^(_param|_SREG|.*\.const_opt\..*|\.(text|nv|note|debug)[._].*|)$")
_MERCURY = re.compile(r"^\.nv\.(cap)?merc")
_SCOPED = re.compile(r"^\$__(.*)__\d+$")
# Records that follow from the code, or are ANNOTATIONS.
_OF_CODE = (
    "EXIT_INSTR_OFFSETS", "CRS_STACK_SIZE", "INDIRECT_BRANCH_TARGETS", "SYSCALL_OFFSETS", "INT_WARP_WIDE_INSTR_OFFSETS",
    "COOP_GROUP_INSTR_OFFSETS", "COOP_GROUP_MASK_REGIDS", "EXTERNS",
)  # fmt: skip
_LINKED_DATA = (".nv.global.init", ".nv.constant3")
_DATA = (".nv.global", *_LINKED_DATA)


def texts(kind: str) -> list[tuple[str, str]]:
    return [(path.stem, path.read_text()) for path in sorted((DATA / KINDS[kind].folder).glob("*.ptx"))]


def file_of(kind: str) -> Path:
    return DATA / f"{kind}.json"


def for_target(text: str, target: str) -> str:
    return re.sub(r"^\.target \w+", f".target {target}", text, flags=re.MULTILINE)


def name_of(symbol: str) -> str:
    """The name without the number that tells variables of one name apart."""
    found = _SCOPED.match(symbol)
    return f"$__{found[1]}" if found else symbol


def facts(image: bytes) -> dict[str, Any]:
    """Symbols, call graph, prototypes, records of functions, pointers in data, sizes of data."""
    cubin = read(image)
    return {
        "header": [hex(cubin.flags & ~0xFF), cubin.type, cubin.version],  # the lowest byte tells of a second copy of the code
        "symbols": _symbols(cubin),
        "calls": _graph(cubin),
        "prototypes": _prototypes(cubin),
        "records": {f.name: [r.name for r in f.records if r.name not in _OF_CODE] for f in cubin.functions.values()},
        "module": sorted({r.name for r in cubin.records}),
        "pointers": _pointers(cubin),
        "sizes": {s.name: s.size for s in cubin.sections if s.name in _DATA},
        "sections": sorted((s.name, hex(s.type), hex(s.flags)) for s in cubin.sections if _told(s.name)),
    }


def _told(name: str) -> bool:
    """Sections that are there whatever the code is."""
    return bool(name) and not _MERCURY.match(name) and not re.match(r"^\.(rela?\.|nv\.constant2)", name)


def _section(cubin: Cubin, number: int) -> str:
    return cubin.sections[number].name if number < len(cubin.sections) else hex(number)


def _symbols(cubin: Cubin) -> dict[str, list[Any]]:
    out: dict[str, list[Any]] = {}
    for symbol in cubin.symbols:
        if _CHOSEN.match(symbol.name):
            continue
        variable = symbol.info & 0xF == 0xD
        aligned = symbol.other & 0xE0 == 0x40 or symbol.section >= 0xFF00  # the value is an alignment
        size = symbol.size if variable else 0
        out[name_of(symbol.name)] = [
            hex(symbol.info), hex(symbol.other), _section(cubin, symbol.section), symbol.value if aligned else -1, size
        ]  # fmt: skip
    return out


def _text(cubin: Cubin, place: int) -> str:
    if not place:
        return ""
    names = cubin.section(".strtab")
    assert names is not None
    return names.data[place : names.data.index(b"\0", place)].decode()


def _pairs(cubin: Cubin, name: str) -> list[tuple[int, int]]:
    section = cubin.section(name)
    return [] if section is None else list(struct.iter_unpack("<II", section.data))


def _graph(cubin: Cubin) -> dict[str, list[Any]]:
    """Parts of the call graph: calls, functions with an address, calls through registers, who has the addresses."""
    out: dict[str, list[Any]] = {}
    part = ""
    for first, second in _pairs(cubin, ".nv.callgraph"):
        if not first:
            part = str((1 << 32) - second)
            out[part] = []
            continue
        texts_ = part in ("2", "3")
        out[part].append((cubin.symbols[first].name, _text(cubin, second) if texts_ else cubin.symbols[second].name))
    return {part: sorted(pairs) for part, pairs in out.items()}


def _prototypes(cubin: Cubin) -> list[tuple[str, str]]:
    return sorted((cubin.symbols[first].name, _text(cubin, second)) for first, second in _pairs(cubin, ".nv.prototype"))


def _pointers(cubin: Cubin) -> list[tuple[str, int, int, str, int]]:
    """Pointers in initial data: the variable, the offset in it, type of the relocation, what it points to."""
    out = []
    for relocation in cubin.relocations:
        section = cubin.sections[relocation.section]
        if section.name not in _LINKED_DATA:
            continue
        inside = [s for s in cubin.symbols_of(section.index) if s.size and s.value <= relocation.offset < s.value + s.size]
        owner = inside[0]
        target = cubin.symbols[relocation.symbol].name
        out.append((owner.name, relocation.offset - owner.value, relocation.type, target, relocation.addend))
    return sorted(out)


def make(ptxas: str, kind: str) -> None:
    stored: dict[str, Any] = {}
    for name, text in texts(kind):
        for target in TARGETS:
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "in.ptx").write_text(for_target(text, target))
                command = [ptxas, *KINDS[kind].options, "-arch", target, "in.ptx", "-o", "out.o"]
                subprocess.run(command, cwd=folder, check=True, capture_output=True)
                stored[f"{name} {target}"] = facts((Path(folder) / "out.o").read_bytes())
    file_of(kind).write_text(json.dumps(stored, indent=0, separators=(",", ":"), sort_keys=True) + "\n")


if __name__ == "__main__":
    found = shutil.which("ptxas")
    assert found, "ptxas 13.0.88 is not on PATH"
    for each in KINDS:
        make(found, each)
