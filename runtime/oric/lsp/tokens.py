"""Tokens of a text that may be broken anywhere: those of the compiler's scanner, which go on behind what is none."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final, NamedTuple

from oric_tables._native import ffi, lib

from oric.ptx.lexer import END, IDENT, PUNCT, STRING
from oric.ptx.text import TOKEN_WORDS, latin

MNEMONIC: Final = 200  # a kind of this module: a name with what follows it behind dots, ``tex.2d.v4.f32.s32``
_WINDOW: Final = 1024  # tokens that are read at once
_DOTTED: Final = re.compile(r"[A-Za-z_]\w*+(?:(?:::\w++)|\.(?=\w)\w++)*+\.?", re.ASCII)


class Token(NamedTuple):
    """A token: its kind (those of :mod:`oric.ptx.lexer`, or :data:`MNEMONIC`), its text, where it begins and ends."""

    kind: int
    text: str
    at: int
    after: int


def read_tokens(text: str) -> list[Token]:
    """The tokens of a text, in order; behind a string without an end the next line is read, behind such a comment nothing."""
    return list(iter_tokens(text))


def iter_tokens(text: str) -> Iterator[Token]:
    """The tokens of a text one by one."""
    data = ffi.from_buffer(latin(text))
    window = ffi.new("int64_t[]", TOKEN_WORDS * _WINDOW)
    at = behind = 0  # behind: where the last mnemonic ends, whose parts are no tokens
    while at < len(text):
        count = lib.oric_ptx_tokens(data, len(text), at, window, _WINDOW)
        words = iter(ffi.unpack(window, TOKEN_WORDS * count))
        for kind, at, after in zip(words, words, words, strict=True):
            if kind == END:
                return
            if at < behind:
                at = after
                continue
            if kind == IDENT and text[after : after + 1] == "." and (whole := _DOTTED.match(text, at)) is not None:
                behind = whole.end()
                yield Token(MNEMONIC, whole[0], at, behind)
            elif kind >= PUNCT and (text[at] == '"' or text.startswith("/*", at)):
                end = text.find("\n", at) if text[at] == '"' else -1
                at = len(text) if end < 0 else end
                break
            else:
                yield Token(kind, text[at:after], at, after)
            at = after


def token_at(tokens: list[Token], offset: int) -> int:
    """Number of the token that holds a place or ends there, a word rather than what stands behind it; -1 for none."""
    index = bisect_right(tokens, offset, key=_at) - 1
    if index > 0 and tokens[index].at == offset == tokens[index - 1].after and tokens[index].kind >= STRING:
        index -= 1
    return index if index >= 0 and offset <= tokens[index].after else -1


def _at(token: Token) -> int:
    return token.at
