"""The one error type of the generator: a message with the file and line of its cause."""

from __future__ import annotations

from pathlib import Path


class SpecError(Exception):
    """A mistake in the specification.

    ``str()`` gives ``FILE:LINE: MESSAGE`` (the line is left out when the file as a whole is meant).
    """

    def __init__(self, path: Path | str, line: int, message: str) -> None:
        super().__init__(message)
        self.path = str(path)
        self.line = line
        self.message = message

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line > 0 else self.path
        return f"{place}: {self.message}"
