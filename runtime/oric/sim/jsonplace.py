"""Where in a JSON text a value stands."""

from __future__ import annotations

import json
import re
from typing import Final

Path = tuple[str | int, ...]
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_DECODER: Final = json.JSONDecoder()


def line_and_column(text: str, path: Path) -> tuple[int, int]:
    """Line and column (from 1) of the value that ``path`` leads to, or of the last one on the way that is there."""
    at = _skip(text, 0)
    for step in path:
        found = _member(text, at, step) if isinstance(step, str) else _item(text, at, step)
        if found is None:
            break
        at = found
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _value_end(text: str, at: int) -> int:
    return _skip(text, _DECODER.raw_decode(text, at)[1])


def _member(text: str, at: int, key: str) -> int | None:
    """Start of the value of ``key`` in the object at ``at``; of the last one when the key is there twice, as json has it."""
    found = None
    while text[at] in "{,":
        at = _skip(text, at + 1)
        if text[at] != '"':
            break
        name, at = _DECODER.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        found = at if name == key else found
        at = _value_end(text, at)
    return found


def _item(text: str, at: int, index: int) -> int | None:
    """Start of an item of the list at ``at``."""
    while text[at] in "[,":
        at = _skip(text, at + 1)
        if text[at] == "]":
            break
        if index == 0:
            return at
        index -= 1
        at = _value_end(text, at)
    return None
