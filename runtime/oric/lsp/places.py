"""Places: character offsets of a text, and lines and columns in the units that a client counts in.

Source: Language Server Protocol 3.17, Text Documents: Position.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

UTF8: Final = "utf-8"
UTF16: Final = "utf-16"
UTF32: Final = "utf-32"
_LINE_END: Final = re.compile(r"\r\n|\n|\r")


def units(text: str, encoding: str) -> int:
    """How many units of an encoding a text has; lone surrogates count as one character."""
    if encoding == UTF32 or text.isascii():
        return len(text)
    if encoding == UTF8:
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(char > "\uffff" for char in text)


class Places:
    """The lines of a text. Lines count from 0; what is outside of the text means its nearest end."""

    def __init__(self, text: str, encoding: str = UTF16) -> None:
        self.text = text
        self.encoding = encoding
        self.ascii = text.isascii()
        self.starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def line_of(self, offset: int) -> int:
        """The line that a character offset is in."""
        return bisect_right(self.starts, min(max(offset, 0), len(self.text))) - 1

    def line_text(self, line: int) -> str:
        """The text of a line without its end."""
        if not 0 <= line < len(self.starts):
            return ""
        end = self.starts[line + 1] if line + 1 < len(self.starts) else len(self.text)
        return self.text[self.starts[line] : end].rstrip("\r\n")

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a character offset."""
        offset = min(max(offset, 0), len(self.text))
        line = self.line_of(offset)
        start = self.starts[line]
        return line, offset - start if self.ascii else units(self.text[start:offset], self.encoding)

    def offset(self, line: int, column: int) -> int:
        """The character offset of a line and column; inside of a character: its beginning."""
        if line < 0:
            return 0
        if line >= len(self.starts):
            return len(self.text)
        shown = self.line_text(line)
        start, column = self.starts[line], max(column, 0)
        if self.ascii or shown.isascii() or self.encoding == UTF32:
            return start + min(column, len(shown))
        for index, char in enumerate(shown):
            column -= units(char, self.encoding)
            if column < 0:
                return start + index
        return start + len(shown)


def edited(places: Places, start: tuple[int, int], end: tuple[int, int], new: str) -> str:
    """The text with a part of it replaced."""
    first = places.offset(*start)
    last = max(places.offset(*end), first)
    return places.text[:first] + new + places.text[last:]
