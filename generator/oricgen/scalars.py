"""Where the characters of a YAML scalar stand in its file: folding, indentation and escapes lie between the two."""

from __future__ import annotations

_LENGTHS = {"x": 4, "u": 6, "U": 10}  # of escapes with digits
_SPACES = frozenset("ntr_0NLP \n\t")  # behind a backslash: what stands for white space, or for nothing


def place(source: str, start: int, value: object, offset: int) -> int:
    """The index in ``source`` of character ``offset`` of ``value``, whose scalar begins at ``start``."""
    text = str(value)
    style = source[start : start + 1]
    first = start + 1 if style in {'"', "'"} else source.find("\n", start) + 1 if style in {"|", ">"} else start
    if source.startswith(text, first):  # all on one line, nothing escaped
        return first + offset
    at = first
    for character in text[:offset]:
        if not character.isspace():
            at = _behind(source, _next(source, at, style), style)
    return _next(source, at, style) if not text[offset : offset + 1].isspace() and offset < len(text) else at


def _next(source: str, at: int, style: str) -> int:
    """The next place that is not white space, written as such or as an escape."""
    while at < len(source):
        if style == '"' and source[at] == "\\" and source[at + 1 : at + 2] in _SPACES:
            at += 2
        elif source[at].isspace():
            at += 1
        else:
            break
    return at


def _behind(source: str, at: int, style: str) -> int:
    """The place behind the character that begins at ``at``."""
    if style == '"' and source.startswith("\\", at):
        return at + _LENGTHS.get(source[at + 1 : at + 2], 2)
    return at + (2 if style == "'" and source.startswith("''", at) else 1)
