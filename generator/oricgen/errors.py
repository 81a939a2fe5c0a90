"""The errors of the generator: a mistake in the specification, with file and line, or a command asked for what is not there."""

from __future__ import annotations

from pathlib import PurePath


class SpecError(Exception):
    """A mistake in the specification.

    ``str()`` gives ``FILE:LINE:COLUMN: MESSAGE`` (without the column where it is not known, without a line when the file as a
    whole is meant). ``others`` are further mistakes of the same kind, found at the same time.
    """

    def __init__(self, path: PurePath | str, line: int, message: str, column: int = 0) -> None:
        super().__init__(message)
        self.path = str(path)
        self.line = line
        self.column = column
        self.message = message
        self.others: tuple[SpecError, ...] = ()

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line > 0 else self.path
        place += f":{self.column}" if self.line > 0 and self.column > 0 else ""
        return f"{place}: {self.message}"


class UsageError(Exception):
    """A command line that cannot be carried out: an unknown name, a broken condition. Exit status 2, like a mistake."""
