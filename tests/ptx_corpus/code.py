"""The code of the stored modules: which of them the compiler refuses and why, and what is wrong with the code of the others.

    python -m tests.ptx_corpus.code     # writes refused.txt anew and prints what is wrong with the code

A module is compiled for the target that it names, for the oldest that there is where it names an older one.
"""

from __future__ import annotations

import multiprocessing
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import oric
from oric.sass.check import check_cubin
from oric.support import elf
from oric_tables.targets import TARGETS

from . import archive

ELSEWHERE = "something of another module"
TABLE = Path(__file__).with_name("refused.txt")
OLDEST = "sm_75"
# What the compiler may have no code for. Everything else that ptxas takes has code: as an object where something is in another
# module.
REFUSABLE = frozenset(("too many errors",))
_TARGET = re.compile(r"^\s*\.target\s+(\w+)", re.M)
_DEBUG = re.compile(r"^(\s*\.target[^\n]*?)\s*,\s*debug\b", re.M)
_SECTION = re.compile(r"^\s*\.section[^{]*\{.*?^\s*\}", re.M | re.S)
_LINE = re.compile(r"^\s*\.(?:loc|file)\b[^\n]*", re.M)
_WORDS = (
    (re.compile(r"Unresolved extern (?:function|variable) "), ELSEWHERE),
    (re.compile(r"too many errors"), "too many errors"),
)


class Stored(NamedTuple):
    """A stored module without what is for a debugger: that has no code, and ptxas does not optimize a module that has it."""

    name: str
    text: str
    target: str


def modules(most: int = 0) -> Iterator[Stored]:
    """All stored modules; with ``most``, of each compiler only as many as have that many characters together."""
    for compiler in archive.COMPILERS:
        for name, text in archive.modules(compiler, most):
            found = _TARGET.search(text)
            assert found is not None, name
            text = _LINE.sub("", _SECTION.sub("", _DEBUG.sub(r"\1", text)))
            yield Stored(f"{compiler}/{name}", text, found[1] if found[1] in TARGETS else OLDEST)


def reasons(error: oric.CompileError) -> frozenset[str]:
    """What a refusal is for: words of :data:`REFUSABLE`, or messages that stand for nothing there."""
    messages = [text.partition("error: ")[2] for text in error.diagnostics.errors()]
    # that an initialiser is refused leaves a name without a variable
    kept = [text for text in messages if "is not declared" not in text or len(messages) == 1]
    return frozenset(_reason(text) for text in kept)


def _reason(message: str) -> str:
    for pattern, word in _WORDS:
        if pattern.match(message):
            return word
    return message


class Judged(NamedTuple):
    """``refused``: why there is no code; ``problem``: what is wrong with the code."""

    name: str
    level: int
    refused: frozenset[str] = frozenset()
    problem: str = ""


def compiled(module: Stored, level: int) -> bytes:
    """The code of a module, as an object where it needs others."""
    try:
        return oric.compile(module.text, arch=module.target, opt_level=level).image
    except oric.CompileError as error:
        if ELSEWHERE not in reasons(error):
            raise
        return oric.compile(module.text, arch=module.target, opt_level=level, relocatable=True).image


def judge(module: Stored, level: int) -> Judged:
    """Compile one module and check the schedule of its code."""
    try:
        image = compiled(module, level)
    except oric.CompileError as error:
        return Judged(module.name, level, reasons(error) - {ELSEWHERE})
    found = check_cubin(elf.read(image)).findings
    return Judged(module.name, level, problem=f"{len(found)} hazards: {found[0]}" if found else "")


def refused() -> dict[str, frozenset[str]]:
    """The table: module -> what it is refused for."""
    lines = [line.split(": ") for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    return {name: frozenset(words.split(", ")) for name, words in lines}


def main() -> int:
    """Write the table; 1 when something is wrong with the code or a module is refused for what has code."""
    with multiprocessing.Pool() as pool:
        found = pool.starmap(judge, [(module, level) for module in modules() for level in (0, 3)], chunksize=4)
    rows = {one.name: one.refused for one in found if one.refused}
    head = "# Stored modules that the compiler refuses, and what for. Made by: python -m tests.ptx_corpus.code\n"
    TABLE.write_text(head + "".join(f"{name}: {', '.join(sorted(words))}\n" for name, words in sorted(rows.items())))
    bad = [one for one in found if one.problem or one.refused - REFUSABLE]
    for one in bad:
        print(f"{one.name} -O{one.level}: {one.problem or sorted(one.refused - REFUSABLE)}")
    print(f"{len(rows)} of {len(found) // 2} modules are refused")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
