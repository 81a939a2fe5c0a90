"""The call instruction: its own operand grammar, and the check of arguments against the callee's parameters."""

from __future__ import annotations

from oric_tables.ptx_index import TYPES

from . import builder as b
from . import classes as cl
from .builder import Function, Operand, Variable
from .lexer import IDENT, Lexer, PtxError
from .operands import OperandReader
from .scopes import FUNCTION, REGISTER, TABLE_NAME, Entity

Argument = tuple[Operand, int, int]  # node, class, place


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
    target = reader.single(lexer, 0)[0]
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
    callee = callee_of(entity, table, name, target_at, table_at)
    check_arguments("result", results, callee.returns, callee.name, at)
    check_arguments("argument", passed, callee.params, callee.name, target_at)
    operands: list[Operand] = [(b.ARGS, tuple(n for n, _, _ in results)), target, (b.ARGS, tuple(n for n, _, _ in passed))]
    if table is not None:
        operands.append((b.TABLE, table.handle))
    return operands


def arguments(lexer: Lexer, reader: OperandReader) -> list[Argument]:
    """``(a, b, ...)``."""
    lexer.expect("(")
    found: list[Argument] = []
    if lexer.take(")"):
        return found
    while True:
        at = lexer.at
        node, class_ = reader.read(lexer)
        if node[0] == b.LABEL:
            raise PtxError(at, f"'{lexer.text[at : at + 40].split(',')[0].split(')')[0]}' is not declared")
        found.append((node, class_, at))
        if not lexer.take(","):
            break
    lexer.expect(")")
    return found


def table_entity(lexer: Lexer, reader: OperandReader) -> Entity:
    """The label of a prototype or of call targets."""
    at = lexer.at
    name = lexer.identifier("the label of a .callprototype or .calltargets")
    entity = reader.scope.lookup(name)
    if entity is None or entity.kind != TABLE_NAME or entity.type == "branch":
        raise PtxError(at, f"'{name}' is no label of a .callprototype or .calltargets")
    return entity


def callee_of(entity: Entity, table: Entity | None, name: str, at: int, table_at: int) -> Function:
    """The function or prototype that a call is checked against."""
    if entity.kind == FUNCTION:
        function: Function = entity.info
        if function.is_entry:
            raise PtxError(at, f"'{name}' is an entry: it cannot be called")
        return function
    if entity.kind != REGISTER or entity.vector != 1 or TYPES[entity.type][0] not in ("bits", "int"):
        raise PtxError(at, f"'{name}' is neither a function nor a register with the address of one")
    if table is None:
        raise PtxError(table_at, "an indirect call needs the label of a .callprototype or .calltargets")
    function = table.info
    return function


def check_arguments(what: str, given: list[Argument], formal: tuple[Variable, ...], name: str, at: int) -> None:
    """Number, type and size of results or arguments."""
    if len(given) != len(formal):
        wanted = f"{len(formal)} {what}{'s' * (len(formal) != 1)}"
        raise PtxError(at, f"'{name}' has {wanted}, but {len(given)} {'is' if len(given) == 1 else 'are'} given")
    for (_, class_, place), variable in zip(given, formal, strict=True):
        descriptor = cl.DESCRIPTORS[class_]
        tag = descriptor[0]
        if tag == cl.C_REG:
            good = not variable.dims and TYPES[descriptor[1]][1] == TYPES[variable.type][1]
        elif tag == cl.C_SYM:
            good = what == "result" or descriptor[1] in ("param", "func", "global", "const", "shared", "local")
        elif tag == cl.C_SINK:
            good = what == "result"
        else:
            good = what == "argument" and tag in (cl.C_INT, cl.C_SINGLE, cl.C_DOUBLE, cl.C_VEC)
        if not good:
            raise PtxError(place, f"{what} for '{variable.name}' of '{name}' does not have type .{variable.type}")
