"""PTX modules taken apart: functions of one program go into two modules that are to be linked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_LINKAGE = re.compile(r"^\s*\.(?:visible|extern|weak|common)\b")
_FUNCTION = re.compile(r"\.func\b")
_NAME = re.compile(r"\.func\b\s*(?:\(.*?\)\s*)?([A-Za-z_$%][\w$]*)", re.DOTALL)
_HEAD = re.compile(r"^\s*\.(version|target|address_size)\b[^\n]*", re.MULTILINE)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


class Item(NamedTuple):
    """Something at module level. ``head``: a function without its body; ``name``: of a function, else ""."""

    text: str
    head: str
    name: str
    has_body: bool


def items(text: str) -> Iterator[Item]:
    """What stands behind the three directives of the head."""
    text = _HEAD.sub("", _COMMENT.sub("", text))
    start = depth = body = 0
    for at, letter in enumerate(text):
        if letter == "{":
            if not depth and "=" not in text[start:at]:
                body = at
            depth += 1
        depth -= letter == "}"
        is_body = body > start or (body == start and text[start] == "{")
        if depth or not ((letter == "}" and is_body) or letter == ";"):
            continue
        piece = text[start : at + 1].strip()
        head = text[start:body].strip() if is_body else piece.rstrip(";")
        found = _NAME.search(head) if _FUNCTION.search(head) else None
        yield Item(piece, head, found[1] if found else "", is_body)
        start = body = at + 1


def functions(text: str) -> list[str]:
    """The functions that have a body."""
    return [item.name for item in items(text) if item.name and item.has_body]


def split(text: str, there: frozenset[str]) -> tuple[str, str]:
    """Two modules: the entries and the functions but those of ``there``, and those."""
    head = "".join(match[0].strip() + "\n" for match in _HEAD.finditer(text))
    everything = list(items(text))
    bodies = {item.name for item in everything if item.name and item.has_body}
    parts: list[list[str]] = [[head], [head]]
    for side, part in enumerate(parts):
        own = {name for name in bodies if (name in there) == bool(side)}
        seen: set[str] = set()
        for item in everything:  # all functions are declared first
            if item.name and item.name not in seen:
                seen.add(item.name)
                if item.name in bodies:
                    part.append(f".{'visible' if item.name in own else 'extern'} {_bare(item.head)};\n")
                else:
                    part.append(item.text + "\n")
        for item in everything:
            if item.name:
                if item.has_body and item.name in own:
                    part.append(f".visible {_bare(item.text)}\n")
            elif item.has_body:
                if not side:
                    part.append(item.text + "\n")
            else:
                part.append(_variable(item.text, bool(side)) + "\n")
    return "".join(parts[0]), "".join(parts[1])


def _bare(text: str) -> str:
    return _LINKAGE.sub("", text).strip()


def _variable(text: str, elsewhere: bool) -> str:
    """A variable as both modules see it: the first one has it."""
    if text.startswith(".extern"):
        return text
    if not elsewhere:
        return f".visible {_bare(text)}"
    return f".extern {_bare(text).split('=')[0].rstrip(' ;')};"
