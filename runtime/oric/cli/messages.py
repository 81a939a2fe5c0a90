"""Messages of the command, in Oric's form or in ptxas's.

ptxas's form is one line a message: ``ptxas FILE, line N; error   : text``, ``ptxas warning : text`` for those without a place,
and ``ptxas fatal   : Ptx assembly aborted due to errors`` behind errors of the input.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Final, TextIO

from oric.support.diagnostics import ERROR, WARNING, Diagnostics

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
        self.errors = 0

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
        """Print the messages about inputs."""
        for part in parts:
            kept = []
            for item in part.items:
                item.severity = self._judged(item.severity)
                if item.severity:
                    kept.append(item)
            part.items[:] = kept
            if kept:
                self.errors += any(item.severity == ERROR for item in kept)
                self._write("\n".join(self._plain_lines(part)) if self.plain else part.render())

    def aborted(self) -> None:
        """Say that nothing comes of it."""
        if self.plain:
            self.tell(FATAL, "Ptx assembly aborted due to errors")

    def _judged(self, severity: str) -> str:
        """The severity that a message gets, "" when it is left out."""
        if severity == WARNING:
            return "" if self.silent else ERROR if self.strict else WARNING
        return severity

    def _plain_lines(self, part: Diagnostics) -> Iterable[str]:
        for item in part.sorted():
            text = item.message.replace("\n", " ")
            if item.offset < 0:
                yield f"{self.tool} {item.severity:<8}: {text}"
            else:
                line = part.source.line_of(item.offset)
                yield f"{self.tool} {part.source.filename}, line {line}; {item.severity:<8}: {text}"

    @staticmethod
    def _write(text: str) -> None:
        stream: TextIO = sys.stderr
        print(text.encode("utf-8", "backslashreplace").decode("utf-8"), file=stream)
