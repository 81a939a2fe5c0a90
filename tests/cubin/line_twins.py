"""Lines of our code against those of ptxas's: instructions of both that stand for each other, and how many agree.

Twins are found twice. By the *statement*: the same operation made of the same line of the PTX, as ``.nv_debug_line_sass``
tells; what is compared are the source lines, with those of the calls that were inlined. By the *operation* alone, of those that
code cannot do without and that no expansion has (memory, barriers, shuffles, votes ...): that tells whether the lines of the PTX
are right, too.
"""

from __future__ import annotations

import re
import subprocess
from bisect import bisect_right
from difflib import SequenceMatcher
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from oric.sass.listing import list_cubin
from oric.support.elf import read
from oric.support.lines import source_lines

LONGEST = 4000  # instructions of a kernel that is compared
_TELLING = re.compile(
    r"(LD|LDG|LDS|ST|STG|STS|ATOM|ATOMG|ATOMS|RED|BAR|MEMBAR|SHFL|VOTE|MATCH|REDUX|TEX|TLD|SULD|SUST|POPC|BREV|FLO|S2R)\b"
)
_FILLING = ("NOP", "BRA")


class Line(NamedTuple):
    """An instruction: its operation; file and line of its sources, the innermost first, () for none; its line of the PTX."""

    operation: str
    sources: tuple[str, ...]
    ptx: int


Code = dict[str, list[Line]]  # of every kernel


def lines_of(image: bytes) -> Code:
    """The code of every kernel with its lines, without the filling behind the end."""
    cubin = read(image)
    sources, ptx = _table(cubin, ".debug_line"), _table(cubin, ".nv_debug_line_sass")
    out: Code = {}
    for function in list_cubin(cubin).functions:
        assert function.facts is not None
        code: list[Line] = []
        for line in function.lines:
            places = _at(sources.get(function.facts.section, {}), line.offset)
            ptx_line = _at(ptx.get(function.facts.section, {}), line.offset)
            operation = line.text.split()[1 if line.text.startswith("@") else 0].rstrip(";")
            code.append(Line(operation, tuple(map(str, places)), ptx_line[0].line if ptx_line else 0))
        while code and code[-1].operation in _FILLING:
            code.pop()
        out[function.name] = code
    return out


def _table(cubin, section: str):
    return source_lines(cubin, section)


def _at(table, offset: int):
    places = sorted(table)
    at = bisect_right(places, offset) - 1
    return table[places[at]] or () if at >= 0 else ()


def _pairs(ours: list[Line], theirs: list[Line], key) -> list[tuple[Line, Line]]:
    matcher = SequenceMatcher(None, list(map(key, ours)), list(map(key, theirs)), autojunk=False)
    return [(ours[b.a + k], theirs[b.b + k]) for b in matcher.get_matching_blocks() for k in range(b.size)]


class Agreement(NamedTuple):
    """How many twins there are by the statement and by the operation, and how many of them have the same lines."""

    by_statement: int = 0
    of_these: int = 0
    by_operation: int = 0
    among_these: int = 0

    def plus(self, other: Agreement) -> Agreement:
        """Both together."""
        return Agreement(*(a + b for a, b in zip(self, other, strict=True)))


def compare(ours: Code, theirs: Code) -> Agreement:
    """Compare the kernels that both have."""
    found = Agreement()
    for name in sorted(ours.keys() & theirs.keys()):
        if max(len(ours[name]), len(theirs[name])) <= LONGEST:
            pairs = _pairs(ours[name], theirs[name], lambda line: (line.operation, line.ptx))
            telling = [[line for line in code if _TELLING.match(line.operation)] for code in (ours[name], theirs[name])]
            alike = _pairs(*telling, lambda line: line.operation)
            same = sum(a.sources == b.sources for a, b in pairs)
            found = found.plus(Agreement(len(pairs), same, len(alike), sum(a.sources[:1] == b.sources[:1] for a, b in alike)))
    return found


def ptxas(text: str, arch: str, *options: str) -> bytes | None:
    """What ptxas makes of a module; None when it refuses it."""
    with TemporaryDirectory() as folder:
        source, made = Path(folder) / "m.ptx", Path(folder) / "m.cubin"
        source.write_text(text, encoding="utf-8")
        done = subprocess.run(["ptxas", "-arch", arch, *options, str(source), "-o", str(made)], capture_output=True, check=False)
        return made.read_bytes() if done.returncode == 0 else None
