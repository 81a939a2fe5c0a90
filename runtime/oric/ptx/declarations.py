"""Declarations of variables and registers: modifiers, types, names, dimensions, initial values."""

from __future__ import annotations

from typing import Final

from oric_tables.ptx_index import ATTRIBUTES, NO_PARAMETER, PARAMETER_ALIGNMENT, TYPES

from .builder import Variable
from .lexer import DOT_WORD, NO_NAMES, Lexer, PtxError, again
from .opaque import check_opaque
from .scopes import DIGITS, MAX_REGISTERS, REGISTER, SYMBOL, Entity, Scope
from .state import State

VARIABLE_SPACES: Final = frozenset({".global", ".const", ".shared", ".local", ".param", ".tex"})
LINKAGE: Final = frozenset({".extern", ".visible", ".weak", ".common"})
_VECTORS: Final = {".v2": 2, ".v4": 4}
MAX_VECTOR_BITS: Final = 128
MAX_ALIGNMENT: Final = 1 << 31
MAX_FAMILY: Final = 1 << 16


class TypeSpec:
    """The part of a declaration in front of the name."""

    __slots__ = ("align", "attributes", "ptr", "type", "vector")

    def __init__(self, type_: str = "", align: int = 0) -> None:
        self.type = type_
        self.vector = 1
        self.align = align
        self.attributes: tuple[str, ...] = ()
        self.ptr: tuple[str, int] | None = None


class Declarations:
    """Reads declarations and enters them into a scope; the lexer stands behind the first directive."""

    __slots__ = ("state",)

    def __init__(self, state: State) -> None:
        self.state = state

    # -- types ---------------------------------------------------------------------------------------------

    def type_spec(self, lexer: Lexer, spec: TypeSpec, parameter: bool = False) -> TypeSpec:
        """``.align N`` and ``.attribute(...)``, then ``.v4``, the type, for parameters ``.ptr``: fills and returns ``spec``."""
        self.modifiers(lexer, spec)
        at = lexer.at
        if lexer.kind == DOT_WORD and lexer.value in _VECTORS:
            spec.vector = _VECTORS[lexer.value]
            lexer.advance()
        if lexer.kind != DOT_WORD or lexer.value[1:] not in TYPES:
            raise lexer.expected("a type")
        spec.type = lexer.value[1:]
        self.check_type(spec, lexer.at)
        if spec.vector > 1 and TYPES[spec.type][1] * spec.vector > MAX_VECTOR_BITS:
            raise PtxError(at, f"a vector of {spec.vector} elements of type .{spec.type} is larger than {MAX_VECTOR_BITS} bits")
        lexer.advance()
        if parameter and lexer.kind == DOT_WORD and lexer.value == ".ptr":
            spec.ptr = self.pointer(lexer)
        return spec

    def modifiers(self, lexer: Lexer, spec: TypeSpec) -> None:
        """``.align N`` and ``.attribute(...)`` in any order, before or behind the state space."""
        while lexer.kind == DOT_WORD:
            if lexer.value == ".align":
                spec.align = self.alignment(lexer)
            elif lexer.value == ".attribute":
                spec.attributes = self.attribute(lexer, "variable")
            else:
                break

    def check_type(self, spec: TypeSpec, at: int) -> None:
        """The type can be declared, and exists in the module's version and target."""
        kind, _, register, ptx, sm = TYPES[spec.type]
        if not register and kind != "opaque":
            raise PtxError(at, f"type .{spec.type} is for instructions: nothing can be declared with it")
        if kind == "pred" and spec.vector > 1:
            raise PtxError(at, "there are no vectors of predicates")
        if not self.state.passes(ptx, sm, ()):
            self.state.gate(f"type .{spec.type}", ptx, sm, (), at)

    def alignment(self, lexer: Lexer) -> int:
        """``.align N``."""
        lexer.advance()
        at = lexer.at
        value = lexer.integer("an alignment")
        check_alignment(value, at)
        return value

    def attribute(self, lexer: Lexer, place: str) -> tuple[str, ...]:
        """``.attribute(.managed, .unified(1, 2))`` on a "variable" or "function"."""
        lexer.advance()
        lexer.expect("(")
        words = []
        while True:
            at, word = lexer.at, lexer.value[1:]
            if lexer.kind != DOT_WORD or word not in ATTRIBUTES:
                raise lexer.expected(" or ".join(f"'.{name}'" for name in ATTRIBUTES))
            places, values, ptx, sm = ATTRIBUTES[word]
            if place not in places:
                raise PtxError(at, f"'.{word}' is for {' and '.join(p + 's' for p in places)}, not for a {place}")
            self.state.gate(f"'.{word}'", ptx, sm, (), at)
            words.append(word)
            lexer.advance()
            for index in range(values):
                lexer.expect("," if index else "(")
                lexer.integer("a number")
            if values:
                lexer.expect(")")
            if not lexer.take(","):
                break
        lexer.expect(")")
        return tuple(words)

    def pointer(self, lexer: Lexer) -> tuple[str, int]:
        """``.ptr .global .align 16``; the alignment is 0 when it is not stated."""
        lexer.advance()
        space, align = "", 0
        if lexer.kind == DOT_WORD and lexer.value in (".global", ".const", ".shared", ".local"):
            space = lexer.value[1:]
            lexer.advance()
        if lexer.kind == DOT_WORD and lexer.value == ".align":
            align = self.alignment(lexer)
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
        name = lexer.name("a name")
        return self.variable_of(name, at, self.dimensions(lexer), spec, space)

    def variable_of(self, name: str, at: int, dims: tuple[int, ...], spec: TypeSpec, space: str) -> Variable:
        """A variable of this name, these dimensions and type; ``at`` is its place."""
        if TYPES[spec.type][0] == "pred" and space != "reg":
            raise PtxError(at, f"'{name}': only registers can be of type .pred")
        element = max(TYPES[spec.type][1] // 8, 1) * spec.vector
        size = element
        for dim in dims:
            size *= dim
        variable = Variable(name, space, spec.type, spec.vector, dims, size, spec.align or element, at)
        variable.attributes = spec.attributes
        variable.ptr = spec.ptr
        return variable

    def check_parameter(self, variable: Variable, of_entry: bool = False) -> None:
        """A variable in .param is of a type and alignment that can be passed."""
        if variable.space != "param":
            return
        name, at = variable.name, variable.loc
        if variable.type in NO_PARAMETER:
            raise PtxError(at, f"'{name}' of type .{variable.type} cannot be in .param")
        if variable.vector > 1 and not variable.dims:
            raise PtxError(at, f"'{name}': a parameter in .param cannot have a vector type")
        if variable.align > PARAMETER_ALIGNMENT and not of_entry:
            raise PtxError(at, f"'{name}' is aligned to {variable.align} bytes, parameters to at most {PARAMETER_ALIGNMENT}")

    def variables(self, lexer: Lexer, scope: Scope, space: str, linkage: str, in_function: bool, before: TypeSpec) -> None:
        """``.global .align 4 .u32 a = 1, b[2];`` from behind the state space on; ``before``: modifiers in front of that."""
        spec = self.type_spec(lexer, TypeSpec())
        spec.align = spec.align or before.align
        spec.attributes += before.attributes
        if spec.attributes and space != "global":
            raise PtxError(lexer.at, f"'.{spec.attributes[0]}' is for variables in .global, not in .{space}")
        if lexer.take(";"):
            return
        while True:
            variable = self.variable_named(lexer, spec, space)
            variable.linkage = linkage
            variable.in_function = in_function
            check_opaque(self.state, variable)
            self.check_parameter(variable)
            if lexer.is_punct("<"):
                self.family(lexer, scope, variable, spec)
            elif lexer.is_punct("="):
                if space not in ("global", "const"):
                    raise PtxError(lexer.at, f"a variable in .{space} cannot have an initial value")
                if linkage == "extern":
                    raise PtxError(lexer.at, f"'{variable.name}' is external: it cannot have an initial value")
                from .initializers import Initializer

                lexer.advance()
                Initializer(lexer, scope, variable).read()
                self.enter_variable(scope, variable)
            elif variable.size == 0 and linkage != "extern":
                raise PtxError(variable.loc, f"'{variable.name}' has no size: give the first dimension or an initialiser")
            else:
                self.enter_variable(scope, variable)
            if not lexer.take(","):
                break
        lexer.expect(";")

    def family(self, lexer: Lexer, scope: Scope, first: Variable, spec: TypeSpec) -> None:
        """``name<4>``: the variables name0 to name3."""
        at = lexer.at
        if first.dims:
            raise lexer.expected("',' or ';'")
        lexer.advance()
        count = lexer.integer("a number of variables")
        lexer.expect(">")
        if count > MAX_FAMILY:
            raise PtxError(at, f"{count} variables are too many (at most {MAX_FAMILY})")
        for index in range(count):
            variable = self.variable_of(f"{first.name}{index}", first.loc, (), spec, first.space)
            variable.linkage, variable.in_function = first.linkage, first.in_function
            self.enter_variable(scope, variable)

    def enter_variable(self, scope: Scope, variable: Variable) -> None:
        """Give a variable to the builder and the scope; a second external declaration is the same variable."""
        known = scope.names.get(variable.name)
        if known is not None and known.kind == SYMBOL and "extern" in (known.info.linkage, variable.linkage):
            if not same_shape(known.info, variable):
                raise again(variable.loc, f"'{variable.name}' was declared before with another type", known.info.loc)
            if known.info.linkage == "extern" and not variable.linkage:
                what = f"'{variable.name}' was declared '.extern': its definition needs '.visible' or '.weak'"
                raise again(variable.loc, what, known.info.loc)
            if variable.linkage == "extern" or known.info.linkage != "extern" or known.type != name_class(variable):
                return  # a definition in another state space than that of the external variable counts for nothing
            self.state.builder.define_variable(known.handle, variable)
            known.info = variable
            return
        scope.check_free(variable.name, variable.loc)
        handle = self.state.builder.variable(variable)
        scope.declare(variable.name, Entity(SYMBOL, handle, name_class(variable), 1, variable), variable.loc)

    def registers(self, lexer: Lexer, scope: Scope) -> None:
        """``.reg .b32 %r<100>, x, y;`` from behind ``.reg`` on."""
        spec = self.type_spec(lexer, TypeSpec())
        at = lexer.at
        if not TYPES[spec.type][2]:
            raise PtxError(at, f"a register cannot be of type .{spec.type}")
        if lexer.take(";"):
            return
        while True:
            at = lexer.at
            name = lexer.name("a register name")
            if lexer.take("<"):
                count_at = lexer.at
                count = lexer.integer("a number of registers")
                if count > MAX_REGISTERS:
                    raise PtxError(count_at, f"{count} registers are too many (at most {MAX_REGISTERS})")
                lexer.expect(">")
                first = self.state.builder.registers(spec.type, count * spec.vector, name)
                if spec.vector > 1:
                    self.vector_registers(scope, name, first, count, spec, at)
                else:
                    scope.declare_range(name, first, count, spec.type, at)
            else:
                first = self.state.builder.registers(spec.type, spec.vector, name)
                scope.declare(name, Entity(REGISTER, first, spec.type, spec.vector), at)
            if not lexer.take(","):
                break
        lexer.expect(";")

    def vector_registers(self, scope: Scope, prefix: str, first: int, count: int, spec: TypeSpec, at: int) -> None:
        """``.reg .v2 .u32 v<4>;``: each is a name of its own, as there are never many."""
        if count > MAX_FAMILY:
            raise PtxError(at, f"{count} vector registers are too many (at most {MAX_FAMILY})")
        for index in range(count):
            entity = Entity(REGISTER, first + index * spec.vector, spec.type, spec.vector)
            scope.declare(f"{prefix}{index}", entity, at)

    def plain_registers(self, scope: Scope, type_: str, name: str, count: int, at: int) -> bool:
        """``.reg .b32 %r<100>;``, or with a count of -1 ``.reg .b32 x;``; False when it needs a closer look.

        Raises:
            PtxError: a mistake, of which nothing was done.
        """
        row = TYPES.get(type_)
        if row is None or not row[2] or row[3] or name in NO_NAMES:
            return False
        if count < 0:
            scope.check_free(name, at)
            scope.declare(name, Entity(REGISTER, self.state.builder.registers(type_, 1, name), type_), at)
            return True
        if name[0] != "%" or name[-1] in DIGITS or name in scope.ranges or name in scope.prefixes or count > MAX_REGISTERS:
            return False
        first = self.state.builder.registers(type_, count, name)
        scope.declare_range(name, first, count, type_, at)
        return True

    def plain_variable(self, scope: Scope, spec: TypeSpec, space: str, name: str, dims: tuple[int, ...], at: int) -> bool:
        """``.param .align 4 .b8 x[16];`` in a body read by the statement scanner; False when it needs a closer look.

        Raises:
            PtxError: a mistake, of which nothing was done.
        """
        if name in NO_NAMES or spec.type not in TYPES or 0 in dims:
            return False
        if spec.align:
            check_alignment(spec.align, at)
        self.check_type(spec, at)
        variable = self.variable_of(name, at, dims, spec, space)
        variable.in_function = True
        check_opaque(self.state, variable)
        self.check_parameter(variable)
        self.enter_variable(scope, variable)
        return True


def check_alignment(value: int, at: int) -> None:
    """An alignment is a power of two and not too large.

    Raises:
        PtxError: it is not.
    """
    if value == 0 or value & (value - 1):
        raise PtxError(at, f"alignment {value} is no power of two")
    if value > MAX_ALIGNMENT:
        raise PtxError(at, f"alignment {value} is too large")


def name_class(variable: Variable) -> str:
    """What a variable's name stands for in operands: an address in its state space, or an opaque object of its type."""
    return variable.type if TYPES[variable.type][0] == "opaque" else variable.space


def same_shape(earlier: Variable, later: Variable) -> bool:
    """Type and dimensions agree, where a first dimension left open agrees with any."""
    if (earlier.type, earlier.vector, len(earlier.dims)) != (later.type, later.vector, len(later.dims)):
        return False
    return all(a == b or (index == 0 and 0 in (a, b)) for index, (a, b) in enumerate(zip(earlier.dims, later.dims, strict=True)))
