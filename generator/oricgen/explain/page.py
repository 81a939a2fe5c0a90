"""The text of an explanation: headings, aligned columns, wrapped values."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

from ..query import aligned, text

WIDTH = 118


class Page:
    """Collects lines; every method adds some."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def heading(self, words: str, place: str = "") -> None:
        """A heading with the file and line that it is about; an empty line in front of all but the first."""
        if self.lines:
            self.lines.append("")
        self.lines.append(f"{words}  ({place})" if place else words)

    def fields(self, values: Mapping[str, Any], indent: int = 2) -> None:
        """One column a line: names padded, long values wrapped below themselves."""
        width = max((len(str(name)) for name in values), default=0)
        for name, value in values.items():
            lead = " " * indent + str(name).ljust(width) + "  "
            self.wrapped(text(value), lead)

    def wrapped(self, words: str, lead: str) -> None:
        """Words behind ``lead``, wrapped; later lines stand below the first word."""
        self.lines += textwrap.wrap(
            words, WIDTH, initial_indent=lead, subsequent_indent=" " * len(lead), break_long_words=False, break_on_hyphens=False
        ) or [lead.rstrip()]  # fmt: skip

    def items(self, entries: Iterable[str], indent: int = 2) -> None:
        """Entries side by side, as many as fit a line."""
        line = ""
        for entry in entries:
            if line and indent + len(line) + 3 + len(entry) > WIDTH:
                self.lines.append(" " * indent + line)
                line = ""
            line += ("   " if line else "") + entry
        if line:
            self.lines.append(" " * indent + line)

    def table(self, rows: Iterable[list[str]], indent: int = 2) -> None:
        """Aligned columns."""
        self.lines += [(" " * indent + line).rstrip() for line in aligned(list(rows)).splitlines()]

    def line(self, words: str, indent: int = 2) -> None:
        """One line as it is."""
        self.lines.append(" " * indent + words)

    def __str__(self) -> str:
        return "\n".join(self.lines) + "\n"
