"""Reads expressions: names, functions, arity and types are checked as they come; no tree is kept.

What is written in place of a row's names is noted in :attr:`Expressions.edits`, so that the C is the text with these put in.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Protocol

from ..names import did_you_mean
from . import arithmetic
from .headers import Names
from .types import (
    DOUBLE,
    ENUMERATOR,
    INTEGER,
    NUMBERS,
    POINTER,
    SINGLE,
    STRUCT,
    VOID,
    TextError,
    Value,
    described,
    pointer,
    unfit,
)

MOST_NESTED = 32  # brackets, conditions and macros in one another; rows have five
_LONGEST_NUMBER = 24  # 0x, 16 digits, ull
_TOKEN = re.compile(
    r"(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?)|(?P<number>\.?[0-9](?:[eEpP][+-]|[\w.])*)"
    r"|(?P<mark><<=|>>=|->|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\+\+|--|[-+*/%&|^~!<>=?:;,()\[\]])|(?P<wrong>\S)",
    re.A,
)
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|0|[1-9][0-9]*)([uU]?)([lL]{0,2})\Z", re.A)
_FLOAT = re.compile(
    r"(?:(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][+-]?[0-9]+)?|0[xX][0-9a-fA-F]+[pP][+-]?[0-9]+)([fF]?)\Z", re.A
)
_PREFIXES = frozenset("!~-+&*")
_TYPE_WORDS = frozenset(word for name in NUMBERS for word in name.split()) | {"const"}


class Token(NamedTuple):
    """A word of a text; the last one has the kind ``end``."""

    kind: str
    text: str
    offset: int


class Scope(Protocol):
    """What the row gives to its text."""

    names: Names
    values: dict[str, list[str]]  # of each modifier

    def named(self, name: str, member: str, offset: int) -> tuple[Value, str] | None:
        """What a name of the row is and its C; None for a name that the row has not."""


class _Parameters:
    """The scope of a macro's text: its parameters have the values that are given."""

    def __init__(self, names: Names, given: dict[str, Value]) -> None:
        self.names = names
        self.given = given
        self.values: dict[str, list[str]] = {}

    def named(self, name: str, member: str, offset: int) -> tuple[Value, str] | None:
        """A parameter."""
        return (self.given[name], name) if name in self.given and not member else None


def tokens(text: str) -> list[Token]:
    """The words of a text.

    Raises:
        TextError: a character that no word has.
    """
    out = []
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        if kind == "wrong":
            raise TextError(match.start(), f"'{match.group()}' is no part of the language")
        out.append(Token(kind, match.group(), match.start()))
    out.append(Token("end", "", len(text)))
    return out


class Expressions:
    """Reads the expressions of one text, from left to right."""

    def __init__(self, text: str, scope: Scope, depth: int = 0) -> None:
        self.text = text
        self.scope = scope
        self.words = tokens(text)
        self.at = 0
        self.depth = depth
        self.top = ""  # the operator that made the last value, "" when brackets or a name did
        self.edits: list[tuple[int, int, str]] = []  # from, to, what stands there in C

    def written(self, start: int, end: int) -> str:
        """The C of a part of the text that has just been read."""
        out, at = [], start
        for first, last, text in self.edits:
            out += [self.text[at:first], text]
            at = last
        self.edits.clear()
        return "".join([*out, self.text[at:end]])

    def whole(self) -> Value:
        """The text, which is one expression.

        Raises:
            TextError: it is none, or not right.
        """
        value = self.expression()
        if self.words[self.at].kind != "end":
            raise self.misplaced()
        return value

    def condition(self, value: Value, offset: int) -> None:
        """Refuse what is neither true nor false."""
        if value.kind != INTEGER:
            raise TextError(offset, f"{described(value)} is no condition: compare it")

    def misplaced(self) -> TextError:
        """The error of a word that does not go on with an expression."""
        word = self.words[self.at]
        if word.kind == "end":
            return TextError(word.offset, "the text ends in the middle")
        if word.text in {")", "]"}:
            return TextError(word.offset, f"'{word.text}' closes nothing")
        if word.kind in {"name", "number"}:
            return TextError(word.offset, f"an operator or ';' is missing before '{word.text}'")
        return TextError(word.offset, f"'{word.text}' cannot stand here")

    def expression(self) -> Value:
        """Up to what is no part of it any more: ``c ? a : b`` and all that binds more."""
        start = self.words[self.at].offset
        self.depth += 1
        if self.depth > MOST_NESTED:
            raise TextError(start, f"brackets and conditions are nested more than {MOST_NESTED} deep")
        value = self.binary(1)
        if self.words[self.at].text == "?":
            self.condition(value, start)
            mark = self.words[self.at].offset
            self.at += 1
            yes = self.expression()
            if self.words[self.at].text != ":":
                raise TextError(mark, "'?' has no ':'")
            self.at += 1
            value = arithmetic.either(yes, self.expression(), mark)
            self.top = "?"
        self.depth -= 1
        return value

    def binary(self, least: int) -> Value:
        """Operators that bind at least so much."""
        words = self.words
        left = self.unary()
        while True:
            word = words[self.at]
            binds = arithmetic.BINDS.get(word.text, 0)
            if binds < least or not binds:
                return left
            before = self.top
            self.at += 1
            right = self.binary(binds + 1)
            arithmetic.clear(word.text, before, self.top, word.offset)
            if left.name and right.name:
                arithmetic.known_values(word.text, left, right, self.scope.values, word.offset)
            left = arithmetic.combined(word.text, left, right, word.offset)
            self.top = word.text

    def unary(self) -> Value:
        """Signs and casts before a value."""
        before: list[tuple[str, Value, int]] = []
        while True:
            word = self.words[self.at]
            if word.text in _PREFIXES:
                before.append((word.text, DOUBLE, word.offset))
                self.at += 1
            elif word.text == "(" and self.words[self.at + 1].text in _TYPE_WORDS:
                before.append(("()", self.cast(), word.offset))
            else:
                break
        value = self.postfix()
        for mark, wanted, offset in reversed(before):
            value = self.addressed(mark, value, offset) if mark in {"&", "*"} else arithmetic.applied(mark, value, wanted, offset)
        self.top = "!" if before and before[0][0] == "!" else ""
        return value

    def cast(self) -> Value:
        """The type of ``(TYPE)``."""
        self.at += 1
        found = self.type_name()
        if self.words[self.at].text != ")" or found.kind == VOID:
            raise TextError(self.words[self.at - 1].offset, "a cast is a type of numbers in brackets")
        self.at += 1
        return found

    def type_name(self) -> Value:
        """A type of numbers.

        Raises:
            TextError: the words are none.
        """
        first = self.words[self.at]
        parts = []
        while self.words[self.at].text in _TYPE_WORDS:
            parts.append(self.words[self.at].text)
            self.at += 1
        name = " ".join(part for part in parts if part != "const")
        found = NUMBERS.get(name)
        if found is None:
            word = name or self.words[self.at].text
            raise TextError(first.offset, f"there is no type '{word}'{did_you_mean(word, NUMBERS)}")
        return found

    def addressed(self, mark: str, value: Value, offset: int) -> Value:
        """``&x`` of a struct, ``*x`` of a pointer."""
        if mark == "&" and value.kind == STRUCT:
            return pointer(value.name)
        if mark == "*" and value.kind == POINTER:
            return self.scope.names.declared.pointed(value)
        raise TextError(offset, f"'{mark}' of {described(value)}")

    def postfix(self) -> Value:
        """A value with the indices and members behind it."""
        value = self.primary()
        while (mark := self.words[self.at].text) in {"[", "->"}:
            offset = self.words[self.at].offset
            if value.kind != POINTER:
                raise TextError(offset, f"'{mark}' behind {described(value)}")
            self.at += 1
            value = self.index(value, offset) if mark == "[" else self.member(value)
        return value

    def index(self, value: Value, opened: int) -> Value:
        """What stands at an index of an array."""
        offset = self.words[self.at].offset
        if (why := unfit(self.expression(), NUMBERS["int64_t"])) != "":
            raise TextError(offset, f"the index is {why}")
        self.close("]", opened, "'['")
        return self.scope.names.declared.pointed(value)

    def member(self, value: Value) -> Value:
        """A member of what a pointer points to."""
        declared, word = self.scope.names.declared, self.words[self.at]
        members = declared.members(value.name) if value.bits == 1 else {}
        if word.text not in members:
            raise TextError(word.offset, f"{value.name} has no member '{word.text}'{did_you_mean(word.text, members)}")
        self.at += 1
        return declared.type_of(members[word.text])

    def close(self, mark: str, opened: int, what: str) -> None:
        """The bracket that ends what began at ``opened``."""
        if self.words[self.at].text != mark:
            inside = self.words[self.at].kind in {"name", "number"}
            raise self.misplaced() if inside else TextError(opened, f"{what} has no '{mark}'")
        self.at += 1

    def primary(self) -> Value:
        """A name, a number, a call, or an expression in brackets."""
        kind, text, offset = self.words[self.at]
        if kind == "name":
            self.at += 1
            return self.call(text, offset) if self.words[self.at].text == "(" else self.name(text, offset)
        if kind == "number":
            self.at += 1
            return _number(text, offset)
        if text != "(":
            raise TextError(offset, f"a value is missing before '{text}'" if text else "the text ends where a value is missing")
        self.at += 1
        value = self.expression()
        self.close(")", offset, "'('")
        return value

    def name(self, text: str, offset: int) -> Value:
        """What a name stands for: the row's first, as they hide those of C."""
        name, _, member = text.partition(".")
        own = self.scope.named(name, member, offset)
        if own is not None:
            self.edits.append((offset, offset + len(text), own[1]))
            return own[0]
        names = self.scope.names
        found = names.value(name)
        if found is not None:
            return found
        macro = names.declared.macros.get(name)
        if macro is not None and macro[0] is None:
            return self.macro(name, macro[1], {}, offset)
        if name in names.callable():
            raise TextError(offset, f"'{name}' is a function: its arguments are missing")
        what = "modifier value" if name.startswith("V_") else "operand, modifier, local or constant"
        raise TextError(offset, f"there is no {what} '{name}'{did_you_mean(name, names.all())}")

    def macro(self, name: str, text: str, given: dict[str, Value], offset: int) -> Value:
        """What a macro of a header stands for: its text, read where it is used."""
        try:
            return Expressions(text, _Parameters(self.scope.names, given), self.depth + 1).whole()
        except TextError as error:
            raise TextError(offset, f"in the macro '{name}': {error.message}") from error

    def call(self, name: str, offset: int) -> Value:
        """A call of a function or of a macro with parameters."""
        declared = self.scope.names.declared
        if name in declared.functions:
            result, wanted = declared.signature(name)
            self.arguments(name, offset, wanted)
            return result
        macro = declared.macros.get(name, (None, ""))
        if macro[0] is None:
            raise TextError(offset, f"there is no function '{name}'{did_you_mean(name, self.scope.names.callable())}")
        given = self.arguments(name, offset, [(parameter, None) for parameter in macro[0]])
        return self.macro(name, macro[1], dict(zip(macro[0], given, strict=True)), offset)

    def arguments(self, name: str, offset: int, wanted: list[tuple[str, Value]] | list[tuple[str, None]]) -> list[Value]:
        """The arguments of a call, which the parameters take."""
        opened = self.words[self.at].offset
        self.at += 1
        found: list[tuple[Value, int]] = []
        more = self.words[self.at].text != ")"
        while more:
            start = self.words[self.at].offset
            found.append((self.expression(), start))
            more = self.words[self.at].text == ","
            self.at += more
        self.close(")", opened, f"'(' of '{name}'")
        if len(found) != len(wanted):
            takes = ", ".join(text for text, _ in wanted)
            raise TextError(offset, f"'{name}' takes {len(wanted)} arguments ({takes}), not {len(found)}")
        for (value, start), (text, kind) in zip(found, wanted, strict=True):
            if kind is not None and (why := unfit(value, kind)):
                raise TextError(start, f"argument '{text}' of '{name}': {why}")
        return [value for value, _ in found]


def _number(text: str, offset: int) -> Value:
    """A number as it is written.

    Raises:
        TextError: C does not read it, or reads another number than one would think.
    """
    if len(text) > _LONGEST_NUMBER:
        raise TextError(offset, f"a number of {len(text)} characters is too long")
    whole = _INTEGER.match(text)
    if whole is not None:
        return _integer(int(whole[1], 0), text[:2] in {"0x", "0X"}, whole[2] != "", whole[3] != "", offset)
    real = _FLOAT.match(text)
    if real is None:
        raise TextError(offset, f"'{text}' is no number (decimal or 0x, with u or ull behind it; 1.0, 1.0f)")
    return (SINGLE if real[1] else DOUBLE)._replace(constant=True)


def _integer(number: int, hexadecimal: bool, unsigned: bool, long: bool, offset: int) -> Value:
    """The type that C gives to a number: the first that it fits; in base 16 one without a sign too."""
    either = unsigned or hexadecimal
    if number >= 1 << (64 if either else 63):
        raise TextError(offset, f"{number} does not fit {'64' if either else 'a signed integer of 64'} bits")
    width = 64 if long or number >= 1 << (32 if either else 31) else 32
    signed = not unsigned and number < 1 << (width - 1)
    return ENUMERATOR._replace(width=width, signed=signed, bits=max(number.bit_length(), 1), constant=True, number=number)
