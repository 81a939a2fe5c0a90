"""Diagnostics: messages with a place in a source text, and their rendering with the source line and a caret.

A place is a *character offset* into the text. Line and column are worked out only when somebody asks, so that
the parser and the lowering can give every instruction a place for the price of an int.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

from .offsets import Lines

ERROR: Final = "error"
WARNING: Final = "warning"
NOTE: Final = "note"
INFO: Final = "info"

MAX_ERRORS: Final = 100  # per source; more than this is one broken file, not many mistakes
_WINDOW: Final = 120  # characters of a source line that are shown at most
_LONGEST: Final = 4096  # a longer line is not shown at all
_NO_TEXT: Final = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd\ud800-\udfff]"


# What may hide a line marker, and a marker: `# 12 "a.cu"`, `#line 12 "a.cu"`, perhaps with numbers behind the name.
_MARKERS: Final = re.compile(
    r'//[^\n]*|/\*.*?\*/|"[^"\n]*"|'
    r'#[ \t\f\r]*(?:line[ \t\f\r]*)?(?P<line>\d+)[ \t\f\r]+"(?P<name>[^"\n]*)"(?P<more>(?:[ \t\f\r]+\d+)*)[ \t\f\r]*(?=\n|\Z)',
    re.DOTALL,
)


class Location(tuple[int, int]):
    """A place for people, (line, column): both count from 1; a tab is one column."""

    __slots__ = ()

    def __new__(cls, line: int, col: int) -> Location:
        """The place in a line, at a column."""
        return super().__new__(cls, (line, col))

    @property
    def line(self) -> int:
        """The line."""
        return self[0]

    @property
    def col(self) -> int:
        """The column."""
        return self[1]


class Source:
    """A text and its name, with the line starts found on first need."""

    __slots__ = ("_lines", "_markers", "filename", "text")

    def __init__(self, text: str, filename: str) -> None:
        self.text = text
        self.filename = filename
        self._lines: Lines | None = None
        self._markers: list[tuple[int, str, int]] | None = None  # offset, the file and what is added to the line from there on

    def location(self, offset: int) -> Location:
        """Line and column of a character offset; O(log lines) after the first call."""
        lines, offset = self.lines(), max(offset, 0)
        line = lines.of(offset)
        return Location(line, offset - lines.start(line) + 1)

    def line_of(self, offset: int) -> int:
        """Line (from 1) of a character offset."""
        return self.lines().of(offset)

    def presumed(self, offset: int) -> tuple[str, int]:
        """File and line of a character offset as the line markers in front of it have them.

        As in ptxas 13.0.88 a line has 32 bits with a sign, and a marker with numbers behind the name leaves no name.
        """
        if self._markers is None:
            self._markers = [(0, self.filename, 0)]
            for found in _MARKERS.finditer(self.text) if "#" in self.text else ():
                if found["line"] is not None:
                    name = "" if found["more"].strip() else found["name"]
                    self._markers.append((found.end(), name, int(found["line"]) - self.line_of(found.end()) - 1))
        _, name, added = self._markers[bisect_right(self._markers, offset, key=lambda marker: marker[0]) - 1]
        line = self.line_of(offset) + added
        return name, (line + (1 << 31)) % (1 << 32) - (1 << 31)

    def excerpt(self, offset: int) -> tuple[str, int]:
        """The source line around ``offset``, at most 120 characters of it, and the index of ``offset`` in it.

        A line that is no text (control characters, undecodable bytes) or beyond all measure is not shown: ``("", 0)``.
        """
        lines = self.lines()
        line = lines.of(offset)
        begin = lines.start(line)
        end = lines.start(line + 1) - 1 if line < lines.count() else len(self.text)
        cut = max(begin, min(offset - _WINDOW // 2, end - _WINDOW))
        shown = self.text[cut : min(end, cut + _WINDOW)].rstrip("\r")
        if end - begin > _LONGEST or re.search(_NO_TEXT, shown):
            return "", 0
        return "".join(c if c.isprintable() or c == "\t" else "?" for c in shown), offset - cut

    def lines(self) -> Lines:
        """Where the lines begin."""
        if self._lines is None:
            self._lines = Lines(self.text)
        return self._lines


class Diagnostic:
    """One message. ``offset`` is its place in the source, -1 when it is about the file as a whole.

    ``statement``: where the statement at hand begins, -1 when there is none or nobody said.
    """

    __slots__ = ("message", "notes", "offset", "severity", "statement")

    def __init__(self, severity: str, message: str, offset: int = -1, notes: tuple[str, ...] = (), statement: int = -1) -> None:
        self.severity = severity
        self.message = message
        self.offset = offset
        self.notes = notes
        self.statement = statement


class CompileError(Exception):
    """A compilation that cannot go on or has failed; ``diagnostics`` holds what is to be printed.

    ``str()`` is the rendered text of all messages.
    """

    def __init__(self, diagnostics: Diagnostics) -> None:
        super().__init__(diagnostics.render())
        self.diagnostics = diagnostics


class InternalError(Exception):
    """The compiler has made something that cannot be; the text names what, and the PTX line."""

    @classmethod
    def found(cls, phase: str, error: Exception, place: str) -> InternalError:
        """The error that is told of one that a phase ended in; ``place``: where, unless it is an internal error that says so."""
        return cls(f"{phase}: {error}" if isinstance(error, cls) else f"{phase}: {type(error).__name__}: {error}, {place}")


class NotSupported(Exception):
    """Raised by a Builder for legal PTX that cannot be compiled yet; ``what`` names it as the user wrote it.

    ``offset`` is its place when that is not the statement at hand, else -1.
    """

    def __init__(self, what: str, offset: int = -1) -> None:
        super().__init__(what)
        self.what = what
        self.offset = offset

    def at(self, statement: int) -> int:
        """The place to report, given that of the statement at hand."""
        return self.offset if self.offset >= 0 else statement

    def message(self, target: str) -> str:
        """What is said of it; ``target``: what is compiled for."""
        return f"'{self.what}' is not supported for {target} yet"


class Refused(NotSupported):
    """Raised by a Builder for what the described system refuses, too, where it makes code: ``what`` is the message."""

    def message(self, target: str) -> str:
        """The message as it is."""
        return self.what


class Diagnostics:
    """The messages about one source text, collected in any order and printed in the order of their places."""

    __slots__ = ("error_count", "items", "limit", "source")

    def __init__(self, source: Source, limit: int = MAX_ERRORS) -> None:
        self.source = source
        self.limit = limit
        self.items: list[Diagnostic] = []
        self.error_count = 0

    def error(self, message: str, offset: int = -1, *notes: str, statement: int = -1) -> None:
        """Report an error.

        Raises:
            CompileError: it was error number ``limit``; the rest of the text is not looked at.
        """
        self.items.append(Diagnostic(ERROR, message, offset, notes, statement))
        self.error_count += 1
        if self.error_count >= self.limit:
            self.items.append(Diagnostic(ERROR, f"too many errors ({self.limit}), giving up", len(self.source.text)))
            raise CompileError(self)

    def warning(self, message: str, offset: int = -1, *notes: str) -> None:
        """Report a warning."""
        self.items.append(Diagnostic(WARNING, message, offset, notes))

    def info(self, message: str, offset: int = -1, *notes: str) -> None:
        """Say something that is neither an error nor a warning."""
        self.items.append(Diagnostic(INFO, message, offset, notes))

    def check(self) -> None:
        """End the compilation here when there were errors.

        Raises:
            CompileError: at least one error was reported.
        """
        if self.error_count:
            raise CompileError(self)

    def sorted(self) -> list[Diagnostic]:
        """The messages by place; those about the whole file first."""
        return sorted(self.items, key=lambda item: item.offset)

    def errors(self) -> list[str]:
        """``file:line:col: error: message`` of each error, in order, without source lines."""
        return [self.headline(item) for item in self.sorted() if item.severity == ERROR]

    def warnings(self) -> list[str]:
        """``file:line:col: warning: message`` of each warning, in order, without source lines."""
        return [self.headline(item) for item in self.sorted() if item.severity == WARNING]

    def headline(self, item: Diagnostic) -> str:
        """The first line of a message."""
        name = self.source.filename
        if item.offset < 0:
            return f"{name}: {item.severity}: {item.message}"
        line, col = self.source.location(item.offset)
        return f"{name}:{line}:{col}: {item.severity}: {item.message}"

    def render(self) -> str:
        """All messages, each with its source line and a caret; no final newline."""
        return "\n".join(self._render_one(item) for item in self.sorted())

    def _render_one(self, item: Diagnostic) -> str:
        lines = [self.headline(item)]
        if item.offset >= 0 and self.source.text:
            shown, index = self.source.excerpt(item.offset)
            if shown.strip():
                blank = "".join("\t" if c == "\t" else " " for c in shown[:index])
                lines += [f"    {shown}", f"    {blank}^"]
        lines += [f"    note: {note}" for note in item.notes]
        return "\n".join(lines)


def diagnostics_for(text: str, filename: str) -> Diagnostics:
    """An empty collection for a source text."""
    return Diagnostics(Source(text, filename))
