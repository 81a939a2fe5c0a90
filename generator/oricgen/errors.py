"""The errors of the generator: a mistake in the specification, with file and line, or a command asked for what is not there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath
from types import TracebackType
from typing import NoReturn

MOST = 50  # mistakes that one run tells
_LONG = re.compile(r"'([^']{120})[^']{60,}([^']{40})'")


class SpecError(Exception):
    """A mistake in the specification.

    ``str()`` gives ``FILE:LINE:COLUMN: MESSAGE`` (without the column where it is not known, without a line when the file as a
    whole is meant); what it quotes at length is cut. ``others`` are further mistakes, found at the same time, that do not follow
    from this one.
    """

    def __init__(self, path: PurePath | str, line: int, message: str, column: int = 0) -> None:
        message = _LONG.sub(r"'\1 ... \2'", message)
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

    def all(self) -> tuple[SpecError, ...]:
        """It and the others."""
        return (self, *self.others)


class UsageError(Exception):
    """A command line that cannot be carried out: an unknown name, a broken condition. Exit status 2, like a mistake."""


class Mistakes:
    """Gathers the mistakes of rows that do not depend on each other, so that one does not hide the next.

    ``with Mistakes() as each:`` around the loop, ``with each:`` around what is done for one row. What the rows raise is kept;
    when the loop is over, the first is raised, and the others are its ``others``.
    """

    def __init__(self) -> None:
        self.row = Row()

    def __enter__(self) -> Row:
        return self.row

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if isinstance(error, SpecError):
            self.row.keep(error)
        elif error is not None:
            return
        if self.row.found:
            raise_all(self.row.found)


class Row:
    """What ``with`` stands before the work on one row: a mistake ends that work only."""

    def __init__(self) -> None:
        self.found: list[SpecError] = []

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> bool:
        if not isinstance(error, SpecError):
            return False
        self.keep(error)
        return True

    def keep(self, error: SpecError) -> None:
        """Add it and its others."""
        self.found += error.all()


def raise_all(found: Iterable[SpecError]) -> NoReturn:
    """Raise the first with the others, each once.

    Raises:
        SpecError: always.
    """
    first, *rest = {str(error): error for error in found}.values()
    first.others = tuple(rest)
    raise first
