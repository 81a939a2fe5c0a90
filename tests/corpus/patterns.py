"""The files ``sources/*.ops``: one PTX instruction a line, with alternatives and typed operands.

    [name; sm >= 80; turns = 3; random]     starts a section: the oldest SM, kernels made of each line, use in random code
    add.(s32|u64) <=\\1>, <\\1>, <\\1>      two instructions; ``\\1`` is what the first group stands for

Operands: ``<T>`` a value of type T, ``<=T>`` a result, ``<+T>`` both, ``<T*4>`` a vector of four, ``<T!>`` a value that must lie
in a register (never a parameter or constant), ``<@global>`` an address (global, shared, local, const, generic, cluster; map is
that of a tensor map). A line may hold several statements.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SOURCES = Path(__file__).resolve().parent / "sources"
OPERAND = re.compile(r"<([=+@]?)([a-z][\w:.]*)(?:\*(\d+))?(!?)>")
_GROUP = re.compile(r"\(([^()]*\|[^()]*)\)")
_HEADER = re.compile(r"\[([\w ]+)((?:;[^;\]]*)*)\]$")
ADDRESSES = ("global", "shared", "local", "const", "generic", "cluster", "map")
# Types of operands and the register type that holds them.
REGISTER = {
    **dict.fromkeys(("b8", "u8", "s8", "b16", "u16", "s16", "f16", "bf16"), "b16"),
    **dict.fromkeys(("e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2", "ue8m0x2", "e2m1x4"), "b16"),
    **dict.fromkeys(("b32", "u32", "s32", "f16x2", "bf16x2", "u16x2", "s16x2", "tf32"), "b32"),
    **dict.fromkeys(("e4m3x4", "e5m2x4", "e2m3x4", "e3m2x4"), "b32"),
    **dict.fromkeys(("b64", "u64", "s64", "f32x2"), "b64"),
    "f32": "f32", "f64": "f64", "pred": "pred", "b128": "b128",
}  # fmt: skip


class Operand(NamedTuple):
    """One operand of a line. ``role``: "" value, "=" result, "+" both, "@" address."""

    role: str
    type: str
    count: int
    vector: bool
    register: bool


class Line(NamedTuple):
    """One instruction: text with ``{0}`` ... for the operands; ``place`` = file:line for messages."""

    text: str
    operands: tuple[Operand, ...]
    place: str


class Section(NamedTuple):
    """Lines of one family; ``sm`` the oldest SM that is asked, ``turns`` kernels per line, ``random`` fit for random code."""

    name: str
    sm: int
    turns: int
    random: bool
    lines: tuple[Line, ...]


class PatternError(Exception):
    """A file that is not written as described; ``str()`` names file and line."""


def sections() -> list[Section]:
    """All sections of all files, in order of file names."""
    return [section for path in sorted(SOURCES.glob("*.ops")) for section in read(path)]


def read(path: Path) -> list[Section]:
    """The sections of one file."""
    found: list[Section] = []
    lines: list[Line] = []
    head: tuple[str, int, int, bool] | None = None
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        place = f"{path.name}:{number}"
        text = text.strip()
        if not text or text.startswith("#"):
            continue
        if text.startswith("["):
            if head:
                found.append(Section(*head, tuple(lines)))
            head, lines = _header(text, place), []
        elif head is None:
            raise PatternError(f"{place}: a line before the first section")
        else:
            lines += [_line(t, place) for t in expand(text)]
    if head:
        found.append(Section(*head, tuple(lines)))
    return found


def _header(text: str, place: str) -> tuple[str, int, int, bool]:
    match = _HEADER.match(text)
    if not match:
        raise PatternError(f"{place}: not a section: {text}")
    sm, turns, random = 75, 2, False
    for word in filter(None, (w.strip() for w in match[2].split(";"))):
        if re.fullmatch(r"sm >= \d+", word):
            sm = int(word.split()[-1])
        elif re.fullmatch(r"turns = \d+", word):
            turns = int(word.split()[-1])
        elif word == "random":
            random = True
        else:
            raise PatternError(f"{place}: what is '{word}'?")
    return match[1].strip(), sm, turns, random


def expand(text: str) -> Iterator[str]:
    """All instructions that a line stands for."""
    groups = _GROUP.findall(text)
    parts = _GROUP.split(text)
    for choice in itertools.product(*(g.split("|") for g in groups)):
        whole = "".join(choice[i // 2] if i % 2 else part for i, part in enumerate(parts))
        yield re.sub(r"\\(\d)", lambda m, c=choice: c[int(m[1]) - 1].lstrip("."), whole)


def _line(text: str, place: str) -> Line:
    operands: list[Operand] = []

    def take(match: re.Match[str]) -> str:
        role, kind, count, must = match.groups()
        if role == "@" and kind not in ADDRESSES:
            raise PatternError(f"{place}: no such address: {kind}")
        if role != "@" and kind not in REGISTER:
            raise PatternError(f"{place}: no such type: {kind}")
        operands.append(Operand(role, kind, int(count or 1), bool(count), bool(must)))
        return f"\0{len(operands) - 1}\0"

    text = OPERAND.sub(take, text)
    if not text.endswith(";") and not text.startswith("{"):
        text += ";"
    return Line(text, tuple(operands), place)
