"""The second Builder: records a typed module with places, for tools and tests; :func:`parse` fills it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from oric.support.diagnostics import Location, Source, diagnostics_for

from .builder import Function, InlinedAt, ModuleHeader, Operand, Variable, Variant
from .parser import parse_module


@dataclass(slots=True)
class Instruction:
    """A recorded instruction; ``loc`` is its offset, see :meth:`Module.location`."""

    variant: Variant
    guard: Operand | None
    operands: tuple[Operand, ...]
    loc: int


@dataclass(slots=True)
class LabelMark:
    """A label standing in a body."""

    label: int
    name: str
    loc: int


@dataclass(slots=True)
class Directive:
    """A directive and its place: what stands in the text beside instructions, labels, variables and functions.

    ``kind`` is ``"pragma" "file" "section" "alias"`` at module level, and in a body ``"pragma" "loc" "{" "}"`` or that of a
    table: ``"branch" "call" "prototype"``; ``values`` are what it says. In a body it stands before statement ``index``.
    """

    kind: str
    values: tuple[Any, ...]
    loc: int
    index: int = -1


@dataclass(slots=True)
class Registers:
    """A register declaration: handles ``first .. first + count - 1``."""

    type: str
    count: int
    name: str
    first: int


@dataclass(slots=True)
class FunctionBody:
    """A function with a body."""

    function: Function
    symbol: int
    parameters: list[int] = field(default_factory=list)
    registers: list[Registers] = field(default_factory=list)
    variables: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    tables: list[tuple[str, str, tuple[int, ...]]] = field(default_factory=list)
    statements: list[Instruction | LabelMark] = field(default_factory=list)
    lines: list[tuple[int, int, int, int]] = field(default_factory=list)
    directives: list[Directive] = field(default_factory=list)
    end: int = -1  # place of the closing brace

    def instructions(self) -> list[Instruction]:
        """The instructions in order, without labels."""
        return [s for s in self.statements if isinstance(s, Instruction)]

    def register_name(self, handle: int) -> str:
        """The name of a register as the text has it (``%r7``).

        Raises:
            KeyError: the handle is no register that the body declares.
        """
        for row in self.registers:
            if row.first <= handle < row.first + row.count:
                return row.name if row.count == 1 else f"{row.name}{handle - row.first}"
        raise KeyError(handle)


class Module:
    """A parsed module. ``symbols`` is indexed by symbol handle; places are offsets, see :meth:`location`."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.header: ModuleHeader | None = None
        self.symbols: list[Variable | Function] = []
        self.bodies: list[FunctionBody] = []
        self.pragmas: list[str] = []
        self.files: dict[int, str] = {}
        self.sections: list[tuple[str, str]] = []
        self.aliases: list[tuple[str, int]] = []
        self.directives: list[Directive] = []

    def location(self, loc: int) -> Location:
        """Line and column of an offset."""
        return self.source.location(loc)

    def comments(self) -> list[tuple[str, int]]:
        """The comments and their places, in order (the text is read again for them)."""
        from .format import COMMENT, tokens_of

        return [(token.text, token.at) for token in tokens_of(self.source.text) if token.kind == COMMENT]

    def function(self, name: str) -> FunctionBody:
        """The body of a function.

        Raises:
            KeyError: no function of that name has a body.
        """
        for body in self.bodies:
            if body.function.name == name:
                return body
        raise KeyError(name)


class Recorder:
    """Builder that records everything it is told."""

    def __init__(self, source: Source) -> None:
        self.result = Module(source)
        self.register_count = 0
        self.body: FunctionBody | None = None

    def module(self, header: ModuleHeader) -> None:
        """Record the header."""
        self.result.header = header

    def variable(self, variable: Variable) -> int:
        """Record a variable."""
        self.result.symbols.append(variable)
        handle = len(self.result.symbols) - 1
        if self.body is not None:
            self.body.variables.append(handle)
        return handle

    def define_variable(self, symbol: int, variable: Variable) -> None:
        """Record the definition in the place of the external declaration."""
        self.result.symbols[symbol] = variable

    def function(self, function: Function) -> int:
        """Record a function symbol."""
        self.result.symbols.append(function)
        return len(self.result.symbols) - 1

    def begin_body(self, symbol: int, function: Function) -> Sequence[int]:
        """Open a body."""
        self.body = None
        handles = []
        body = FunctionBody(function, symbol)
        for variable in (*function.returns, *function.params):
            if variable.space == "reg":
                handles.append(self.register_count)
                self.register_count += variable.vector
            else:
                handles.append(self.variable(variable))
        self.body = body
        body.parameters = handles
        self.result.bodies.append(body)
        return handles

    def directive(self, kind: str, loc: int, *values: Any) -> None:
        """Record a directive where it stands."""
        if self.body is None:
            self.result.directives.append(Directive(kind, values, loc))
        else:
            self.body.directives.append(Directive(kind, values, loc, len(self.body.statements)))

    def current(self) -> FunctionBody:
        """The open body."""
        assert self.body is not None
        return self.body

    def end_body(self, loc: int) -> None:
        """Close the body."""
        self.current().end = loc
        self.body = None

    def begin_scope(self, loc: int) -> None:
        """Record where a scope begins; names are resolved."""
        self.directive("{", loc)

    def end_scope(self, loc: int) -> None:
        """Record where a scope ends."""
        self.directive("}", loc)

    def registers(self, type_: str, count: int, name: str) -> int:
        """Record a register declaration."""
        first = self.register_count
        self.register_count += count
        self.current().registers.append(Registers(type_, count, name, first))
        return first

    def new_label(self, name: str) -> int:
        """Record a label."""
        self.current().labels.append(name)
        return len(self.current().labels) - 1

    def place_label(self, label: int, loc: int) -> None:
        """Record where a label stands."""
        self.current().statements.append(LabelMark(label, self.current().labels[label], loc))

    def branch_targets(self, name: str, labels: Sequence[int], loc: int) -> int:
        """Record a table of labels."""
        return self.table("branch", name, labels, loc)

    def call_targets(self, name: str, functions: Sequence[int], loc: int) -> int:
        """Record a table of functions."""
        return self.table("call", name, functions, loc)

    def call_prototype(self, name: str, prototype: Function) -> int:
        """Record a prototype."""
        self.result.symbols.append(prototype)
        return self.table("prototype", name, [len(self.result.symbols) - 1], prototype.loc)

    def table(self, kind: str, name: str, entries: Sequence[int], loc: int) -> int:
        """Record a table of any kind."""
        self.directive(kind, loc, name, *entries)
        self.current().tables.append((kind, name, tuple(entries)))
        return len(self.current().tables) - 1

    def instruction(self, variant: Variant, guard: Operand | None, operands: Sequence[Operand], loc: int) -> None:
        """Record an instruction."""
        self.current().statements.append(Instruction(variant, guard, tuple(operands), loc))

    def pragma(self, text: str, loc: int) -> None:
        """Record a pragma."""
        self.result.pragmas.append(text)
        self.directive("pragma", loc, text)

    def file(self, index: int, name: str, loc: int, time: int = 0, size: int = 0) -> None:
        """Record a file name."""
        self.result.files[index] = name
        self.directive("file", loc, index, name)

    def line_info(self, file: int, line: int, col: int, loc: int, inlined: InlinedAt | None = None) -> None:
        """Record a source line: statements from this index on come from it."""
        self.current().lines.append((len(self.current().statements), file, line, col))
        self.directive("loc", loc, file, line, col)

    def section(self, name: str, text: str, loc: int) -> None:
        """Record a section."""
        self.result.sections.append((name, text))
        self.directive("section", loc, name, text)

    def alias(self, name: str, target: int, loc: int) -> None:
        """Record an alias."""
        self.result.aliases.append((name, target))
        self.directive("alias", loc, name, target)

    def end_module(self) -> None:
        """Nothing is left to do."""


def parse(text: str, filename: str = "<ptx>") -> Module:
    """Parse and check a PTX module without compiling it.

    Raises:
        oric.support.diagnostics.CompileError: the module has errors; ``str()`` shows them all.
    """
    diag = diagnostics_for(text, filename)
    recorder = Recorder(diag.source)
    parse_module(text, filename, recorder, None, diag)
    diag.check()
    return recorder.result
