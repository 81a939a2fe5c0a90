"""Messages of the command, in Oric's form or in ptxas's.

ptxas's form is one line a message: ``ptxas FILE, line N; error   : text``, ``ptxas warning : text`` for those without a place,
and ``ptxas fatal   : Ptx assembly aborted due to errors`` behind errors of the input.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Final, TextIO

from oric.support.diagnostics import ERROR, WARNING, Diagnostics, Source

from .arguments import Remark

FATAL: Final = "fatal"
INFO: Final = "info"


class Messages:
    """Prints messages on standard error and remembers whether there were errors.

    ``tool`` begins a message; ``plain``: ptxas's form. ``silent`` leaves warnings out, ``strict`` makes them errors.
    """

    def __init__(self, tool: str, plain: bool) -> None:
        self.tool = tool
        self.plain = plain
        self.silent = False
        self.strict = False
        self.arch = ""  # what is compiled for
        self.errors = 0
        self.ended = False  # by a message behind which ptxas says nothing more

    def tell(self, severity: str, text: str) -> None:
        """Print a message that has no place in an input."""
        if severity == INFO or self.plain:
            self._write(f"{self.tool} {severity:<8}: {text}")
        else:
            self._write(f"{self.tool}: {ERROR if severity == FATAL else severity}: {text}")

    def remark(self, remark: Remark) -> None:
        """Print what is said of the options."""
        severity = remark.severity if remark.spelling else self._judged(remark.severity)
        if severity:
            self.errors += severity == ERROR
            self.tell(severity, remark.text)

    def diagnostics(self, parts: Iterable[Diagnostics]) -> None:
        """Print the messages about inputs; those in ptxas's form are in its words."""
        kept = []
        for part in parts:
            for item in part.items:
                item.severity = self._judged(item.severity)
            part.items[:] = [item for item in part.items if item.severity]
            if part.items:
                kept.append(part)
                self.errors += any(item.severity == ERROR for item in part.items)
        if self.plain:
            self._plain(kept)
        else:
            for part in kept:
                self._write(part.render())

    def aborted(self) -> None:
        """Say that nothing comes of it."""
        if self.plain and not self.ended:
            self.tell(FATAL, "Ptx assembly aborted due to errors")

    def _judged(self, severity: str) -> str:
        """The severity that a message gets, "" when it is left out."""
        if severity == WARNING:
            return "" if self.silent else ERROR if self.strict else WARNING
        return severity

    def _plain(self, parts: Iterable[Diagnostics]) -> None:
        """Messages in ptxas's form. What it says alone it says only where there is no other error."""
        from .words import in_ptxas_words

        said = [(part.source, line) for part in parts for line in in_ptxas_words(part, self.arch)]
        self.ended = any(line.alone for _, line in said) and all(line.alone or line.severity == WARNING for _, line in said)
        for source, line in said:
            if self.ended or not line.alone or line.severity == WARNING:
                self._write(f"{self.tool} {_place(source, line.offset)}{line.severity:<8}: {line.text}")
            if self.ended and line.severity == FATAL:
                return

    @staticmethod
    def _write(text: str) -> None:
        stream: TextIO = sys.stderr
        print(text.encode("utf-8", "backslashreplace").decode("utf-8"), file=stream)


def _place(source: Source, offset: int) -> str:
    """File and line in ptxas's form, which line markers change."""
    if offset < 0:
        return ""
    name, line = source.presumed(offset)
    return f"{name}, line {line}; "
