"""PTX modules: header, module-level declarations, functions; the entry point :func:`parse_module`."""

from __future__ import annotations

from typing import Any, Final

from oric_tables.ptx_index import VERSIONS

from oric.support.collection import no_collection
from oric.support.diagnostics import CompileError, Diagnostics, NotSupported

from .body import Body
from .builder import Builder, ModuleHeader
from .declarations import LINKAGE, VARIABLE_SPACES, Declarations, TypeSpec
from .headers import Headers, nearest, signature_of
from .lexer import DOT_WORD, END, NUMBER, Lexer, PtxError, again
from .scopes import FUNCTION, Entity, Scope
from .sections import DWARF_LINE, dwarf_line, read_section
from .state import State
from .statements import Statements
from .targets import read_target

_NEWEST: Final = max(VERSIONS)
_DIGITS: Final = 3  # of each part of a version at most
_FIRST_ADDRESS_SIZE: Final = 23  # PTX version * 10
_FIRST_ALIAS: Final = 63
_ALIAS_SM: Final = 30
_NO_FILE: Final = ".loc directive without .file directive is found, line information in generated binary may not be complete"
_MODULE_WORDS: Final = dict.fromkeys(
    ("file", "section", "pragma", "alias", "entry", "func", "global", "const", "shared",
     "extern", "visible", "weak", "common", "align", "attribute")
)  # fmt: skip


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

    __slots__ = ("aliased", "aliases", "declarations", "files", "headers", "labels", "scope", "sections", "state", "statements")

    def __init__(self, state: State) -> None:
        self.state = state
        self.statements: Statements | None = None  # made for the first body
        self.declarations = Declarations(state)
        self.headers = Headers(state, self.declarations)
        self.scope = Scope(None, 0)
        self.files: dict[int, int] = {}  # number of a .file -> its place
        self.labels: dict[str, int] = {}  # labels in sections -> their places
        self.sections = 0
        self.aliases: dict[str, int] = {}  # functions that are aliases -> the place that says so
        self.aliased: dict[str, int] = {}  # functions that have one that other modules see -> likewise

    def run(self) -> None:
        """Read header and statements up to the end of the text."""
        try:
            lexer = Lexer(self.state.source)
            self.header(lexer)
        except PtxError as error:
            self.state.report(error)
            raise CompileError(self.state.diag) from None
        position = lexer.at
        while position < len(self.state.text):
            position = self.step(position)
        self.check_debug()
        try:
            self.state.builder.end_module()
        except NotSupported as missing:
            self.state.not_supported(missing, missing.offset)

    def check_debug(self) -> None:
        """What debug data must be there once all is read."""
        for name, at in self.state.section_labels.items():
            if name not in self.labels:
                self.state.report(PtxError(at, f"no section defines the label '{name}'"))
        if self.state.has_loc and not self.files and not self.state.diag.error_count:
            self.state.diag.warning(_NO_FILE)
        if self.state.debug_at >= 0 and not self.sections:
            self.state.report(
                PtxError(self.state.debug_at, "target option 'debug', but the module has no section with debug data")
            )

    def step(self, position: int) -> int:
        """One module-level statement; returns where the next one begins."""
        try:
            lexer = Lexer(self.state.source, position)
        except PtxError as error:
            self.state.report(error)
            return len(self.state.text)
        begin = self.state.statement_at = lexer.at
        try:
            return self.statement(lexer)
        except PtxError as error:
            self.state.report(error)
        except NotSupported as missing:
            self.state.not_supported(missing, missing.at(begin))
        from .recovery import next_declaration

        next_declaration(lexer, begin)
        return lexer.at

    def header(self, lexer: Lexer) -> None:
        """``.version``, ``.target``, ``.address_size``."""
        at = lexer.at
        if not lexer.take_dot(".version"):
            raise lexer.expected("'.version' at the beginning of the module")
        version = self.version(lexer)
        self.state.version = version[0] * 10 + version[1]
        if lexer.kind != DOT_WORD or lexer.value != ".target":
            raise lexer.expected("'.target' behind '.version'")
        options: list[str] = []
        while lexer.take_dot(".target"):
            read_target(lexer, self.state, options)
        self.state.texmode = "independent" if "texmode_independent" in options else "unified"
        size = 32
        size_at = lexer.at
        if lexer.take_dot(".address_size"):
            self.state.gate("'.address_size'", _FIRST_ADDRESS_SIZE, 0, (), size_at)
            size_at, size = lexer.at, lexer.integer("32 or 64")
            if size not in (32, 64):
                raise PtxError(size_at, f"address size is 32 or 64, found {size}")
            if size == 32:
                self.state.report(PtxError(size_at, "32-bit addresses are supported no more; write '.address_size 64'"))
        header = ModuleHeader(version, self.state.target, tuple(options), size, at)
        try:
            self.state.builder.module(header)
        except NotSupported as error:
            self.state.not_supported(error, error.at(at))

    def version(self, lexer: Lexer) -> tuple[int, int]:
        """The number behind ``.version``."""
        major, _, minor = lexer.value.partition(".") if lexer.kind == NUMBER else ("", "", "")
        if not (major.isdigit() and minor.isdigit() and len(major) <= _DIGITS and len(minor) <= _DIGITS):
            raise lexer.expected("a version such as 9.0")
        version = int(major), int(minor)
        if version > _NEWEST:
            raise PtxError(
                lexer.at, f"PTX version {lexer.value} is not supported; the newest one known is {_NEWEST[0]}.{_NEWEST[1]}"
            )
        if version not in VERSIONS:
            raise PtxError(lexer.at, f"there is no PTX version {lexer.value}")
        lexer.advance()
        return version

    def statement(self, lexer: Lexer) -> int:
        """One module-level statement; returns the offset behind it."""
        if lexer.kind == END:
            return len(lexer.text)
        if lexer.text.startswith(DWARF_LINE, lexer.at):
            dwarf_line(lexer, self.state)
            return lexer.at
        if lexer.kind != DOT_WORD:
            raise lexer.expected("a directive")
        linkage, linkage_at = "", lexer.at
        while lexer.kind == DOT_WORD and lexer.value in LINKAGE:
            if linkage:
                raise PtxError(lexer.at, f"'.{linkage}' and '{lexer.value}' exclude each other")
            linkage = lexer.value[1:]
            lexer.advance()
        before = TypeSpec()
        self.declarations.modifiers(lexer, before)
        word, at = lexer.value, lexer.at
        if lexer.kind != DOT_WORD or ((before.align or before.attributes) and word not in VARIABLE_SPACES):
            raise lexer.expected("a state space, '.entry' or '.func'")
        if word in (".entry", ".func"):
            lexer.advance()
            return self.function(lexer, word == ".entry", linkage, linkage_at)
        if word in VARIABLE_SPACES:
            self.variable(lexer, word, linkage, at, before)
        elif word == ".reg":
            raise PtxError(at, "registers are declared in functions, not at module level")
        elif linkage:
            raise lexer.expected("a state space, '.entry' or '.func'")
        else:
            self.other(lexer, word, at)
        return lexer.at

    def variable(self, lexer: Lexer, word: str, linkage: str, at: int, before: TypeSpec) -> None:
        """A module-level variable."""
        if word in (".local", ".param", ".tex"):
            raise PtxError(at, f"variables in {word} cannot be declared at module level")
        if linkage == "common" and word != ".global":
            raise PtxError(at, "'.common' is for variables in .global")
        lexer.advance()
        self.declarations.variables(lexer, self.scope, word[1:], linkage, False, before)

    def function(self, lexer: Lexer, is_entry: bool, linkage: str, at: int) -> int:
        """A function's header and body."""
        if linkage == "common":
            raise PtxError(at, "'.common' is for variables in .global")
        function = self.headers.header(lexer, is_entry, linkage)
        ended = lexer.is_punct(";")  # ptxas needs none behind a declared function; compilers for PTX 1 and 2 wrote none
        if lexer.is_punct("{"):
            function.has_body = True
            function.body_at = lexer.at
        elif not ended and (is_entry or lexer.kind not in (END, DOT_WORD)):
            raise lexer.expected("'{' or ';'")
        body_at = lexer.after
        try:
            entity = self.headers.enter_function(self.scope, function)
            if function.has_body:
                self.headers.check_definition(function)
        except PtxError as error:
            if not function.has_body:
                raise
            self.state.report(error)
            lexer.move(body_at)
            from .recovery import behind_body

            behind_body(lexer)
            return lexer.at
        if not function.has_body:
            if ended:
                lexer.advance()
            return lexer.at
        if self.statements is None:
            self.statements = Statements(self.state.source)
        return Body(self.state, self.statements, self.headers, self.scope, function).read(entity.handle, body_at)

    def other(self, lexer: Lexer, word: str, at: int) -> None:
        """Directives that are neither variables nor functions."""
        builder = self.state.builder
        if word == ".file":
            self.file(lexer, at)
        elif word == ".section":
            lexer.advance()
            self.sections += 1
            name, text = read_section(lexer, self.labels)
            builder.section(name, text, at)
        elif word == ".pragma":
            lexer.advance()
            for text in self.headers.pragma_strings(lexer, "module"):
                builder.pragma(text, at)
        elif word == ".alias":
            self.alias(lexer, at)
        elif word in (".version", ".target", ".address_size"):
            raise PtxError(at, f"'{word}' stands at the beginning of the module")
        elif word == ".loc":
            raise PtxError(at, "'.loc' stands in function bodies")
        else:
            raise PtxError(at, f"unknown directive '{word}'", *nearest(word, _MODULE_WORDS))

    def file(self, lexer: Lexer, at: int) -> None:
        """``.file 1 "a.cu", TIME, SIZE``."""
        lexer.advance()
        index_at = lexer.at
        index = lexer.integer("a file number")
        if index >> 32:
            raise PtxError(index_at, f"file number {index} does not fit 32 bits")
        if index in self.files:
            raise again(index_at, f"file number {index} is given twice", self.files[index])
        self.files[index] = index_at
        name = lexer.string("a file name")
        time = size = 0
        if lexer.take(","):
            time = lexer.integer("a time")
            if lexer.take(","):
                size = lexer.integer("a size")
        self.state.builder.file(index, name, at, time, size)

    # -- aliases -------------------------------------------------------------------------------------------

    def alias(self, lexer: Lexer, at: int) -> None:
        """``.alias name, function;``."""
        lexer.advance()
        name_at = lexer.at
        name, entity = self.known_function(lexer)
        lexer.expect(",")
        target_at = lexer.at
        target, aliased = self.known_function(lexer)
        lexer.expect(";")
        self.state.gate("'.alias'", _FIRST_ALIAS, _ALIAS_SM, (), at)
        self.check_alias(name, entity.info, name_at, target, aliased.info, target_at)
        self.aliases[name] = name_at
        if entity.info.linkage:
            self.aliased[target] = target_at
        self.state.builder.alias(name, aliased.handle, name_at)

    def check_alias(self, name: str, function: Any, at: int, target: str, aliased: Any, target_at: int) -> None:
        """``name`` can stand for the function ``target``."""
        if name == target:
            raise PtxError(target_at, f"'{name}' cannot be an alias of itself")
        if name in self.aliases:
            raise again(at, f"'{name}' is an alias already", self.aliases[name])
        if function.has_body:
            raise again(at, f"'{name}' is defined: it cannot be an alias", function.loc)
        if aliased.is_entry:
            raise PtxError(target_at, f"'{target}' is an entry: it cannot have an alias")
        if aliased.linkage == "extern" and not aliased.has_body:
            raise PtxError(target_at, f"'{target}' is external: it cannot have an alias")
        if aliased.linkage == "weak":
            raise PtxError(target_at, f"'{target}' is weak: it cannot have an alias")
        if signature_of(function) != signature_of(aliased):
            same = [(len(one.params), len(one.returns)) for one in (function, aliased)]
            what = "other parameters" if same[0] == same[1] else "different numbers of parameters"
            raise PtxError(at, f"'{name}' and '{target}' have {what}")
        if ("noreturn" in function.directives) != ("noreturn" in aliased.directives):
            raise PtxError(at, f"'{name}' and '{target}' differ in '.noreturn'")
        if target in self.aliases and function.linkage:  # ptxas loses it; without '.visible' it does not
            raise again(target_at, f"'{target}' is an alias itself", self.aliases[target])
        if name in self.aliased:
            raise again(at, f"'{name}' has an alias already: it cannot be one", self.aliased[name])

    def known_function(self, lexer: Lexer) -> tuple[str, Entity]:
        """A declared function."""
        at = lexer.at
        name = lexer.identifier("a function name")
        entity = self.scope.names.get(name)
        if entity is None or entity.kind != FUNCTION:
            raise PtxError(at, f"function '{name}' is not declared")
        return name, entity
