"""Tokens of PTX, one at a time, as the scanner in C reads them: what all careful readers stand on."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from .text import TOKEN_WORDS, Text

# Kinds of tokens: ORIC_PTX_END and so on.
END: Final = 0
IDENT: Final = 1
NUMBER: Final = 2
DOT_WORD: Final = 3  # ".reg", ".x", ".shared::cta"
STRING: Final = 4
PUNCT: Final = 5
BAD: Final = 6
WARP_SIZE_NAME: Final = "WARP_SZ"
WARP_SIZE: Final = 32
NO_NAMES: Final = frozenset({"_", "$", "%", WARP_SIZE_NAME})

_COMMENT: Final = r"//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/"
_BLANK: Final = r"[ \t\f\r]"
_LINE_MARKER: Final = (
    rf'\#{_BLANK}*+(?:line{_BLANK}*+)?\d++{_BLANK}++"[^"\n]*+"(?:{_BLANK}++\d++)*+{_BLANK}*+(?=\n|\Z)'  # as oric.support has it
)
SPACE: Final = rf"[ \t\r\n]*+(?:(?:{_COMMENT}|{_LINE_MARKER})[ \t\r\n]*+|\f++[ \t\r\n]*+)*+"


class PtxError(Exception):
    """A mistake in the text at character ``at``; the statement that holds it is given up."""

    def __init__(self, at: int, message: str, *notes: str) -> None:
        super().__init__(message)
        self.at = at
        self.message = message
        self.notes = notes
        self.earlier = -1  # place of what the message says exists already


def again(at: int, message: str, earlier: int) -> PtxError:
    """The error for something at ``at`` that stands in the way of what was declared at ``earlier``."""
    error = PtxError(at, message)
    error.earlier = earlier
    return error


class Lexer:
    """A cursor: ``kind``, ``value``, ``at`` and ``after`` (end) describe the current token; :meth:`advance` moves on."""

    __slots__ = ("_next", "after", "at", "end", "kind", "source", "text", "value")

    def __init__(self, source: Text, position: i64 = 0, end: i64 = -1, hint: i64 = 0) -> None:
        self.source = source
        self.text: str = source.text
        self.end: int = source.length if end < 0 else end
        self.after: int = min(position, self.end)
        self.kind: int = END
        self.value = ""
        self.at: int = self.after
        self._next: int = hint  # of the token behind the current one in the window, if it is there
        self.advance()

    def advance(self) -> None:
        """Read the next token."""
        source = self.source
        index = self._next
        begin = self.after
        if (
            index >= source.count
            or source.end != self.end
            or (source.begin if index == 0 else source.ahead[TOKEN_WORDS * index - 1]) != begin
        ):
            source.read_ahead(begin, self.end)
            index = 0
        self._next = index + 1
        self.kind = source.ahead[TOKEN_WORDS * index]
        at = self.at = source.ahead[TOKEN_WORDS * index + 1]
        after = self.after = source.ahead[TOKEN_WORDS * index + 2]
        self.value = self.text[at:after]
        if self.kind >= PUNCT:
            self.check_start()

    def check_start(self) -> None:
        """What is no token may be the beginning of a comment or string without an end."""
        if self.value == "/" and self.text.startswith("/*", self.at):
            raise PtxError(self.at, "unterminated comment")
        if self.value == '"':
            raise PtxError(self.at, "unterminated string")

    def following(self) -> Lexer:
        """Another cursor, at the token behind the current one."""
        return Lexer(self.source, self.after, self.end, self._next)

    def move(self, position: i64) -> None:
        """Continue at another place of the text."""
        self.after = position
        self.advance()

    def describe(self) -> str:
        """The current token for an error message."""
        if self.kind == END:
            return "end of file" if self.end == len(self.text) else "end of statement"
        if self.kind == BAD:
            return f"character {self.value!r}" if self.value.isprintable() else f"character U+{ord(self.value):04X}"
        shown = self.value if len(self.value) <= 40 else self.value[:37] + "..."
        return f"'{shown}'" if self.kind != STRING else f"string {shown}"

    def is_punct(self, value: str) -> bool:
        """True when the current token is this punctuation."""
        return self.kind == PUNCT and self.value == value

    def take(self, value: str) -> bool:
        """Pass over this punctuation if it is the current token."""
        if self.kind == PUNCT and self.value == value:
            self.advance()
            return True
        return False

    def take_dot(self, value: str) -> bool:
        """Pass over this dotted word if it is the current token."""
        if self.kind == DOT_WORD and self.value == value:
            self.advance()
            return True
        return False

    def expect(self, value: str) -> None:
        """Pass over this punctuation.

        Raises:
            PtxError: the current token is another.
        """
        if not self.take(value):
            raise self.expected(f"'{value}'")

    def expected(self, what: str) -> PtxError:
        """The error "expected WHAT, found TOKEN" at the current token."""
        return PtxError(self.at, f"expected {what}, found {self.describe()}")

    def identifier(self, what: str) -> str:
        """Pass over an identifier and return it; ``what`` names it in the error message."""
        if self.kind != IDENT or self.value == "%":
            raise self.expected(what)
        value = self.value
        self.advance()
        return value

    def name(self, what: str) -> str:
        """Pass over a name that a declaration introduces: an identifier that means nothing else."""
        if self.value in NO_NAMES:
            raise self.expected(what)
        return self.identifier(what)

    def integer(self, what: str) -> int:
        """Pass over a plain integer literal (or ``WARP_SZ``) and return its value."""
        if self.kind == IDENT and self.value == WARP_SIZE_NAME:
            self.advance()
            return WARP_SIZE
        if self.kind != NUMBER:
            raise self.expected(what)
        value = integer_value(self.value, self.at)
        if value is None:
            raise self.expected(what)
        self.advance()
        return value

    def string(self, what: str) -> str:
        """Pass over a string and return its content."""
        if self.kind != STRING:
            raise self.expected(what)
        value = self.value[1:-1]
        self.advance()
        return value


def integer_value(text: str, at: int) -> int | None:
    """Value of an integer literal without sign; None when the literal is a floating-point one.

    Raises:
        PtxError: it does not fit 64 bits, or has digits that its base lacks.
    """
    digits = text.rstrip("U")
    head = digits[:2].lower()
    if head in ("0f", "0d") or ("." in digits) or (head != "0x" and "e" in digits.lower()):
        return None
    if len(digits) > 70:
        raise PtxError(at, "integer constant does not fit 64 bits")
    try:
        if head == "0x":
            value = int(digits, 16)
        elif head == "0b":
            value = int(digits, 2)
        elif len(digits) > 1 and digits[0] == "0":
            value = int(digits, 8)
        else:
            value = int(digits)
    except ValueError:
        raise PtxError(at, f"'{digits}' is no octal number") from None
    if value >> 64:
        raise PtxError(at, "integer constant does not fit 64 bits")
    return value
