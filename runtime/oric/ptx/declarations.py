"""Declarations: variables, registers, parameters, function headers and prototypes."""

from __future__ import annotations

from typing import Final

from oric_tables.ptx_index import DIRECTIVES, TYPES

from .builder import Function, Variable
from .lexer import DOT_WORD, Lexer, PtxError
from .opaque import check_opaque, check_pragma
from .scopes import FUNCTION, MAX_REGISTERS, REGISTER, SYMBOL, Entity, Scope
from .state import State

VARIABLE_SPACES: Final = frozenset({".global", ".const", ".shared", ".local", ".param", ".tex"})
LINKAGE: Final = frozenset({".extern", ".visible", ".weak", ".common"})
_VECTORS: Final = {".v2": 2, ".v4": 4, ".v8": 8}
_ATTRIBUTES: Final = frozenset({".managed", ".unified"})
MAX_SIZE: Final = 1 << 40


class TypeSpec:
    """The part of a declaration in front of the name."""

    __slots__ = ("align", "align_at", "attributes", "ptr", "type", "vector")

    def __init__(self) -> None:
        self.type = ""
        self.vector = 1
        self.align = 0
        self.align_at = 0
        self.attributes: tuple[str, ...] = ()
        self.ptr: tuple[str, int] | None = None


class Declarations:
    """Reads declarations and enters them into a scope; the lexer stands behind the first directive."""

    __slots__ = ("state",)

    def __init__(self, state: State) -> None:
        self.state = state

    # -- types ---------------------------------------------------------------------------------------------

    def type_spec(self, lexer: Lexer, parameter: bool = False) -> TypeSpec:
        """``.align N``, ``.v4``, ``.attribute(...)``, the type and, for parameters, ``.ptr`` in any order."""
        spec = TypeSpec()
        while lexer.kind == DOT_WORD:
            word, at = lexer.value, lexer.at
            if word == ".align":
                spec.align, spec.align_at = self.alignment(lexer), at
            elif word in _VECTORS:
                spec.vector = _VECTORS[word]
                lexer.advance()
            elif word[1:] in TYPES and not spec.type:
                self.check_type(word[1:], at)
                spec.type = word[1:]
                lexer.advance()
            elif word == ".attribute":
                spec.attributes = self.attribute(lexer)
            elif word == ".ptr" and parameter:
                spec.ptr = self.pointer(lexer)
            else:
                raise PtxError(at, f"expected a type, found '{word}'" if not spec.type else f"expected a name, found '{word}'")
        if not spec.type:
            raise lexer.expected("a type")
        if spec.vector > 1 and TYPES[spec.type][1] * spec.vector > 128:
            raise PtxError(lexer.at, f"a vector of {spec.vector} elements of type .{spec.type} is larger than 128 bits")
        return spec

    def check_type(self, name: str, at: int) -> None:
        """The type exists in the module's version and target."""
        row = TYPES[name]
        self.state.gate(f"type .{name}", row[3], row[4], (), at)

    def alignment(self, lexer: Lexer) -> int:
        """``.align N``."""
        lexer.advance()
        at = lexer.at
        value = lexer.integer("an alignment")
        if value == 0 or value & (value - 1):
            raise PtxError(at, f"alignment {value} is no power of two")
        if value > 1 << 20:
            raise PtxError(at, f"alignment {value} is too large")
        return value

    def attribute(self, lexer: Lexer) -> tuple[str, ...]:
        """``.attribute(.managed, .unified(1, 2))``."""
        lexer.advance()
        lexer.expect("(")
        words = []
        while True:
            if lexer.kind != DOT_WORD or lexer.value not in _ATTRIBUTES:
                raise lexer.expected("'.managed' or '.unified'")
            words.append(lexer.value[1:])
            lexer.advance()
            if words[-1] == "unified":
                lexer.expect("(")
                lexer.integer("a number")
                lexer.expect(",")
                lexer.integer("a number")
                lexer.expect(")")
            if not lexer.take(","):
                break
        lexer.expect(")")
        return tuple(words)

    def pointer(self, lexer: Lexer) -> tuple[str, int]:
        """``.ptr .global .align 16``."""
        lexer.advance()
        space, align = "", 4
        while lexer.kind == DOT_WORD and (lexer.value == ".align" or lexer.value in (".global", ".const", ".shared", ".local")):
            if lexer.value == ".align":
                align = self.alignment(lexer)
            else:
                space = lexer.value[1:]
                lexer.advance()
        return space, align

    def dimensions(self, lexer: Lexer) -> tuple[int, ...]:
        """``[4][3]``; ``[]`` gives 0, allowed first only."""
        dims: list[int] = []
        while lexer.is_punct("["):
            lexer.advance()
            at = lexer.at
            if lexer.take("]"):
                if dims:
                    raise PtxError(at, "only the first dimension may be left open")
                dims.append(0)
                continue
            size = lexer.integer("an array size")
            if size == 0:
                raise PtxError(at, "an array size must not be 0")
            lexer.expect("]")
            dims.append(size)
            if len(dims) > 16:
                raise PtxError(at, "too many dimensions")
        return tuple(dims)

    # -- variables -----------------------------------------------------------------------------------------

    def variable_named(self, lexer: Lexer, spec: TypeSpec, space: str) -> Variable:
        """Name and dimensions behind a type."""
        at = lexer.at
        name = lexer.identifier("a name")
        dims = self.dimensions(lexer)
        if TYPES[spec.type][0] == "pred" and space != "reg":
            raise PtxError(at, f"'{name}': only registers can be of type .pred")
        element = max(TYPES[spec.type][1] // 8, 1) * spec.vector
        size = element
        for dim in dims:
            size *= dim
        if size > MAX_SIZE:
            raise PtxError(at, f"'{name}' is too large ({size} bytes)")
        variable = Variable(name, space, spec.type, spec.vector, dims, size, spec.align or element, at)
        variable.attributes = spec.attributes
        variable.ptr = spec.ptr
        return variable

    def variables(self, lexer: Lexer, scope: Scope, space: str, linkage: str, in_function: bool) -> None:
        """``.global .align 4 .u32 a = 1, b[2];`` from behind the state space on."""
        spec = self.type_spec(lexer)
        while True:
            variable = self.variable_named(lexer, spec, space)
            variable.linkage = linkage
            variable.in_function = in_function
            check_opaque(self.state, variable)
            if lexer.is_punct("="):
                if space not in ("global", "const"):
                    raise PtxError(lexer.at, f"a variable in .{space} cannot have an initial value")
                if linkage == "extern":
                    raise PtxError(lexer.at, f"'{variable.name}' is external: it cannot have an initial value")
                from .initializers import Initializer

                lexer.advance()
                Initializer(lexer, scope, variable).read()
            elif variable.size == 0 and linkage != "extern":
                raise PtxError(variable.loc, f"'{variable.name}' has no size: give the first dimension or an initialiser")
            self.enter_variable(scope, variable)
            if not lexer.take(","):
                break
        lexer.expect(";")

    def enter_variable(self, scope: Scope, variable: Variable) -> None:
        """Give a variable to the builder and the scope; a second external declaration is the same variable."""
        known = scope.names.get(variable.name)
        if known is not None and known.kind == SYMBOL and "extern" in (known.info.linkage, variable.linkage):
            if known.type != name_class(variable) or known.info.type != variable.type:
                raise PtxError(variable.loc, f"'{variable.name}' was declared before with another type or state space")
            if known.info.linkage == "extern" and not variable.linkage:
                raise PtxError(
                    variable.loc, f"'{variable.name}' was declared '.extern': its definition needs '.visible' or '.weak'"
                )
            if variable.linkage == "extern" or known.info.linkage != "extern":
                return
            self.state.builder.define_variable(known.handle, variable)
            known.info = variable
            return
        if variable.name in scope.names:
            raise PtxError(variable.loc, f"'{variable.name}' is declared twice in this scope")
        handle = self.state.builder.variable(variable)
        scope.declare(variable.name, Entity(SYMBOL, handle, name_class(variable), 1, variable), variable.loc)

    def registers(self, lexer: Lexer, scope: Scope) -> None:
        """``.reg .b32 %r<100>, x, y;`` from behind ``.reg`` on."""
        spec = self.type_spec(lexer)
        at = lexer.at
        if not TYPES[spec.type][2]:
            raise PtxError(at, f"a register cannot be of type .{spec.type}")
        while True:
            at = lexer.at
            name = lexer.identifier("a register name")
            if lexer.take("<"):
                count_at = lexer.at
                count = lexer.integer("a number of registers")
                if count > MAX_REGISTERS:
                    raise PtxError(count_at, f"{count} registers are too many (at most {MAX_REGISTERS})")
                if spec.vector > 1:
                    raise PtxError(at, "a parameterised declaration takes no vector type")
                lexer.expect(">")
                first = self.state.builder.registers(spec.type, count, name)
                scope.declare_range(name, first, count, spec.type, at, (len(lexer.text) - at) // 8)
            else:
                first = self.state.builder.registers(spec.type, spec.vector, name)
                scope.declare(name, Entity(REGISTER, first, spec.type, spec.vector), at)
            if not lexer.take(","):
                break
        lexer.expect(";")

    def plain_registers(self, scope: Scope, type_: str, prefix: str, count: int, at: int) -> bool:
        """``.reg .b32 %r<100>;`` read by the statement scanner; False when it needs a closer look."""
        row = TYPES.get(type_)
        if row is None or not row[2] or row[3] or prefix in scope.ranges or prefix in scope.prefixes or count > MAX_REGISTERS:
            return False
        first = self.state.builder.registers(type_, count, prefix)
        scope.declare_range(prefix, first, count, type_, at, (len(self.state.text) - at) // 8)
        return True

    # -- functions -----------------------------------------------------------------------------------------

    def header(self, lexer: Lexer, is_entry: bool, linkage: str) -> Function:
        """``.entry name (params)`` or ``.func (returns) name (params)`` with directives, up to ``{`` or ``;``."""
        returns: tuple[Variable, ...] = ()
        if not is_entry and lexer.is_punct("("):
            returns_at = lexer.at
            returns = self.parameters(lexer, is_entry)
            if len(returns) > 1 and any(v.space != "reg" for v in returns):
                raise PtxError(returns_at, "several results of a function must be in .reg")
        at = lexer.at
        function = Function(lexer.identifier("a function name"), is_entry, linkage, at)
        function.returns = returns
        if lexer.is_punct("("):
            function.params = self.parameters(lexer, is_entry)
        self.directives(lexer, function)
        return function

    def prototype(self, lexer: Lexer, name: str, at: int) -> Function:
        """``.callprototype (returns) _ (params) ;`` from behind the directive on."""
        function = Function(name, False, "", at)
        if lexer.is_punct("("):
            function.returns = self.parameters(lexer, False)
        lexer.identifier("'_'")
        if lexer.is_punct("("):
            function.params = self.parameters(lexer, False)
        self.directives(lexer, function)
        lexer.expect(";")
        return function

    def parameters(self, lexer: Lexer, is_entry: bool) -> tuple[Variable, ...]:
        """``( .param .u64 a, .reg .b32 b )``."""
        lexer.expect("(")
        found: list[Variable] = []
        if lexer.take(")"):
            return ()
        names = set()
        while True:
            if lexer.kind != DOT_WORD or lexer.value not in (".param", ".reg"):
                raise lexer.expected("'.param'" if is_entry else "'.param' or '.reg'")
            space = lexer.value[1:]
            if is_entry and space == "reg":
                raise PtxError(lexer.at, "parameters of an entry are in .param, not .reg")
            lexer.advance()
            variable = self.variable_named(lexer, self.type_spec(lexer, parameter=True), space)
            variable.in_function = True
            check_opaque(self.state, variable, is_entry)
            if variable.name in names and variable.name != "_":
                raise PtxError(variable.loc, f"parameter '{variable.name}' is declared twice")
            names.add(variable.name)
            found.append(variable)
            if not lexer.take(","):
                break
        lexer.expect(")")
        return tuple(found)

    def directives(self, lexer: Lexer, function: Function) -> None:
        """Performance directives and pragmas behind a header."""
        while lexer.kind == DOT_WORD:
            name, at = lexer.value[1:], lexer.at
            if name == "pragma":
                lexer.advance()
                if not function.is_entry:
                    raise PtxError(at, "'.pragma' behind a header is for entries; put it into the body")
                function.pragmas += self.pragma_strings(lexer, "entry")
                continue
            row = DIRECTIVES.get(name)
            if row is None:
                raise PtxError(at, f"expected '{{' or ';', found '.{name}'")
            lexer.advance()
            self.directive(lexer, function, name, at)
        if "maxntid" in function.directives and "reqntid" in function.directives:
            raise PtxError(function.loc, f"'{function.name}' has both .maxntid and .reqntid")

    def directive(self, lexer: Lexer, function: Function, name: str, at: int) -> None:
        """The values of one performance directive."""
        least, most, low, fill, entry, ptx, sm = DIRECTIVES[name]
        self.state.gate(f"'.{name}'", ptx, sm, (), at)
        if entry and not function.is_entry:
            raise PtxError(at, f"'.{name}' is for entries, '{function.name}' is a function")
        values: list[int] = []
        while len(values) < most and (not values or lexer.take(",")):
            value_at = lexer.at
            values.append(lexer.integer("an integer"))
            if values[-1] < low:
                raise PtxError(value_at, f"'.{name}' takes values from {low} on, found {values[-1]}")
        if len(values) < least:
            raise lexer.expected("an integer")
        if fill:
            values += [1] * (most - len(values))
        function.directives[name] = tuple(values)

    def pragma_strings(self, lexer: Lexer, place: str) -> tuple[str, ...]:
        """``"a", "b";``."""
        found: list[str] = []
        while not found or lexer.take(","):
            at = lexer.at
            found.append(lexer.string("a string"))
            check_pragma(self.state, found[-1], place, at)
        lexer.expect(";")
        return tuple(found)

    def enter_function(self, scope: Scope, function: Function) -> Entity:
        """Give a function to the builder at first sight; check a second sight against the first."""
        known = scope.names.get(function.name)
        if known is None:
            handle = self.state.builder.function(function)
            entity = Entity(FUNCTION, handle, "func", 1, function)
            scope.declare(function.name, entity, function.loc)
            return entity
        if known.kind != FUNCTION:
            raise PtxError(function.loc, f"'{function.name}' is declared twice in this scope")
        earlier: Function = known.info
        if function.has_body and earlier.has_body:
            raise PtxError(function.loc, f"function '{function.name}' is defined twice")
        if signature_of(earlier) != signature_of(function):
            raise PtxError(function.loc, f"function '{function.name}' was declared before with other parameters")
        if earlier.linkage == "extern" and function.has_body:
            raise PtxError(function.loc, f"function '{function.name}' was declared '.extern': it cannot be defined here")
        if function.linkage not in (earlier.linkage, ""):
            raise PtxError(function.loc, f"function '{function.name}' was declared before with another linkage")
        function.linkage = earlier.linkage
        if function.has_body or not earlier.has_body:
            known.info = function
        return known


def name_class(variable: Variable) -> str:
    """What a variable's name stands for in operands: an address in its state space, or an opaque object of its type."""
    return variable.type if TYPES[variable.type][0] == "opaque" else variable.space


def signature_of(function: Function) -> tuple[object, ...]:
    """What two declarations of a function must agree in."""
    return (
        function.is_entry,
        tuple((v.space, v.type, v.vector, v.dims, v.align) for v in function.returns),
        tuple((v.space, v.type, v.vector, v.dims, v.align) for v in function.params),
    )
