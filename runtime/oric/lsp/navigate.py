"""Where names are declared and used, what a document holds, and new names."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from oric.ptx.lexer import NO_NAMES

from . import outline as ol
from .document import Document

_NAME: Final = re.compile(r"[A-Za-z][\w$]*|[_$%][\w$]+", re.ASCII)


class RenameError(Exception):
    """A name that cannot be given; the text says why."""


class Symbol(NamedTuple):
    """A function, variable or label with what is inside of it; ``begin``, ``end``: all of it, ``at``, ``after``: its name."""

    definition: ol.Definition
    begin: int
    end: int
    inner: list[Symbol]


def definition_at(document: Document, offset: int) -> ol.Definition | None:
    """The declaration of the name at a place."""
    occurrence = document.outline.occurrence_at(offset)
    return occurrence.definition() if occurrence is not None else None


def references_at(document: Document, offset: int, declaration: bool = True) -> list[ol.Occurrence]:
    """All places of the name at a place, in the order of the text; ``declaration``: with that one."""
    occurrence = document.outline.occurrence_at(offset)
    definition = occurrence.definition() if occurrence is not None else None
    if occurrence is None or definition is None:
        return []
    found = document.outline.references(definition, occurrence.name)
    return [o for o in found if declaration or o.at != definition.at]


def symbols(document: Document) -> list[Symbol]:
    """What a document declares: functions with what is inside of them, and variables."""
    functions = {id(d): Symbol(d, d.begin, d.end, []) for d in document.outline.definitions if d.kind in (ol.FUNCTION, ol.ENTRY)}
    out = list(functions.values())
    for definition in document.outline.definitions:
        if id(definition) not in functions:
            owner = functions.get(id(definition.owner))
            (owner.inner if owner is not None else out).append(Symbol(definition, definition.at, definition.after, []))
    return sorted(out, key=lambda symbol: symbol.begin)


def renamed(document: Document, offset: int, name: str) -> list[tuple[ol.Occurrence, str]]:
    """The places of the name at a place and what is written there instead.

    Raises:
        RenameError: there is no name that can be changed, or the new one is none, or taken.
    """
    occurrence = document.outline.occurrence_at(offset)
    definition = occurrence.definition() if occurrence is not None else None
    if occurrence is None or definition is None:
        raise RenameError("there is no name that is declared in this file")
    if definition.count >= 0 and occurrence.name != definition.name:
        shown = f"{definition.name}<{definition.count}>"
        raise RenameError(f"'{occurrence.name}' is one of '{shown}': rename that where it is declared")
    if not _NAME.fullmatch(name) or name in NO_NAMES:
        raise RenameError(f"'{name[:60]}' is no name")
    places = document.outline.references(definition, occurrence.name)
    if definition.count >= 0 and name[-1].isdigit():
        raise RenameError(f"'{name}<{definition.count}>': the name of a range ends with no digit")
    old = definition.name
    changes = [(place, name + place.name[len(old) :]) for place in places]
    for place, new in changes:
        if new != place.name and (taken := place.scope.resolve(new)) is not None and taken is not definition:
            raise RenameError(f"'{new}' is declared already, in line {document.line_of(taken.at)}")
    return changes
