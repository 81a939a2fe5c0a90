"""The scanner's grammar once more, as slow regular expressions: what tests of the scanner in C compare it with."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from oric.ptx.lexer import SPACE

WS = r"[ \t\r\n]*+"
NAME = r"[A-Za-z_$%][\w$]*+"
NUMBER = r"(?:0|[1-9]\d{0,6})(?!\d)"
PLACE = rf"({NUMBER})[ \t]++({NUMBER})[ \t]++({NUMBER})"
OPERAND = r"[\t\n\r !$%&*+\-.0-9:<=>A-Z^_a-z|~]"  # without commas and brackets
# Where a statement without a semicolon ends well: with its line, or in front of something that begins no mistake.
ENDS = rf"(?=[ \t]*+[\r\n]|(?=[ \t\r\n\f/#]){SPACE}[A-Za-z_$%@.{{}}])"
MOST_OPERANDS, MOST_CHARACTERS, MOST_ELEMENTS = 74, 4000, 256

_TOKEN = re.compile(
    SPACE + r"(?:([A-Za-z_$%][\w$]*+)"
    r"|(0[fFdD][0-9a-fA-F]++|0[xX][0-9a-fA-F]++U?|0[bB][01]++U?|(?:\d++\.\d*+|\.\d++)(?:[eE][-+]?\d++)?|\d++[eE][-+]?\d++|\d++U?)"
    r"|(\.[A-Za-z_]\w*+(?:::\w++)*+)"
    r'|("[^"]*+")'
    r"|(<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^~!?:;,(){}\[\]<>=@.]))?",
    re.ASCII,
)
_ARGUMENTS = rf"\({WS}((?:{NAME}{WS}(?:,{WS}{NAME}{WS})*+)?+)\)"
_PIECE = rf"(?:{OPERAND}|\{{(?:{OPERAND}|[,\[\]])*+\}}|\[(?:{OPERAND}|[,{{}}])*+\])++"
_STATEMENTS = {
    "open": r"\{",
    "close": r"\}",
    "label": rf"({NAME}):(?!:){ENDS}(?!{SPACE}\.(?:branch|call))",
    "loc": rf"\.loc(?![\w$])[ \t]++{PLACE}(?:, function_name[ \t]++({NAME}), inlined_at[ \t]++{PLACE})?{ENDS}",
    "registers": rf"\.reg(?![\w$])[ \t]*+\.(\w++)[ \t]++({NAME})(?:<({NUMBER})>)?;",
    "variable": r"\.(param|local|shared)(?![\w$])[ \t]++"
    rf"(?:\.align(?![\w$])[ \t]++((?!0){NUMBER})[ \t]++)?\.(?!align(?![\w$]))(\w++)[ \t]++({NAME})(?:\[({NUMBER})\])?;",
    "call": rf"(?!{NAME}:(?!:))(call(?:\.uni)?)(?![\w.:]){WS}(?:{_ARGUMENTS}{WS},{WS})?({NAME}){WS},{WS}{_ARGUMENTS}{WS};",
    "instruction": rf"(?!{NAME}:(?!:))(?!call(?:\.uni)?(?![\w.:]))(?:@(!?[\w$%]++)[ \t]++)?([a-z][\w.:]*+){WS}"
    rf"((?:{_PIECE}(?:,{_PIECE})*+)?+);",
}
_PATTERNS = {kind: re.compile(pattern, re.ASCII) for kind, pattern in _STATEMENTS.items()}
_SPACE = re.compile(SPACE)
_OPERAND_TEXTS = re.compile(_PIECE)

_REGISTER = r"(%[A-Za-z_$]*+)(0|[1-9]\d{0,7})(?!\d)"
_OFFSET = rf"{WS}(?:\+{WS}(-?(?:0|[1-9]\d{{0,17}}))(?!\d){WS})?"
_SHAPES = {
    "register": _REGISTER,
    "not": f"!{_REGISTER}",
    "register address": rf"\[{WS}{_REGISTER}{_OFFSET}\]",
    "name address": rf"\[{WS}(?!WARP_SZ(?![\w$]))(?!{_REGISTER})({NAME}){_OFFSET}\]",
    "integer": r"(-?(?:0|[1-9]\d{0,17})|0[xX][0-9a-fA-F]{1,15}U?)",
    "single": r"0[fF]([0-9a-fA-F]{8})",
    "double": r"0[dD]([0-9a-fA-F]{16})",
    "vector": r"\{([^{}\[\]|]*+)\}",
    "name": rf"(?!WARP_SZ\Z)({NAME})",
}
_SHAPE_PATTERNS = {shape: re.compile(rf"{pattern}\Z", re.ASCII) for shape, pattern in _SHAPES.items()}


class Token(NamedTuple):
    """Number of its kind, place, end."""

    kind: int
    at: int
    after: int


class Statement(NamedTuple):
    """Kind, place, end and what it holds: texts and numbers."""

    kind: str
    at: int
    end: int
    values: tuple[Any, ...]


def tokens(text: str, position: int, end: int) -> list[Token]:
    """The tokens of a part of a text, the last one at its end."""
    found: list[Token] = []
    while not found or found[-1].kind:
        match = _TOKEN.match(text, position, end)
        assert match is not None
        if match.lastindex is None:
            at = match.end()
            found.append(Token(0, at, at) if at >= end else Token(6, at, at + 1))
        else:
            found.append(Token(match.lastindex, *match.span(match.lastindex)))
        position = found[-1].after
    return found


def statement(text: str, position: int) -> Statement | None:
    """The plain statement at a place; None when there is none."""
    match = _SPACE.match(text, position)
    assert match is not None
    at = match.end()
    for kind, pattern in _PATTERNS.items():
        match = pattern.match(text, at)
        if match is not None:
            values = _values(kind, match)
            return None if values is None else Statement(kind, at, match.end(), values)
    return None


def _values(kind: str, match: re.Match[str]) -> tuple[Any, ...] | None:
    groups = match.groups()
    if kind == "instruction":
        operands = _operands(groups[2])
        return None if operands is None else (groups[0], groups[1], operands)
    if kind == "call":
        results, passed = _names(groups[1]), _names(groups[3])
        return (groups[0], results, groups[2], passed) if len(results) + len(passed) <= MOST_OPERANDS else None
    return groups


def _names(text: str | None) -> list[str]:
    return [name.strip(" \t\r\n") for name in text.split(",")] if text else []


def _operands(text: str) -> list[str] | None:
    if not text:
        return []
    found = [piece.strip(" \t\r\n") for piece in _OPERAND_TEXTS.findall(text)]
    return found if all(found) and len(text) <= MOST_CHARACTERS and len(found) <= MOST_OPERANDS else None


def shape(text: str) -> tuple[Any, ...]:
    """What an operand's text is: the name of its shape and what it holds."""
    for name, pattern in _SHAPE_PATTERNS.items():
        match = pattern.match(text)
        if match is None:
            continue
        groups = match.groups()
        if name in ("register", "not"):
            return name, groups[0], int(groups[1])
        if name == "register address":
            return name, groups[0], int(groups[1]), int(groups[2] or 0)
        if name == "name address":
            return name, groups[2], int(groups[3] or 0)
        if name == "integer":
            return name, int(groups[0].rstrip("U"), 0)
        if name in ("single", "double"):
            return name, int(groups[0], 16)
        if name == "vector":
            elements = [element.strip(" \t\r\n") for element in groups[0].split(",")]
            if not all(elements) or len(elements) > MOST_ELEMENTS:
                continue
            return name, elements
        return (name,)
    return ("text",)
