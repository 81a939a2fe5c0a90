"""An open text and what is known of it; everything is found once for each version."""

from __future__ import annotations

import asyncio
import re
from functools import cached_property
from itertools import islice
from typing import Any, Final

from oric_tables import ptx_index as ix

from .mnemonics import Module
from .outline import ENTRY, INSTRUCTION, Outline, Scope, Statement
from .places import UTF16, Places
from .tokens import iter_tokens

_HEADER_TOKENS: Final = 64  # that are looked at for version and target
_VIRTUAL: Final = "compute_"
_VERSION: Final = re.compile(r"(\d{1,3})\.(\d{1,3})")


class Document:
    """One version of a text. ``arch``: the target that the user has set, "" for that of the module."""

    def __init__(self, uri: str, text: str, version: int = 0, encoding: str = UTF16, arch: str = "") -> None:
        self.uri = uri
        self.text = text
        self.version = version
        self.arch = arch
        self.places = Places(text, encoding)
        self.code: dict[str, asyncio.Task[dict[str, Any]]] = {}  # answers of the compiler, by the entries that were compiled
        self.messages: list[dict[str, Any]] | None = None  # those of the compiler, None until there are any

    @cached_property
    def outline(self) -> Outline:
        """Names and statements."""
        return Outline(self.text)

    @cached_property
    def module(self) -> Module:
        """What the header says; the target is that of the user where there is one."""
        version, target = 0, ""
        before = ""
        for token in islice(iter_tokens(self.text), _HEADER_TOKENS):
            if before == ".version" and (found := _VERSION.fullmatch(token.text)):
                version = int(found[1]) * 10 + int(found[2])
            elif before == ".target":
                target = token.text.replace(_VIRTUAL, "sm_", 1)
            before = token.text
        return Module(version, self.arch or (target if target in ix.TARGETS else ""))

    def line_of(self, offset: int) -> int:
        """The line of a place as the compiler counts: from 1, ended by line feeds only."""
        return self.text.count("\n", 0, offset) + 1

    def lines_of(self, statement: Statement) -> tuple[int, int]:
        """The first and last line of a statement, as the compiler counts."""
        tokens = self.outline.tokens
        return self.line_of(tokens[statement.first].at), self.line_of(tokens[statement.last].at)

    def entries_of(self, scope: Scope) -> tuple[str, ...]:
        """The entries whose code shows what becomes of a function: itself, or those that call it, directly or not."""
        while scope.parent is not None and scope.function is None:
            scope = scope.parent
        if scope.function is None:
            return ()
        if scope.function.kind == ENTRY:
            return (scope.function.name,)
        return tuple(sorted(self._callers(scope.function.name)))

    def _callers(self, name: str) -> set[str]:
        """The entries that a function is named in, or in functions that they name."""
        bodies = {d.name: d.kind for d in self.outline.definitions if d.has_body}
        uses: dict[str, set[str]] = {}
        for occurrence in self.outline.occurrences:
            if occurrence.name in bodies and occurrence.scope.function is not None:
                uses.setdefault(occurrence.name, set()).add(occurrence.scope.function.name)
        reached, todo = {name}, [name]
        while todo:
            for caller in uses.get(todo.pop(), set()) - reached:
                reached.add(caller)
                todo.append(caller)
        return {found for found in reached if bodies.get(found) == ENTRY}

    def mnemonic_at(self, offset: int) -> Statement | None:
        """The instruction whose mnemonic holds a place or ends there."""
        statement = self.outline.statement_at(offset)
        if statement is None or statement.kind != INSTRUCTION or not statement.at <= offset <= statement.after:
            return None
        return statement
