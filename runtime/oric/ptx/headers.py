"""Headers of entries and functions, call prototypes: parameters, performance directives, agreement of declarations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from oric_tables.ptx_index import DIRECTIVES, PARAMETER_LIMITS

from .builder import Function, Variable
from .declarations import Declarations, TypeSpec
from .lexer import DOT_WORD, Lexer, PtxError, again
from .opaque import check_opaque, check_pragma
from .scopes import FUNCTION, Entity, Scope
from .state import State

_LEAST_LIMIT: Final = min(most for most, _ in PARAMETER_LIMITS)
MAX_VALUE: Final = (1 << 32) - 1  # of a performance directive
# What can follow a declared function that has no semicolon.
STATEMENTS: Final = frozenset(
    ("alias", "common", "const", "entry", "extern", "file", "func", "global", "pragma", "section", "shared", "visible", "weak")
)


class Headers:
    """Reads what stands in front of a body; the lexer stands behind ``.entry``, ``.func`` or ``.callprototype``."""

    __slots__ = ("declarations", "state")

    def __init__(self, state: State, declarations: Declarations) -> None:
        self.state = state
        self.declarations = declarations

    def header(self, lexer: Lexer, is_entry: bool, linkage: str) -> Function:
        """``.entry name (params)`` or ``.func (returns) name (params)`` with directives, up to ``{`` or ``;``."""
        returns: tuple[Variable, ...] = ()
        attributes: tuple[str, ...] = ()
        if not is_entry and lexer.kind == DOT_WORD and lexer.value == ".attribute":
            attributes = self.declarations.attribute(lexer, "function")
        if not is_entry and lexer.is_punct("("):
            returns_at = lexer.at
            returns = self.parameters(lexer, is_entry, "result", named=True)
            self.check_results(returns, returns_at)
        at = lexer.at
        function = Function(lexer.name("a function name"), is_entry, linkage, at)
        function.returns, function.attributes = returns, attributes
        if lexer.is_punct("("):
            function.params = self.parameters(lexer, is_entry, "parameter", named=not is_entry)
        last = lexer.at
        self.directives(lexer, function)
        if is_entry and lexer.is_punct("{"):
            self.check_size(function, last)
        if is_entry and function.directives and not lexer.is_punct("{"):
            raise lexer.expected("'{'")
        if linkage == "extern" and lexer.is_punct("{"):
            raise PtxError(at, f"'{function.name}' is '.extern': it cannot be defined here")
        return function

    def prototype(self, lexer: Lexer, name: str, at: int) -> Function:
        """``.callprototype (returns) _ (params) ;`` from behind the directive on."""
        function = Function(name, False, "", at)
        if lexer.is_punct("("):
            returns_at = lexer.at
            function.returns = self.parameters(lexer, False, "result")
            self.check_results(function.returns, returns_at)
        if lexer.value != "_":
            raise lexer.expected("'_'")
        lexer.advance()
        if lexer.is_punct("("):
            function.params = self.parameters(lexer, False, "parameter")
        self.directives(lexer, function)
        lexer.expect(";")
        return function

    # -- parameters ----------------------------------------------------------------------------------------

    def parameters(self, lexer: Lexer, is_entry: bool, formal: str, named: bool = False) -> tuple[Variable, ...]:
        """``( .param .u64 a, .reg .b32 b )``; ``formal``: "parameter" or "result"; with ``named`` none may be called ``_``."""
        lexer.expect("(")
        found: list[Variable] = []
        if lexer.take(")"):
            return ()
        while True:
            variable = self.parameter(lexer, is_entry)
            variable.formal = formal
            if variable.name == "_" and named:
                raise PtxError(variable.loc, "a parameter cannot be called '_' here")
            if found and found[-1].dims and found[-1].dims[0] == 0:
                raise PtxError(found[-1].loc, f"'{found[-1].name}': only the last parameter may have an open dimension")
            check_opaque(self.state, variable, is_entry)
            found.append(variable)
            if not lexer.take(","):
                break
        lexer.expect(")")
        return tuple(found)

    def parameter(self, lexer: Lexer, is_entry: bool) -> Variable:
        """``.param .align 8 .b8 a[16]``."""
        spec = TypeSpec()
        self.declarations.modifiers(lexer, spec)
        if lexer.kind != DOT_WORD or lexer.value not in (".param", ".reg"):
            raise lexer.expected("'.param'" if is_entry else "'.param' or '.reg'")
        space = lexer.value[1:]
        if is_entry and space == "reg":
            raise PtxError(lexer.at, "parameters of an entry are in .param, not .reg")
        lexer.advance()
        type_at = lexer.at
        self.declarations.type_spec(lexer, spec, parameter=True)
        if spec.attributes:
            raise PtxError(type_at, "a parameter has no '.attribute'")
        if is_entry and spec.ptr is None and lexer.kind == DOT_WORD and lexer.value == ".align":
            spec.align = self.declarations.alignment(lexer)
        if spec.ptr is not None and not is_entry:
            raise PtxError(type_at, "'.ptr' is for parameters of entries")
        at = lexer.at
        name = lexer.identifier("a name")
        variable = self.declarations.variable_of(name, at, self.dimension(lexer, is_entry), spec, space)
        variable.in_function = True
        if variable.dims and space == "reg":
            raise PtxError(at, f"'{name}': an array is no register")
        return variable

    def check_definition(self, function: Function) -> None:
        """What only a definition needs: its parameters and results have names of their own and types that .param can hold."""
        names: dict[str, int] = {}
        for variable in function.returns + function.params:
            if variable.name in names:
                raise again(variable.loc, f"parameter '{variable.name}' is declared twice", names[variable.name])
            names[variable.name] = variable.loc
            self.declarations.check_parameter(variable, function.is_entry)

    def dimension(self, lexer: Lexer, is_entry: bool) -> tuple[int, ...]:
        """``[16]``; ``[]`` and ``[0]`` leave it open."""
        if not lexer.take("["):
            return ()
        at = lexer.at
        size = 0 if lexer.is_punct("]") else lexer.integer("an array size")
        if is_entry and size == 0:
            raise PtxError(at, "a parameter of an entry has a size")
        lexer.expect("]")
        return (size,)

    def check_results(self, returns: tuple[Variable, ...], at: int) -> None:
        """Results are complete, and one alone or all registers."""
        for variable in returns:
            if variable.dims and variable.dims[0] == 0:
                raise PtxError(variable.loc, f"'{variable.name}': a result has a size")
        if len(returns) > 1 and any(v.space != "reg" for v in returns):
            raise PtxError(at, "several results of a function must be in .reg")

    def check_size(self, function: Function, at: int) -> None:
        """All parameters of an entry together fit what the version and target allow."""
        size = 0
        for variable in function.params:
            size = -(-size // variable.align) * variable.align + variable.size
        if size <= _LEAST_LIMIT:
            return
        limit = max(most for most, (ptx, sm) in PARAMETER_LIMITS if self.state.passes(ptx, sm, ()))
        if size <= limit:
            return
        text = f"the parameters of '{function.name}' take {size} bytes, at most {limit} are possible"
        for most, (ptx, sm) in PARAMETER_LIMITS:
            if size <= most:
                text += f" ({most} from PTX version {ptx // 10}.{ptx % 10}" + (f" and sm_{sm} on)" if sm else " on)")
                break
        raise PtxError(at, text)

    # -- directives ----------------------------------------------------------------------------------------

    def directives(self, lexer: Lexer, function: Function) -> None:
        """Performance directives and pragmas behind a header."""
        begin = lexer.at
        while lexer.kind == DOT_WORD:
            name, at = lexer.value[1:], lexer.at
            if name == "pragma" and function.is_entry:
                lexer.advance()
                function.pragmas += self.pragma_strings(lexer, "entry")
                continue
            if name in STATEMENTS and not function.is_entry:
                break
            if name not in DIRECTIVES:
                raise PtxError(at, f"expected '{{' or ';', found '.{name}'", *nearest(f".{name}", DIRECTIVES))
            lexer.advance()
            self.directive(lexer, function, name, at)
        self.check_directives(function, begin)
        for name in function.directives:
            wanted = DIRECTIVES[name][11]
            if wanted and not any(other in function.directives for other in wanted):
                other = " or ".join(f"'.{word}'" for word in wanted)
                self.state.diag.warning(f"'.{name}' is ignored without {other}", begin)

    def check_directives(self, function: Function, at: int) -> None:
        """Directives that exclude or need each other."""
        for name in function.directives:
            row = DIRECTIVES[name]
            for other in row[9]:
                if other in function.directives:
                    raise PtxError(at, f"'.{name}' and '.{other}' exclude each other")
            for other in row[10]:
                if other not in function.directives:
                    raise PtxError(at, f"'.{name}' needs '.{other}' too")

    def directive(self, lexer: Lexer, function: Function, name: str, at: int) -> None:
        """The values of one performance directive."""
        least, most, low, high, fill, kinds, ptx, sm, removed, *_ = DIRECTIVES[name]
        self.state.gate(f"'.{name}'", ptx, sm, (), at)
        if removed and self.state.version >= removed:
            raise PtxError(at, f"'.{name}' exists up to PTX version {removed // 10}.{removed % 10} only")
        if function.is_entry and "entry" not in kinds:
            raise PtxError(at, f"'.{name}' is for functions, '{function.name}' is an entry")
        if not function.is_entry and "func" not in kinds:
            raise PtxError(at, f"'.{name}' is for entries, '{function.name}' is a function")
        if function.returns and "results" not in kinds:
            raise PtxError(at, f"'.{name}' is for functions without results, '{function.name}' has one")
        if name in function.directives and "once" in kinds:
            raise PtxError(at, f"'.{name}' stands twice")
        values: list[int] = []
        while len(values) < most and (not values or lexer.take(",")):
            value_at = lexer.at
            values.append(lexer.integer("an integer"))
            if values[-1] < low:
                raise PtxError(value_at, f"'.{name}' takes values from {low} on, found {values[-1]}")
            if values[-1] > (high or MAX_VALUE):
                raise PtxError(value_at, f"'.{name}' takes values up to {high or MAX_VALUE}, found {values[-1]}")
        if len(values) < least:
            raise lexer.expected("an integer")
        if fill:
            values += [1] * (most - len(values))
        function.directives[name] = tuple(values)

    def pragma_strings(self, lexer: Lexer, place: str) -> tuple[str, ...]:
        """``"a", "b";`` at a place: see :func:`.opaque.check_pragma`."""
        found: list[str] = []
        while not found or lexer.take(","):
            at = lexer.at
            found.append(lexer.string("a string"))
            check_pragma(self.state, found[-1], place, at)
        lexer.expect(";")
        return tuple(found)

    # -- agreement of declarations -------------------------------------------------------------------------

    def enter_function(self, scope: Scope, function: Function) -> Entity:
        """Give a function to the builder at first sight; check a second sight against the first."""
        known = scope.names.get(function.name)
        if known is None:
            handle = self.state.builder.function(function)
            entity = Entity(FUNCTION, handle, "func", 1, function)
            scope.declare(function.name, entity, function.loc)
            return entity
        if known.kind != FUNCTION:
            raise again(function.loc, f"'{function.name}' is declared twice in this scope", scope.places[function.name])
        self.check_again(function, known.info)
        function.linkage = known.info.linkage
        known.info = function
        return known

    def check_again(self, function: Function, earlier: Function) -> None:
        """A second sight of a function agrees with the first, which was no definition."""
        name, at, first = function.name, function.loc, earlier.loc
        if earlier.has_body:
            what = "is defined twice" if function.has_body else "is declared again behind its definition"
            raise again(at, f"function '{name}' {what}", first)
        if earlier.is_entry != function.is_entry:
            raise again(at, f"'{name}' was declared before as {'an entry' if earlier.is_entry else 'a function'}", first)
        if signature_of(earlier) != signature_of(function):
            counts = [(len(one.params), len(one.returns)) for one in (earlier, function)]
            what = "other parameters" if counts[0] == counts[1] else "another number of parameters"
            raise again(at, f"function '{name}' was declared before with {what}", first)
        if earlier.linkage == "extern" and function.has_body:
            raise again(at, f"function '{name}' was declared '.extern': it cannot be defined here", first)
        if function.linkage != earlier.linkage and (function.linkage or not function.has_body or earlier.linkage == "extern"):
            raise again(at, f"function '{name}' was declared before with another linkage", first)
        if ("noreturn" in earlier.directives) != ("noreturn" in function.directives):
            raise again(at, f"function '{name}' was declared before with another '.noreturn'", first)


def signature_of(function: Function) -> tuple[object, ...]:
    """What two declarations of a function must agree in."""
    return (
        function.is_entry,
        tuple((v.space, v.type, v.vector, v.dims, v.align) for v in function.returns),
        tuple((v.space, v.type, v.vector, v.dims, v.align) for v in function.params),
    )


def nearest(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """A note with the directive that is most like ``name`` (with its dot), if any is."""
    from difflib import get_close_matches

    close = get_close_matches(name, [f".{word}" for word in known], 1, 0.6)
    return (f"did you mean '{close[0]}'?",) if close else ()
