"""A PTX text as the scanner in C takes it: one byte for each character; and the tokens that were read ahead."""

from __future__ import annotations

import re
from typing import Any, Final

from librt.vecs import vec
from mypy_extensions import i64
from oric_tables._native import ffi, lib

from oric.support.arrays import zeros
from oric.support.lend import lend

TOKEN_WORDS: Final = 3  # kind, first character, end: ORIC_PTX_TOKEN_WORDS
_FEW: Final = 16  # tokens that are read ahead at first: a statement has about that many
_MOST: Final = 64
_read_tokens: Final[Any] = lib.oric_ptx_tokens
_data_end: Final[Any] = lib.oric_ptx_data


def latin(text: str) -> bytes:
    """One byte for each character; where Latin-1 does not have them all, 0x80 stands for those beyond ASCII."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return re.sub("[^\x00-\x7f]", "\x80", text).encode("latin-1")


class Text:
    """A text and a window of its tokens.

    The window holds ``count`` tokens in ``ahead``, the first of which was looked for at ``begin``; ``end`` is where the text
    was taken to end.
    """

    __slots__ = ("_lent", "ahead", "begin", "bytes", "count", "end", "length", "most", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.length: int = len(text)
        self.bytes: Any = ffi.from_buffer(latin(text))
        self.ahead: vec[i64] = zeros(TOKEN_WORDS * _MOST)
        self._lent: Any = lend(self.ahead)
        self.begin: int = -1
        self.end: int = 0
        self.count: int = 0
        self.most: int = _FEW

    def read_ahead(self, position: i64, end: i64) -> None:
        """Fill the window with the tokens from ``position`` on, of a text that ends at ``end``; there is at least one."""
        if self.count and self.ahead[TOKEN_WORDS * self.count - 1] == position:  # somebody reads on: a longer look ahead pays
            self.most = min(2 * self.most, _MOST)
        else:
            self.most = _FEW
        self.begin = position
        self.end = end
        self.count = _read_tokens(self.bytes, end, position, self._lent, self.most)

    def behind_data(self, position: i64) -> i64:
        """The place behind the plain lines of data of a debug section from ``position`` on."""
        found: i64 = _data_end(self.bytes, self.length, position)
        return found
