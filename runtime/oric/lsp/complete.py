"""What may be written at a place: mnemonics and their qualifiers, directives, types, and the names in scope."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from oric_tables import ptx_help
from oric_tables import ptx_index as ix

from oric.ptx.lexer import STRING

from . import outline as ol
from .document import Document
from .mnemonics import following, type_doc

MNEMONIC: Final = "mnemonic"
QUALIFIER: Final = "qualifier"
DIRECTIVE: Final = "directive"
TYPE: Final = "type"
SPECIAL: Final = "special register"
TARGET: Final = "target"

_WORD: Final = re.compile(r"[\w$%.:]*\Z")
_GUARD: Final = re.compile(r"@\s*!?\s*(?:[\w$%]+\s+)?\Z")
_MOST_REGISTERS: Final = 64  # of a range; the others come up when their number is begun
_BEFORE_STATEMENT: Final = frozenset({"", ";", "{", "}", ":"})
_LABELS_FIRST: Final = frozenset({"bra", "brx"})


class Item(NamedTuple):
    """A proposal: ``text`` replaces the word from ``Completion.at`` on; ``rank``: the lower the earlier it is shown."""

    text: str
    kind: str
    doc: str = ""
    rank: int = 5


class Completion(NamedTuple):
    """The proposals, and the part of the text that they replace."""

    at: int
    after: int
    items: list[Item]


def complete(document: Document, offset: int) -> Completion:
    """What may be written at a place."""
    line = document.places.line_of(offset)
    start = document.places.starts[line]
    found = _WORD.search(document.text, start, offset)
    word = found[0] if found is not None else ""
    begin = offset - len(word)
    if _in_comment(document, begin):
        return Completion(offset, offset, [])
    before = _before(document, begin)
    if word.startswith("."):
        return _made(begin, offset, word, _dotted(document, begin, before))
    guard = _GUARD.search(document.text, start, begin)
    if guard is not None and not guard[0][1:].strip(" \t!"):
        return _made(begin, offset, word, _names(document, begin, word, predicates=True))
    if guard is not None or _begins(document, begin, before):
        head, dot, _ = word.rpartition(".")
        if dot:
            return _made(begin + len(head) + 1, offset, word[len(head) + 1 :], _qualifiers(document, head))
        return _made(begin, offset, word, _mnemonics())
    return _made(begin, offset, word, _operands(document, begin, word, before))


def _made(at: int, after: int, word: str, items: Iterator[Item]) -> Completion:
    """The proposals that go on from the word."""
    low = word.lower()
    return Completion(at, after, list({item.text: item for item in items if item.text.lower().startswith(low)}.values()))


def _in_comment(document: Document, offset: int) -> bool:
    """A place is in a comment or string."""
    tokens = document.outline.tokens
    index = _index_before(document, offset)
    end = tokens[index].after if index >= 0 else 0
    if index >= 0 and tokens[index].kind == STRING and offset < tokens[index].after:
        return True
    between = document.text[min(end, offset) : offset]
    line = between.rpartition("\n")[2]
    if "//" in line or line.count('"') % 2:
        return True
    return between.rfind("/*") > between.rfind("*/")


def _index_before(document: Document, offset: int) -> int:
    """Number of the last token that begins in front of a place."""
    tokens = document.outline.tokens
    low, high = 0, len(tokens)
    while low < high:
        middle = (low + high) // 2
        if tokens[middle].at < offset:
            low = middle + 1
        else:
            high = middle
    return low - 1


def _before(document: Document, offset: int) -> str:
    """The token in front of a place, "" for none."""
    index = _index_before(document, offset)
    return document.outline.tokens[index].text if index >= 0 else ""


def _begins(document: Document, offset: int, before: str) -> bool:
    """A statement begins at a place: the one in front of it has ended, or its line has."""
    statement = document.outline.statement_at(offset - 1) if offset else None
    if before in _BEFORE_STATEMENT:
        inside = statement is not None and document.outline.tokens[statement.last].at >= offset
        return before != "{" or not inside or statement is None or statement.kind != ol.INSTRUCTION
    index = _index_before(document, offset)
    ended = "\n" in document.text[document.outline.tokens[index].after : offset]
    return ended and before not in (",", "(", "[", "=", "|")


def _dotted(document: Document, offset: int, before: str) -> Iterator[Item]:
    """Words behind a dot where no mnemonic stands in front of it."""
    scope = document.outline.scope_at(offset)
    if not _begins(document, offset, before):
        yield from (Item(f".{name}", TYPE, type_doc(name)) for name, row in ix.TYPES.items() if row[2] or row[0] == "opaque")
        yield from (Item(f".v{count}", TYPE, "vector") for count in (2, 4))
    kinds = ptx_help.KINDS
    for word, doc in ptx_help.DIRECTIVES.items():
        if word in kinds or word in ix.SPACES or scope is document.outline.module:
            yield Item(f".{word}", DIRECTIVE, doc, 4 if word in ix.SPACES else 6)


def _qualifiers(document: Document, mnemonic: str) -> Iterator[Item]:
    for row in following(mnemonic, document.module):
        yield Item(row.word, TYPE if row.word in ix.TYPES else QUALIFIER, row.doc, 1 if row.required else 2)


def _mnemonics() -> Iterator[Item]:
    for head, rows in ix.HEADS.items():
        names = [".".join((head, *rest)) for rest, _ in rows]
        doc = ptx_help.INSTRUCTIONS[names[-1]] if len(names) == 1 or names[-1] == head else ", ".join(sorted(names))
        yield Item(head, MNEMONIC, doc)


def _operands(document: Document, offset: int, word: str, before: str) -> Iterator[Item]:
    """Names of what an operand can be, or a target where one stands."""
    statement = document.outline.statement_at(offset - 1) if offset else None
    first = document.outline.tokens[statement.first].text if statement is not None else ""
    if first == ".target":
        words = sorted([*ix.TARGETS, *ix.TARGET_OPTIONS])
        yield from (Item(name, TARGET) for name in words)
        return
    if first == ".version":
        yield from (Item(f"{major}.{minor}", TARGET) for major, minor in sorted(ix.VERSIONS, reverse=True))
        return
    mnemonic = statement.mnemonic if statement is not None else ""
    yield from _names(document, offset, word, mnemonic)
    if statement is not None and statement.kind == ol.INSTRUCTION:
        for name, row in ix.SPECIAL.items():
            yield Item(f"%{name}", SPECIAL, ptx_help.SPECIAL[name], 7 if row[1] == 1 else 8)


def _names(document: Document, offset: int, word: str, mnemonic: str = "", predicates: bool = False) -> Iterator[Item]:
    """The names in scope, those first that fit the types of the mnemonic."""
    sizes = {ix.TYPES[part][1] for part in mnemonic.split(".")[1:] if part in ix.TYPES}
    labels_first = mnemonic.partition(".")[0] in _LABELS_FIRST
    scope: ol.Scope | None = document.outline.scope_at(offset)
    while scope is not None:
        for definition in scope.names.values():
            if predicates and definition.type != ".pred":
                continue
            rank = 1 if definition.kind == ol.LABEL and labels_first else _rank(definition, sizes)
            yield Item(definition.name, definition.kind, definition.text, rank)
        for definition in scope.ranges.values():
            if not predicates or definition.type == ".pred":
                rank = 0 if predicates else _rank(definition, sizes)
                numbers = _numbers(definition, word)
                yield from (Item(f"{definition.name}{n}", definition.kind, definition.text, rank) for n in numbers)
        scope = scope.parent


def _numbers(definition: ol.Definition, word: str) -> Iterator[int]:
    """The registers of a range that are proposed: the first ones, and those whose number goes on from what is written."""
    yield from range(min(definition.count, _MOST_REGISTERS))
    begun = word.removeprefix(definition.name)
    if word.startswith(definition.name) and begun.isdecimal() and len(begun) < 9:
        number = int(begun)
        for first, count in ((number, 1), (number * 10, 10)):
            yield from range(max(first, _MOST_REGISTERS), min(first + count, definition.count))


def _rank(definition: ol.Definition, sizes: set[int]) -> int:
    """Registers of a type that the instruction has stand first, then the other names."""
    if definition.kind != ol.REGISTER:
        return 4
    size = ix.TYPES[definition.type[1:]][1] if definition.type[1:] in ix.TYPES else 0
    return 2 if size in sizes else 3
