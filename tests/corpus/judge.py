"""What nvdisasm says of the corpus: the text of every distinct word, and the registers of its life ranges, read and written."""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import re
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from oric.support import elf

from tests.sass import nvdisasm
from tests.sass.compare_words import plain

from .compile import ToolError

BATCH = 4000  # words of one question; a word stands at its place in the batch
_SECTION = re.compile(r"\s*\.section\s+(\.text\.[^\s,]+)")
_LINE = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s")
_FILES = {"GPR": "R", "PRED": "P", "UGPR": "UR", "UPRED": "UP"}


def cache_folder() -> Path:
    """Where answers of tools are kept between runs."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "oric"


@cache
def _version(tool: str) -> str:
    return nvdisasm.version(tool)


def code(image: bytes) -> dict[str, bytes]:
    """The code sections of a cubin by name."""
    return {s.name: s.data for s in elf.read(image).sections if s.name.startswith(".text.")}


def words(data: bytes) -> list[int]:
    """The 128-bit words of code."""
    return [int.from_bytes(data[i : i + 16], "little") for i in range(0, len(data) - 15, 16)]


def texts(tool: str, model: str, asked: list[int]) -> list[str | None]:
    """The text of every word at its place in batches of ``BATCH`` words; None where nvdisasm refuses it."""
    out: list[str | None] = []
    for start in range(0, len(asked), BATCH):
        out += nvdisasm.texts(tool, model, asked[start : start + BATCH])
    return out


def accesses(tool: str, images: Iterable[bytes]) -> dict[int, Counter[str]]:
    """For every plain word how often which facts were printed: ``R4,P0=R2,R3`` is what it writes and what it reads."""
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for image in images:
        sections = {name: words(data) for name, data in code(image).items()}
        for name, offset, facts in life_ranges(tool, image):
            found[plain(sections[name][offset // 16])][facts] += 1
    return found


def life_ranges(tool: str, image: bytes) -> list[tuple[str, int, str]]:
    """(section, offset, facts) of every instruction of a cubin; kept in ``$XDG_CACHE_HOME/oric``, as it takes a second."""
    key = hashlib.sha256(_version(tool).encode() + image).hexdigest()
    path = cache_folder() / "life_ranges" / key[:2] / f"{key}.json.xz"
    if path.exists():
        return [(section, offset, facts) for section, offset, facts in json.loads(lzma.decompress(path.read_bytes()))]
    result = _life_ranges(tool, image)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress(json.dumps(result).encode(), preset=1))
    return result


def _life_ranges(tool: str, image: bytes) -> list[tuple[str, int, str]]:
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(image)
        file.flush()
        done = subprocess.run([tool, "-c", "-plr", file.name], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ToolError(f"nvdisasm refuses a cubin with the sections {', '.join(code(image))}: {done.stderr.strip()[:200]}")
    result = []
    section, groups, columns = "", "", []
    for line in done.stdout.splitlines():
        if match := _SECTION.match(line):
            section = match[1]
        code_part, bar, ranges = line.partition("// |")
        if not bar:
            continue
        if any(f" {name} " in ranges for name in _FILES):
            groups = ranges
        elif "#" in ranges and not code_part.strip():
            columns = _columns(groups, ranges)
        elif match := _LINE.match(code_part):
            result.append((section, int(match[1], 16), _facts(columns, ranges)))
    return result


def _columns(groups: str, numbers: str) -> list[tuple[int, str]]:
    """(place of the mark, register) of every column; a mark stands below the last digit of the number."""
    columns = []
    start = 0
    for group, part in zip(groups.split("|"), numbers.split("|"), strict=True):
        if file := _FILES.get(group.strip()):
            columns += [(start + m.end() - 1, f"{file}{m[0]}") for m in re.finditer(r"\d+", part)]
        start += len(part) + 1
    return columns


def _facts(columns: list[tuple[int, str]], ranges: str) -> str:
    marks = [(ranges[at : at + 1], name) for at, name in columns]
    written = ",".join(name for mark, name in marks if mark in ("^", "x"))
    read = ",".join(name for mark, name in marks if mark in ("v", "x"))
    return f"{written}={read}"
