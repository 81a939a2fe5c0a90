"""Reads the statements of a row, and the call of a row that is one: declarations of locals, results and locals that are set."""

from __future__ import annotations

from typing import Protocol

from ..names import did_you_mean
from . import arithmetic
from .expressions import Expressions, Scope
from .types import VOID, TextError, Value, unfit

_SETS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="})
_KEYWORDS = frozenset({"if", "else", "for", "while", "do", "switch", "case", "return", "goto", "break", "continue", "sizeof"})


class Row(Scope, Protocol):
    """What a row takes of its statements."""

    locals: dict[str, Value]

    def declare(self, name: str, value: Value, offset: int) -> None:
        """A local begins to be known."""

    def is_operand(self, name: str) -> bool:
        """Whether the row has such an operand."""

    def set_operand(self, name: str, member: str, value: Value, text: str, offset: int) -> None:
        """A result is set to an expression, whose C is ``text``."""

    def add(self, text: str, offset: int) -> None:
        """A statement of C."""


class Statements(Expressions):
    """Reads the statements of one text."""

    def __init__(self, text: str, row: Row) -> None:
        super().__init__(text, row)
        self.row = row

    def read(self) -> None:
        """All of them.

        Raises:
            TextError: the first mistake.
        """
        while self.words[self.at].kind != "end":
            if self.words[self.at].text == ";":
                self.at += 1
                continue
            self._statement()
            if self.words[self.at].kind != "end" and self.words[self.at].text != ";":
                raise self.misplaced()

    def _statement(self) -> None:
        kind, text, offset = self.words[self.at]
        if text in _KEYWORDS:
            raise TextError(offset, f"'{text}' is no part of the language: a text declares and sets, 'c ? a : b' chooses")
        behind = self.words[min(self.at + 1, len(self.words) - 1)]
        if kind == "name" and behind.kind == "name":
            self._declaration(offset)
        elif kind == "name" and behind.text in _SETS:
            self._assignment(text, behind.text, offset)
        else:
            raise TextError(offset, "a statement is a declaration ('uint32_t x = ...'), or sets a result or a local")

    def _declaration(self, start: int) -> None:
        wanted = self.type_name()
        if wanted.kind == VOID:
            raise TextError(start, "a local cannot have the type 'void'")
        while True:
            kind, name, offset = self.words[self.at]
            if kind != "name" or "." in name or self.words[self.at + 1].text != "=":
                what = f"'{name}' has no value" if kind == "name" else f"'NAME = VALUE' is missing before '{name}'"
                raise TextError(offset, what)
            self.at += 2
            first = self.words[self.at].offset
            value = self.expression()
            if (why := unfit(value, wanted)) != "":
                raise TextError(first, f"'{name}': {why}")
            self.row.declare(name, wanted, offset)
            if self.words[self.at].text != ",":
                break
            self.at += 1
        self.row.add(self.written(start, self.words[self.at].offset).rstrip() + ";", start)

    def _assignment(self, target: str, mark: str, start: int) -> None:
        name, _, member = target.partition(".")
        operand = self.row.is_operand(name)
        if operand and mark != "=":
            raise TextError(self.words[self.at + 1].offset, f"'{mark}' of '{name}': a result is set once, with '='")
        local = None if operand else self._local(name, target, start)
        self.at += 2
        first = self.words[self.at].offset
        value = self.expression()
        end = self.words[self.at].offset
        if local is None:
            self.row.set_operand(name, member, value, self.written(first, end).rstrip(), start)
            return
        if mark != "=":
            arithmetic.combined(mark[:-1], local, value, first)
        if (why := unfit(value, local)) != "":
            raise TextError(first, f"'{name}': {why}")
        self.row.add(self.written(start, end).rstrip() + ";", start)

    def _local(self, name: str, target: str, offset: int) -> Value:
        """The type of a local that is set."""
        if target not in self.row.locals:
            raise TextError(offset, f"there is no result or local '{target}' to set{did_you_mean(name, self.row.locals)}")
        return self.row.locals[name]

    def called(self, prefix: str, first: int) -> tuple[str, str]:
        """The text, one call of a function ``PREFIX NAME`` whose first parameters it leaves out: name, C of the arguments.

        Raises:
            TextError: it is no call, or the arguments do not fit.
        """
        kind, name, offset = self.words[0]
        if kind != "name" or self.words[1].text != "(":
            raise TextError(offset, f"'{self.text}' is no call")
        declared = self.scope.names.declared
        if prefix + name not in declared.functions:
            known = [other.removeprefix(prefix) for other in declared.functions if other.startswith(prefix)]
            raise TextError(offset, f"there is no function '{prefix}{name}'{did_you_mean(name, known)}")
        self.at = 1
        self.arguments(name, offset, declared.signature(prefix + name)[1][first:])
        if self.words[self.at].kind != "end":
            raise self.misplaced()
        return name, self.written(self.words[1].offset + 1, self.words[self.at - 1].offset)
