"""The call instruction: its own operand grammar, and the check of arguments against the callee's parameters."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64
from oric_tables.ptx_index import TYPES

from . import builder as b
from . import classes as cl
from .builder import Function, Operand, Variable
from .lexer import IDENT, Lexer, PtxError
from .operands import OperandReader
from .scopes import FUNCTION, LABEL_NAME, REGISTER, SYMBOL, TABLE_NAME, Entity
from .statements import DETAILS

NARROW: Final = ("int", "pred")  # values of these kinds are passed ...
LEAST_BITS: Final = 32  # ... from this size on
Argument = tuple[Operand, int, int, Entity | None]  # node, class, place, what a name stands for


def read_call(lexer: Lexer, reader: OperandReader) -> list[Operand]:
    """The operands of ``call (ret), target, (args), table``: always results, target, arguments, and the table if given.

    Raises:
        PtxError: syntax error, unknown target, arguments that do not fit the callee.
    """
    results: list[Argument] = []
    at = lexer.at
    if lexer.is_punct("("):
        results = arguments(lexer, reader)
        lexer.expect(",")
    target_at = lexer.at
    name = lexer.value
    if lexer.kind != IDENT:
        raise lexer.expected("a function name or register")
    entity = reader.scope.lookup(name)
    if entity is None:
        raise PtxError(target_at, f"function '{name}' is not declared")
    target = reader.single(lexer, 1)[0]
    passed: list[Argument] = []
    table: Entity | None = None
    table_at = lexer.at
    if lexer.take(","):
        if lexer.is_punct("("):
            passed = arguments(lexer, reader)
            if lexer.take(","):
                table_at, table = lexer.at, table_entity(lexer, reader)
        else:
            table_at, table = lexer.at, table_entity(lexer, reader)
    for callee in callees_of(entity, table, name, target_at, table_at):
        check_arguments("result", results, callee.returns, callee.name, at)
        check_arguments("argument", passed, callee.params, callee.name, target_at)
        check_sizes("argument", passed, callee.params, callee.name)
        check_sizes("result", results, callee.returns, callee.name)
    operands: list[Operand] = [(b.ARGS, tuple(a[0] for a in results)), target, (b.ARGS, tuple(a[0] for a in passed))]
    if table is not None:
        operands.append((b.TABLE, table.handle))
    return operands


def named_call(reader: OperandReader, cursor: i64) -> list[Operand] | None:
    """The operands of a call of a function with names as results and arguments; None when it needs a closer look.

    ``cursor``: where the call stands in the window of statements.

    Raises:
        PtxError: arguments that do not fit the callee.
    """
    statements = reader.statements
    stream = statements.stream
    entity = reader.scope.lookup(statements.text(stream[cursor + DETAILS + 1]))
    if entity is None or entity.kind != FUNCTION or entity.info.is_entry:
        return None
    first = cursor + DETAILS + 3
    middle = first + stream[cursor + DETAILS + 2]
    found = named_arguments(reader, first, middle)
    given = named_arguments(reader, middle, cursor + (stream[cursor] >> 8))
    if found is None or given is None:
        return None
    callee: Function = entity.info
    check_arguments("result", found, callee.returns, callee.name, 0)
    check_arguments("argument", given, callee.params, callee.name, 0)
    check_sizes("argument", given, callee.params, callee.name)
    check_sizes("result", found, callee.returns, callee.name)
    return [(b.ARGS, tuple([a[0] for a in found])), (b.SYM, entity.handle, 0), (b.ARGS, tuple([a[0] for a in given]))]


def named_arguments(reader: OperandReader, begin: i64, end: i64) -> list[Argument] | None:
    """Names as arguments without places; None when nothing declares one of them. Their rows stand from ``begin`` on."""
    statements = reader.statements
    found: list[Argument] = []
    for index in range(begin, end):
        row = statements.stream[index]
        entity = reader.scope.lookup(statements.text(row))
        class_ = reader.class_of(row) if entity is not None else -1
        if class_ < 0:
            return None
        found.append((statements.nodes[row], class_, 0, entity))
    return found


def arguments(lexer: Lexer, reader: OperandReader) -> list[Argument]:
    """``(a, b, ...)``."""
    lexer.expect("(")
    found: list[Argument] = []
    if lexer.take(")"):
        return found
    while True:
        at = lexer.at
        if lexer.is_punct("{"):
            raise lexer.expected("a name or constant")
        entity = reader.scope.lookup(lexer.value) if lexer.kind == IDENT else None
        node, class_ = reader.read(lexer, 1)
        if node[0] == b.LABEL:
            raise PtxError(at, f"'{lexer.text[at : at + 40].split(',')[0].split(')')[0]}' is not declared")
        found.append((node, class_, at, entity))
        if not lexer.take(","):
            break
    lexer.expect(")")
    return found


def table_entity(lexer: Lexer, reader: OperandReader) -> Entity:
    """The label of a prototype or of call targets, or a variable whose initial values are addresses of functions."""
    at = lexer.at
    name = lexer.identifier("the label of a .callprototype or .calltargets")
    entity = reader.scope.lookup(name)
    if entity is not None and entity.kind == SYMBOL:
        functions = functions_in(entity.info, reader)
        if functions:
            handle = reader.state.builder.call_targets(name, [f.handle for f in functions], at)
            return Entity(TABLE_NAME, handle, "call", 1, [f.info for f in functions])
    if entity is None or entity.kind != TABLE_NAME or entity.type == "branch":
        raise PtxError(at, f"'{name}' is no label of a .callprototype or .calltargets")
    return entity


def functions_in(variable: Variable, reader: OperandReader) -> list[Entity]:
    """The functions whose addresses a variable in .global or .const begins with, each once; none if others are among them."""
    scope = reader.scope
    while scope.parent is not None:
        scope = scope.parent
    known = {entity.handle: entity for entity in scope.names.values() if entity.kind == FUNCTION and not entity.info.is_entry}
    handles = dict.fromkeys(item.symbol for item in variable.relocs)
    return [known[handle] for handle in handles] if handles.keys() <= known.keys() else []


def callees_of(entity: Entity, table: Entity | None, name: str, at: int, table_at: int) -> list[Function]:
    """The functions or the prototype that a call is checked against."""
    if entity.kind == FUNCTION:
        function: Function = entity.info
        if function.is_entry:
            raise PtxError(at, f"'{name}' is an entry: it cannot be called")
        if table is not None:
            raise PtxError(table_at, f"'{name}' is a function: a table is for calls through a register")
        return [function]
    if entity.kind == LABEL_NAME:
        raise PtxError(at, f"'{name}' is a label here, no function")
    if entity.kind != REGISTER or entity.vector != 1 or TYPES[entity.type][0] not in ("bits", "int"):
        raise PtxError(at, f"'{name}' is neither a function nor a register with the address of one")
    if table is None:
        raise PtxError(table_at, "an indirect call needs the label of a .callprototype or .calltargets")
    functions: list[Function] = table.info
    return functions


def check_arguments(what: str, given: list[Argument], formal: tuple[Variable, ...], name: str, at: int) -> None:
    """Number, type, size and alignment of results or arguments; an open array at the end may be left out."""
    least = len(formal) - bool(formal and is_open(formal[-1]))
    if not least <= len(given) <= len(formal):
        wanted = f"{len(formal)} {what}{'s' * (len(formal) != 1)}"
        raise PtxError(at, f"'{name}' has {wanted}, but {len(given)} {'is' if len(given) == 1 else 'are'} given")
    for argument, variable in zip(given, formal, strict=False):
        check_argument(what, argument, variable, name)


def check_argument(what: str, argument: Argument, variable: Variable, name: str) -> None:
    """One argument against its parameter."""
    _, class_, place, entity = argument
    descriptor = cl.DESCRIPTORS[class_]
    tag = descriptor[0]
    kind = TYPES[variable.type][0]
    if entity is not None and entity.kind == SYMBOL:
        actual: Variable = entity.info
        check_symbol(what, actual, variable, name, place)
        good = True
    elif tag == cl.C_REG:
        good = not variable.dims and fits(descriptor[1], 1, variable)
    elif tag == cl.C_SINK:
        good = what == "result"
    elif tag == cl.C_VEC:
        good = not variable.dims and fits(cl.DESCRIPTORS[descriptor[1]][1], len(descriptor) - 1, variable)
    elif tag == cl.C_SYM:
        good = what == "argument" and kind in ("bits", "int") and not variable.dims and variable.vector == 1
    else:
        literals = ("bits", "float") if tag in (cl.C_SINGLE, cl.C_DOUBLE) else ("bits", "int")
        good = what == "argument" and tag in (cl.C_INT, cl.C_SINGLE, cl.C_DOUBLE) and kind in literals
        good = good and not variable.dims and variable.vector == 1
    if not good:
        raise PtxError(place, f"{what} for '{variable.name}' of '{name}' does not have type {described(variable)}")


def check_sizes(what: str, given: list[Argument], formal: tuple[Variable, ...], name: str) -> None:
    """Predicates and small integers cannot be passed; ptxas says it where all types agree, of the arguments first."""
    for (_, _, place, _), variable in zip(given, formal, strict=False):
        kind, bits, *_ = TYPES[variable.type]
        if kind in NARROW and bits < LEAST_BITS and not variable.dims and variable.vector == 1:
            raise PtxError(
                place, f"{what} for '{variable.name}' of '{name}': predicates and integers of {bits} bits cannot be passed"
            )


def check_symbol(what: str, actual: Variable, variable: Variable, name: str, place: int) -> None:
    """A variable as argument or result: in .param, declared in a body, of the same shape."""
    of = f"{what} for '{variable.name}' of '{name}'"
    if actual.space != "param":
        raise PtxError(place, f"{of}: '{actual.name}' is in .{actual.space}; only variables in .param can be passed")
    if actual.formal:
        raise PtxError(place, f"{of}: '{actual.name}' is a parameter itself; copy it into a variable in .param")
    if is_open(variable):
        good = bool(actual.dims)
    elif variable.dims:
        good = bool(actual.dims) and actual.size == variable.size
    else:
        good = not actual.dims and fits(actual.type, 1, variable)
    if not good:
        raise PtxError(place, f"{of} has type {described(actual)}, not {described(variable)}")
    if actual.align != variable.align:
        raise PtxError(place, f"{of} is aligned to {actual.align} bytes, not to {variable.align}")


def is_open(variable: Variable) -> bool:
    """An array without a size: the end of a list of parameters that goes on as long as the caller likes."""
    return bool(variable.dims) and variable.dims[0] == 0


def fits(type_: str, elements: int, variable: Variable) -> bool:
    """A register of this type, of one or more elements, can be passed for a parameter that is no array.

    Elements of vectors and packed types agree with all of their size. (ptxas 13.0.88 also takes a scalar for a vector of its
    size, but passes half of it.)
    """
    kind, bits, *_ = TYPES[type_]
    other, others, *_ = TYPES[variable.type]
    if elements == variable.vector == 1 and "packed" not in (kind, other):
        return agree(type_, variable.type)
    return bits == others and elements == variable.vector and "pred" not in (kind, other)


def agree(first: str, second: str) -> bool:
    """Types of the same size and kind, or one of them plain bits."""
    (kind, bits, *_), (other, others, *_) = TYPES[first], TYPES[second]
    return bits == others and (kind == other or "bits" in (kind, other))


def described(variable: Variable) -> str:
    """``.b8[16]``."""
    vector = f".v{variable.vector} " if variable.vector > 1 else ""
    return f"{vector}.{variable.type}" + "".join(f"[{d or ''}]" for d in variable.dims)
