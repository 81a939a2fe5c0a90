"""Debug data: ``.section NAME { ... }`` and the ``@@DWARF`` lines of PTX 1. Checked, and handed on as text."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from .lexer import DOT_WORD, IDENT, NUMBER, Lexer, PtxError, again, integer_value
from .state import State

_BITS: Final = {".b8": 8, ".b16": 16, ".b32": 32, ".b64": 64}
_REFERENCES: Final = (".b32", ".b64")  # data that may hold a label's address or a distance
DWARF_LINE: Final = "@@DWARF"
DWARF_REMOVED: Final = 20  # PTX version * 10


def read_section(lexer: Lexer, labels: dict[str, int]) -> tuple[str, str]:
    """A section from behind ``.section`` on; ``labels`` are those of all sections with their places.

    Returns:
        its name and the text between its braces.

    Raises:
        PtxError: syntax error, value too large for its type, label defined twice.
    """
    if lexer.kind != DOT_WORD:
        raise lexer.expected("a section name")
    name = lexer.value
    lexer.advance()
    if not lexer.is_punct("{"):
        raise lexer.expected("'{'")
    begin = lexer.after
    _lines(lexer, begin)
    while not lexer.is_punct("}"):
        if lexer.kind == IDENT:
            _label(lexer, labels)
        elif lexer.kind == DOT_WORD and lexer.value in _BITS:
            _data(lexer)
        elif lexer.kind == DOT_WORD:
            raise lexer.expected("'.b8', '.b16', '.b32' or '.b64'")
        else:
            raise lexer.expected("a label, data or '}'")
    text = lexer.text[begin : lexer.at]
    lexer.advance()
    return name, text


def _lines(lexer: Lexer, position: i64) -> None:
    """Pass over plain lines of data."""
    lexer.move(lexer.source.behind_data(position))


def _label(lexer: Lexer, labels: dict[str, int]) -> None:
    at, name = lexer.at, lexer.identifier("a label")
    lexer.expect(":")
    if name in labels:
        raise again(at, f"label '{name}' is defined twice", labels[name])
    labels[name] = at
    _lines(lexer, lexer.at)


def _data(lexer: Lexer) -> None:
    """``.b8 1, 2``, ``.b32 label``, ``.b64 .debug_info+8``, ``.b32 end-begin``."""
    type_ = lexer.value
    lexer.advance()
    if lexer.kind in (IDENT, DOT_WORD):
        _reference(lexer, type_)
    else:
        _value(lexer, type_)
        while lexer.take(","):
            _value(lexer, type_)
    _lines(lexer, lexer.at)


def _reference(lexer: Lexer, type_: str) -> None:
    at, is_label = lexer.at, lexer.kind == IDENT
    if type_ not in _REFERENCES:
        raise PtxError(at, f"an address does not fit '{type_}'; it needs {' or '.join(_REFERENCES)}")
    lexer.advance()
    if lexer.take("+"):
        lexer.integer("an offset")
    elif is_label and lexer.take("-"):
        lexer.identifier("a label")


def _value(lexer: Lexer, type_: str) -> None:
    at, bits = lexer.at, _BITS[type_]
    negative = lexer.take("-")
    value = integer_value(lexer.value, lexer.at) if lexer.kind == NUMBER else None
    if value is None:
        raise lexer.expected("an integer")
    if value > (1 << bits - 1 if negative else (1 << bits) - 1) and (negative or bits < 32):
        raise PtxError(at, f"{'-' * negative}{value} does not fit '{type_}'")
    lexer.advance()


def dwarf_line(lexer: Lexer, state: State) -> None:
    """A line ``@@DWARF ...``, which PTX 1 has for debug data: passed over."""
    if state.version >= DWARF_REMOVED:
        raise PtxError(lexer.at, f"'{DWARF_LINE}' exists up to PTX version 1.5 only; use .section")
    end = lexer.text.find("\n", lexer.at)
    lexer.move(len(lexer.text) if end < 0 else end)
