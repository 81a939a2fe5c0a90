"""PTX modules: header, module-level declarations, functions; the entry point :func:`parse_module`."""

from __future__ import annotations

import re
from typing import Any, Final

from oric_tables.ptx_index import TARGET_OPTIONS, TARGETS, VERSIONS

from oric.support.collection import no_collection
from oric.support.diagnostics import CompileError, Diagnostics, NotSupported

from .body import Body
from .builder import Builder, ModuleHeader
from .declarations import LINKAGE, VARIABLE_SPACES, Declarations
from .lexer import DOT_WORD, END, NUMBER, Lexer, PtxError
from .scopes import FUNCTION, Scope
from .state import State

_VERSION: Final = re.compile(r"(\d{1,3})\.(\d{1,3})\Z")
_NEWEST: Final = max(VERSIONS)


def parse_module(text: str, filename: str, builder: Builder, target: Any, diag: Diagnostics) -> None:
    """Parse and check a PTX module, driving ``builder``.

    Args:
        text: the module.
        filename: its name (``diag`` has it too; kept for callers that build diagnostics late).
        builder: receives the module, see :class:`oric.ptx.builder.Builder`.
        target: the target that is compiled for (an object with ``name``), or None to parse for tools only.
        diag: receives errors and warnings; look at ``diag.error_count`` afterwards.

    Raises:
        CompileError: too many errors, or a header that makes the rest unreadable.
    """
    del filename
    name = "" if target is None else target.name
    state = State(text, builder, diag, name)
    with no_collection():
        ModuleParser(state).run()


class ModuleParser:
    """Reads a whole module."""

    __slots__ = ("declarations", "scope", "state")

    def __init__(self, state: State) -> None:
        self.state = state
        self.declarations = Declarations(state)
        self.scope = Scope(None, 0)

    def run(self) -> None:
        """Read header and statements up to the end of the text."""
        try:
            lexer = Lexer(self.state.text)
            self.header(lexer)
        except PtxError as error:
            self.state.report(error)
            raise CompileError(self.state.diag) from None
        position = lexer.at
        while position < len(self.state.text):
            position = self.step(position)
        try:
            self.state.builder.end_module()
        except NotSupported as missing:
            self.state.not_supported(missing.what, missing.offset)

    def step(self, position: int) -> int:
        """One module-level statement; returns where the next one begins."""
        try:
            lexer = Lexer(self.state.text, position)
        except PtxError as error:
            self.state.report(error)
            return len(self.state.text)
        begin = self.state.statement_at = lexer.at
        try:
            return self.statement(lexer)
        except PtxError as error:
            self.state.report(error)
        except NotSupported as missing:
            self.state.not_supported(missing.what, missing.at(begin))
        from .recovery import next_declaration

        next_declaration(lexer, begin)
        return lexer.at

    def header(self, lexer: Lexer) -> None:
        """``.version``, ``.target``, ``.address_size``."""
        at = lexer.at
        if not lexer.take_dot(".version"):
            raise lexer.expected("'.version' at the beginning of the module")
        version = self.version(lexer)
        if not lexer.take_dot(".target"):
            raise lexer.expected("'.target' behind '.version'")
        target_at, target = lexer.at, lexer.identifier("a target such as sm_90")
        if target not in TARGETS:
            raise PtxError(target_at, f"unknown target '{target}'", *_nearest(target))
        least = TARGETS[target][3]
        if version[0] * 10 + version[1] < least:
            wanted = f"{target} needs PTX version {least // 10}.{least % 10} or later"
            raise PtxError(target_at, f"{wanted}, the module says {version[0]}.{version[1]}")
        options = []
        while lexer.take(","):
            option_at = lexer.at
            options.append(lexer.identifier("a target option"))
            if options[-1] not in TARGET_OPTIONS:
                raise PtxError(option_at, f"unknown target option '{options[-1]}'")
        self.state.version = version[0] * 10 + version[1]
        self.state.set_target(target)
        self.state.texmode = "independent" if "texmode_independent" in options else "unified"
        self.check_target(target, target_at)
        size = 32
        if lexer.take_dot(".address_size"):
            size_at, size = lexer.at, lexer.integer("32 or 64")
            if size not in (32, 64):
                raise PtxError(size_at, f"address size is 32 or 64, found {size}")
        header = ModuleHeader(version, target, tuple(options), size, at)
        try:
            self.state.builder.module(header)
        except NotSupported as error:
            self.state.not_supported(error.what, error.at(at))

    def version(self, lexer: Lexer) -> tuple[int, int]:
        """The number behind ``.version``."""
        match = _VERSION.match(lexer.value) if lexer.kind == NUMBER else None
        if match is None:
            raise lexer.expected("a version such as 9.0")
        version = int(match[1]), int(match[2])
        if version > _NEWEST:
            raise PtxError(
                lexer.at, f"PTX version {lexer.value} is not supported; the newest one known is {_NEWEST[0]}.{_NEWEST[1]}"
            )
        if version not in VERSIONS:
            raise PtxError(lexer.at, f"there is no PTX version {lexer.value}")
        lexer.advance()
        return version

    def check_target(self, name: str, at: int) -> None:
        """The module's target can be compiled for the target that was asked for."""
        wanted = self.state.compile_target
        if not wanted or wanted not in TARGETS:
            return
        number, suffix, family, _, code = TARGETS[name]
        have, _, have_family, _, _ = TARGETS[wanted]
        end = "" if code else f"; {name} is known but code cannot be made for it yet"
        if suffix == "a" and wanted != name:
            raise PtxError(at, f"a module for {name} can be compiled for {name} only, not for {wanted}{end}")
        if suffix == "f" and (have_family != family or have < number):
            raise PtxError(at, f"a module for {name} can be compiled for its family only, not for {wanted}{end}")
        if number > have:
            raise PtxError(at, f"a module for {name} cannot be compiled for {wanted}, which is older{end}")

    def statement(self, lexer: Lexer) -> int:
        """One module-level statement; returns the offset behind it."""
        if lexer.kind == END:
            return len(lexer.text)
        if lexer.kind != DOT_WORD:
            raise lexer.expected("a directive")
        linkage, linkage_at = "", lexer.at
        while lexer.kind == DOT_WORD and lexer.value in LINKAGE:
            if linkage:
                raise PtxError(lexer.at, f"'.{linkage}' and '{lexer.value}' exclude each other")
            linkage = lexer.value[1:]
            lexer.advance()
        word, at = lexer.value, lexer.at
        if lexer.kind != DOT_WORD:
            raise lexer.expected("a state space, '.entry' or '.func'")
        if word in (".entry", ".func"):
            lexer.advance()
            return self.function(lexer, word == ".entry", linkage, linkage_at)
        if word in VARIABLE_SPACES:
            self.variable(lexer, word, linkage, at)
        elif word == ".reg":
            raise PtxError(at, "registers are declared in functions, not at module level")
        elif linkage:
            raise lexer.expected("a state space, '.entry' or '.func'")
        else:
            self.other(lexer, word, at)
        return lexer.at

    def variable(self, lexer: Lexer, word: str, linkage: str, at: int) -> None:
        """A module-level variable."""
        if word in (".local", ".param", ".tex"):
            raise PtxError(at, f"variables in {word} cannot be declared at module level")
        if linkage == "common" and word != ".global":
            raise PtxError(at, "'.common' is for variables in .global")
        lexer.advance()
        self.declarations.variables(lexer, self.scope, word[1:], linkage, in_function=False)

    def function(self, lexer: Lexer, is_entry: bool, linkage: str, at: int) -> int:
        """A function's header and body."""
        if linkage == "common":
            raise PtxError(at, "'.common' is for variables in .global")
        function = self.declarations.header(lexer, is_entry, linkage)
        if lexer.is_punct("{"):
            function.has_body = True
        elif not lexer.is_punct(";"):
            raise lexer.expected("'{' or ';'")
        body_at = lexer.after
        try:
            entity = self.declarations.enter_function(self.scope, function)
        except PtxError as error:
            if not function.has_body:
                raise
            self.state.report(error)
            lexer.move(body_at)
            from .recovery import behind_body

            behind_body(lexer)
            return lexer.at
        if not function.has_body:
            lexer.advance()
            return lexer.at
        return Body(self.state, self.declarations, self.scope, function).read(entity.handle, body_at)

    def other(self, lexer: Lexer, word: str, at: int) -> None:
        """Directives that are neither variables nor functions."""
        builder = self.state.builder
        if word == ".file":
            lexer.advance()
            index = lexer.integer("a file number")
            name = lexer.string("a file name")
            while lexer.take(","):
                lexer.integer("a number")
            builder.file(index, name, at)
        elif word == ".section":
            self.section(lexer, at)
        elif word == ".pragma":
            lexer.advance()
            for text in self.declarations.pragma_strings(lexer, "module"):
                builder.pragma(text, at)
        elif word == ".alias":
            lexer.advance()
            name_at = lexer.at
            name = self.known_function(lexer)
            lexer.expect(",")
            target = self.known_function(lexer)
            lexer.expect(";")
            builder.alias(name, self.scope.names[target].handle, name_at)
        elif word == ".loc":
            raise PtxError(at, "'.loc' stands in function bodies")
        else:
            raise PtxError(at, f"unknown directive '{word}'")

    def known_function(self, lexer: Lexer) -> str:
        """The name of a declared function."""
        at = lexer.at
        name = lexer.identifier("a function name")
        entity = self.scope.names.get(name)
        if entity is None or entity.kind != FUNCTION:
            raise PtxError(at, f"function '{name}' is not declared")
        return name

    def section(self, lexer: Lexer, at: int) -> None:
        """``.section NAME { ... }``: handed on as text."""
        lexer.advance()
        if lexer.kind != DOT_WORD:
            raise lexer.expected("a section name")
        name = lexer.value
        lexer.advance()
        if not lexer.is_punct("{"):
            raise lexer.expected("'{'")
        begin = lexer.after
        end = lexer.text.find("}", begin)
        if end < 0:
            raise PtxError(lexer.at, f"section '{name}' is not closed")
        self.state.builder.section(name, lexer.text[begin:end], at)
        lexer.move(end + 1)


def _nearest(name: str) -> tuple[str, ...]:
    """A note with the known target whose name is most like ``name``, if any is."""
    from difflib import get_close_matches

    close = get_close_matches(name, TARGETS, 1, 0.7)
    return (f"did you mean '{close[0]}'?",) if close else ()
