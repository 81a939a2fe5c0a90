"""Opaque variables (textures, samplers, surfaces), their initialisers, and pragma strings: spec/ptx/declarations.yaml."""

from __future__ import annotations

import re

from oric_tables.ptx_index import FIELD_VALUES, OPAQUE, PRAGMAS
from oric_tables.registers import FIRST_ARGUMENT, RESERVED_BY_ABI

from .builder import Variable
from .constants import expression
from .lexer import IDENT, Lexer, PtxError, integer_value
from .state import State

_KERNEL = "kernel"  # as a place: the body of an entry
_REGISTERS = re.compile(r"\w+ +(?:(\d{1,9})(?: *, *(\d{1,9}))?|(\d{1,9}) *- *(\d{1,9}))", re.ASCII)


def check_opaque(state: State, variable: Variable, entry: bool = False) -> None:
    """Where an opaque variable may stand; ``entry``: it is a parameter of one.

    Raises:
        PtxError: not there, not in this version or texture mode.
    """
    row = OPAQUE.get(variable.type)
    if row is None:
        return
    _, texmode, ptx = row
    at = variable.loc
    state.gate(f"type .{variable.type}", ptx, 0, (), at)
    if texmode and state.texmode != texmode and not variable.dims:
        raise PtxError(at, f"type .{variable.type} needs '.target texmode_{texmode}'")
    if variable.in_function and not (entry and variable.space == "param"):
        raise PtxError(at, f"'{variable.name}' of type .{variable.type} must stand at module level or be a parameter of an entry")
    if not variable.in_function and variable.space != "global":
        raise PtxError(at, f"'{variable.name}' of type .{variable.type} must be in .global, not in .{variable.space}")
    if variable.vector > 1:
        raise PtxError(at, f"there are no vectors of type .{variable.type}")
    if variable.linkage == "common":
        raise PtxError(at, f"'{variable.name}' of type .{variable.type} cannot be '.common'")


def read_fields(lexer: Lexer, variable: Variable) -> None:
    """``{ width = 3, filter_mode = nearest }`` from the brace on, or a list of them for an array: fills ``variable.fields``.

    Raises:
        PtxError: no such field or value, syntax.
    """
    if not variable.dims:
        variable.fields = (_fields(lexer, variable),)
        return
    rows = []
    lexer.expect("{")
    if lexer.kind == IDENT or lexer.is_punct("}"):
        rows.append(_pairs(lexer, variable))
    else:
        while not rows or lexer.take(","):
            rows.append(_fields(lexer, variable))
        lexer.expect("}")
    if variable.dims[0] == 0:
        variable.dims = (len(rows), *variable.dims[1:])
        variable.size = len(rows) * 8
    variable.fields = tuple(rows)


def _fields(lexer: Lexer, variable: Variable) -> tuple[tuple[str, str | int], ...]:
    lexer.expect("{")
    return _pairs(lexer, variable)


def _pairs(lexer: Lexer, variable: Variable) -> tuple[tuple[str, str | int], ...]:
    """``name = value, ... }``."""
    found: list[tuple[str, str | int]] = []
    if lexer.take("}"):
        return ()
    while not found or lexer.take(","):
        at, name = lexer.at, lexer.identifier("a field")
        if name not in OPAQUE[variable.type][0]:
            raise PtxError(at, f"type .{variable.type} has no field '{name}'")
        lexer.expect("=")
        found.append((name, _value(lexer, name)))
    lexer.expect("}")
    return tuple(found)


def _value(lexer: Lexer, field: str) -> str | int:
    if lexer.kind == IDENT and lexer.value != "WARP_SZ":
        at, word = lexer.at, lexer.value
        if word not in FIELD_VALUES:
            raise PtxError(at, f"field '{field}' cannot be '{word}'")
        lexer.advance()
        return word
    constant = expression(lexer)
    return constant.value


def check_pragma(state: State, text: str, place: str, at: int) -> None:
    """A pragma string at a place; unknown ones are told of.

    ``place``: "module", "entry" (behind its header), "body" (of a function) or "kernel" (the body of an entry).

    Raises:
        PtxError: it cannot stand there, its argument is wrong, or it is unknown in a module.
    """
    word, _, argument = text.partition(" ")
    row = PRAGMAS.get(word)
    if row is None or (argument and not (row[1] or row[2]) and "module" in row[0]):
        if place == "module":
            raise PtxError(at, f"pragma '{text}' is not known")
        state.diag.warning(f"pragma '{text}' is not known: it is ignored", at)
        return
    places, integer, registers, ptx, sm = row
    state.gate(f"pragma '{word}'", ptx, sm, (), at)
    if place == "body" and _KERNEL in places:
        raise PtxError(at, f"Pragma '{text}' cannot be specified for device functions")
    if place not in places and not (place == _KERNEL and "body" in places):
        raise PtxError(at, f"pragma '{word}' stands in function bodies only")
    if integer and not argument.strip():
        raise PtxError(at, f"pragma '{word}' needs an integer")
    if integer and not _is_integer(argument.strip(), at):
        raise PtxError(at, f"pragma '{word}' needs an integer, found '{argument.strip()}'")
    if registers:
        _check_registers(text, at)


def names_registers(text: str) -> bool:
    """Whether a pragma says where the parameters of a function are."""
    row = PRAGMAS.get(text.partition(" ")[0])
    return row is not None and row[2]


def _check_registers(text: str, at: int) -> None:
    """Registers for parameters that a pragma names: how many and the first one, or the first and the last one.

    Raises:
        PtxError: no such numbers; one of the registers is reserved (ptxas's words, observed).
    """
    found = _REGISTERS.fullmatch(text.strip())
    if found is None:
        raise PtxError(at, f"pragma '{text}' needs a number of registers")
    if int(found[2] or found[3] or FIRST_ARGUMENT) < FIRST_ARGUMENT:
        raise PtxError(at, RESERVED_BY_ABI % "parameter passing")


def _is_integer(text: str, at: int) -> bool:
    """An integer literal without a sign."""
    try:
        return integer_value(text, at) is not None
    except PtxError:
        return False
