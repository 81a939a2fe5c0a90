"""Where to go on after a mistake, so that one run reports several: without tokens, so that broken texts cost little."""

from __future__ import annotations

import re
from typing import Final

from .declarations import LINKAGE
from .lexer import DOT_WORD, IDENT, Lexer, PtxError

# Up to the next semicolon or brace that is in no comment and no string.
_PLAIN: Final = re.compile(r'(?:[^;{}"/]++|"[^"\n]*+"|//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/|["/])*+')
_BEHIND: Final = re.compile(r"[ \t]*+;?")  # what ends a statement behind its last brace
_OPENING: Final = re.compile(rf"\n[ \t]*+(?:{'|'.join(re.escape(w) for w in ('.entry', '.func', *sorted(LINKAGE)))})(?![\w$])")


def next_statement(lexer: Lexer, begin: int) -> None:
    """In a body: behind the next ``;``, at a ``}`` that closes a scope, or at a token that opens a line."""
    text, at = lexer.text, lexer.at
    if at > begin and (lexer.kind in (IDENT, DOT_WORD) or lexer.is_punct("@")):
        before = text.rfind("\n", begin, at)
        if before >= 0 and not text[before:at].strip():
            return
    depth = text.count("{", begin, at) - text.count("}", begin, at)
    _go(lexer, _end(text, at, depth, stop_at_close=True))


def next_declaration(lexer: Lexer, begin: int) -> None:
    """At module level: behind the broken statement, and behind its body if it has one."""
    text = lexer.text
    depth = max(text.count("{", begin, lexer.at) - text.count("}", begin, lexer.at), 0)
    end = _end(text, lexer.at, depth, stop_at_close=False)
    opening = _OPENING.search(text, max(lexer.at - 1, begin), end) if depth == 0 else None
    _go(lexer, opening.start() + 1 if opening is not None else end)


def behind_body(lexer: Lexer) -> None:
    """Behind the brace that closes the one before the lexer."""
    text, at, depth = lexer.text, lexer.at, 1
    while depth and at < len(text):
        at = _skip(text, at)
        if at < len(text):
            depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    _go(lexer, min(at, len(text)))


def _skip(text: str, at: int) -> int:
    match = _PLAIN.match(text, at)
    return at if match is None else match.end()


def _end(text: str, at: int, depth: int, stop_at_close: bool) -> int:
    """The end of a statement; with ``stop_at_close`` a brace that closes more than the statement opened ends it too."""
    while at < len(text):
        at = _skip(text, at)
        character = text[at : at + 1]
        if character == "{":
            depth += 1
        elif character == "}":
            if depth <= 0 and stop_at_close:
                return at
            depth -= 1
            if depth <= 0 and not stop_at_close:
                return _BEHIND.match(text, at + 1).end()  # type: ignore[union-attr]  # it matches nothing too
        elif character == ";" and (stop_at_close or depth <= 0):
            return at + 1
        at += 1
    return len(text)


def _go(lexer: Lexer, position: int) -> None:
    try:
        lexer.move(position)
    except PtxError:
        lexer.move(len(lexer.text))
