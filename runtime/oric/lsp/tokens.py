"""Tokens of a text that may be broken anywhere: those of the compiler's scanner, which go on behind what is none."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final, NamedTuple

from oric.ptx.lexer import END, IDENT, STRING, Lexer, PtxError
from oric.ptx.text import Text

MNEMONIC: Final = 200  # a kind of this module: a name with what follows it behind dots, ``tex.2d.v4.f32.s32``
_DOTTED: Final = re.compile(r"[A-Za-z_]\w*+(?:(?:::\w++)|\.(?=\w)\w++)*+\.?", re.ASCII)


class Token(NamedTuple):
    """A token: its kind (those of :mod:`oric.ptx.lexer`, or :data:`MNEMONIC`), its text, where it begins and ends."""

    kind: int
    text: str
    at: int
    after: int


def read_tokens(text: str) -> list[Token]:
    """The tokens of a text, in order; behind a string without an end the next line is read, behind such a comment nothing."""
    return list(_read(text))


def _read(text: str) -> Iterator[Token]:
    source, at = Text(text), 0
    while at < len(text):
        try:
            lexer = Lexer(source, at)
            while lexer.kind != END:
                token = _token(lexer, text)
                yield token
                if token.after != lexer.after:
                    lexer.move(token.after)
                else:
                    lexer.advance()
            return
        except PtxError as error:
            if text.startswith("/*", error.at):
                return
            end = text.find("\n", error.at)
            at = len(text) if end < 0 else end


def _token(lexer: Lexer, text: str) -> Token:
    if lexer.kind == IDENT and text[lexer.after : lexer.after + 1] in (".", ":"):
        whole = _DOTTED.match(text, lexer.at)
        if whole is not None and "." in whole[0]:
            return Token(MNEMONIC, whole[0], lexer.at, whole.end())
    return Token(lexer.kind, lexer.value, lexer.at, lexer.after)


def token_at(tokens: list[Token], offset: int) -> int:
    """Number of the token that holds a place or ends there, a word rather than what stands behind it; -1 for none."""
    index = bisect_right(tokens, offset, key=_at) - 1
    if index > 0 and tokens[index].at == offset == tokens[index - 1].after and tokens[index].kind >= STRING:
        index -= 1
    return index if index >= 0 and offset <= tokens[index].after else -1


def _at(token: Token) -> int:
    return token.at
