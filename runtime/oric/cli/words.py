"""The parser's messages in ptxas's words: text, severity and order, driven by ``spec/messages.yaml``.

ptxas reports most mistakes where it reads them, names that it does not know at the end of the function, and stops reading an
input at the first mistake of syntax.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final, NamedTuple

from oric_tables.messages import NAMES, WORDS, Words

from oric.support.diagnostics import WARNING, Diagnostic, Diagnostics

FATAL: Final = "fatal"
_PLACEHOLDER: Final = re.compile(r"\{(\w+)(:x)?\}")
_MNEMONIC: Final = re.compile(r"(?:@\s*!?\s*[\w%$]+\s+)?([a-z_]\w*(?:(?:\.|::)\w+)*)")
_TOKEN: Final = re.compile(
    r'@@DWARF|\.version\s+[\d.]+|\d+\.\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|[\w$%]+|\.\w+(?:::\w+)*|"[^"\n]*"'
    r"|<<|>>|[<>=!]=|&&|\|\||\S|\Z"
)
_SPACE: Final = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_WORD_BEFORE: Final = re.compile(r"([\w$%]*)[^\w$%]*\Z")
_BRACES: Final = re.compile(r'//[^\n]*|/\*.*?\*/|"[^"\n]*"|[{}]', re.DOTALL)
_NO_ASCII: Final = re.compile(r"[^\x01-\x7f]")
_REACH: Final = 200  # characters in front of a place in which a word is looked for


class Said(NamedTuple):
    """A line of ptxas's.

    ``offset`` is its place, -1 for none; ``alone``: it is said where there is nothing else to say; ``checked``: it is about an
    instruction that was read to its end.
    """

    severity: str
    text: str
    offset: int
    alone: bool = False
    checked: bool = False


def in_ptxas_words(part: Diagnostics, arch: str) -> list[Said]:
    """What ptxas says in place of the messages about an input, in its order; ``arch`` is what it compiles for."""
    text = part.source.text
    foreign = _NO_ASCII.search(text) if part.error_count else None
    if foreign is not None:  # ptxas reads nothing of such a text
        what = "EOF" if foreign[0] == "\0" else "non-ASCII character"
        return [Said(FATAL, f"Unexpected {what} encountered on line {part.source.line_of(foreign.start())}", -1)]
    said: list[tuple[int, Said]] = []
    compiled: list[Said] = []
    ends: list[int] = []
    for item in part.sorted():
        row, values = _row(item, part)
        if row is None:
            said.append((item.offset, Said(item.severity, item.message.replace("\n", " "), item.offset)))
            continue
        values["arch"] = arch
        if row.compiled:
            compiled += [Said(FATAL if row.fatal else item.severity, _filled(line, values), -1, row.alone) for line in row.texts]
            continue
        if row.fatal:
            said = _without_unfinished(said, text, item.offset)
        severity = FATAL if row.fatal else item.severity
        place = -1 if row.unplaced else item.offset
        order = len(text) if row.unplaced and not row.fatal else item.offset
        checked = bool(values["instruction"])
        said += [(order, Said(severity, _filled(line, values), place, row.alone, checked)) for line in row.texts]
        if row.late:
            ends = ends or _ends(text)
            end = next((end for end in ends if end > item.offset), len(text))
            said += [(end, Said(item.severity, _filled(line, values), place)) for line in row.late]
    lines = [line for _, line in sorted(said, key=lambda pair: pair[0])]
    if all(line.severity == WARNING for line in lines):
        lines += compiled
    return list(_until_fatal(lines))


def _without_unfinished(said: list[tuple[int, Said]], text: str, at: int) -> list[tuple[int, Said]]:
    """The lines without those about the instruction in which there is a mistake of syntax at ``at``: ptxas does not check it."""
    begin = max(text.rfind(character, 0, at) for character in ";{}")
    return [(order, line) for order, line in said if order <= begin or not line.checked]


def _until_fatal(lines: Iterable[Said]) -> Iterator[Said]:
    for line in lines:
        yield line
        if line.severity == FATAL:
            return


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], re.Pattern[str], Words], ...]:
    return tuple((re.compile(row.pattern, re.DOTALL), re.compile(row.statement), row) for row in WORDS)


def _row(item: Diagnostic, part: Diagnostics) -> tuple[Words | None, dict[str, str]]:
    """The row of a message, and what its placeholders stand for."""
    text, statement = part.source.text, max(item.statement, 0)
    for pattern, beginning, row in _patterns():
        match = pattern.fullmatch(item.message)
        if match is not None and beginning.match(text, statement):
            values = match.groupdict()
            if "operand" in values:
                values["argument"] = str(int(values["operand"]) - 1)
            return row, _around(item, part) | values
    return None, {}


def _around(item: Diagnostic, part: Diagnostics) -> dict[str, str]:
    """What the source says of the place."""
    text, at = part.source.text, max(item.offset, 0)
    near, behind = _token(text, at)
    before = _WORD_BEFORE.search(text, max(at - _REACH, 0), at)
    return {
        "near": near,
        "next": _token(text, behind)[0],
        "before": "" if before is None else before[1],
        "instruction": _instruction(text, item.statement) if 0 <= item.statement <= at else "",
        "file": part.source.filename,
    }


def _instruction(text: str, statement: int) -> str:
    """ptxas's name of the instruction of a statement."""
    match = _MNEMONIC.match(text, statement)
    if match is None:
        return ""
    words = match[1].replace("::", ".::").split(".")
    names = (".".join(words[:count]) for count in range(len(words), 1, -1))
    return next((name for name in names if name in NAMES), words[0])


def _token(text: str, at: int) -> tuple[str, int]:
    """The token at ``at``, and where the next one begins."""
    match = _TOKEN.match(text, at)
    space = _SPACE.match(text, at if match is None else match.end())
    assert space is not None
    return "" if match is None else match[0], space.end()


def _filled(text: str, values: dict[str, str]) -> str:
    """A line of ptxas's with its placeholders filled."""
    return _PLACEHOLDER.sub(lambda m: f"{int(values[m[1]], 0):x}" if m[2] else values[m[1]], text)


def _ends(text: str) -> list[int]:
    """Where the outermost braces of a module close."""
    depth, found = 0, []
    for match in _BRACES.finditer(text):
        if match[0] == "{":
            depth += 1
        elif match[0] == "}":
            depth = max(depth - 1, 0)
            if depth == 0:
                found.append(match.start())
    return found
