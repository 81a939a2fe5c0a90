"""Pieces of Ori text: lines, words, numbers, modifiers. Every mistake in one is a :class:`Broken` with its place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from oric_tables import ops

from . import operand as opd
from .text import TYPES

END: Final = "---"  # begins the line at which a text ends
MOST_WORDS: Final = 256  # of a register
NUMBER: Final = re.compile(r"-?(?:0x[0-9a-fA-F]{1,16}|\d{1,20})\Z")
BLOCK: Final = re.compile(r"bix(\d{1,9})\Z")
_SIZES: Final = 3  # numbers of a fact that is a size of a block
_WORD: Final = re.compile(r"[^ \t]+")


class Line(NamedTuple):
    """A line without its comment and blanks, and its place in the text."""

    at: int
    number: int
    text: str


class Broken(Exception):
    """A mistake at an offset of the text."""

    def __init__(self, at: int, message: str, *notes: str) -> None:
        super().__init__(message)
        self.at = at
        self.notes = notes


def lines(text: str) -> Iterator[Line]:
    """The lines that are not empty, up to one that begins with three dashes."""
    at = 0
    for number, raw in enumerate(text.split("\n"), 1):
        if raw.startswith(END):
            return
        shown = raw.partition("//")[0].rstrip()
        bare = shown.lstrip()
        if bare:
            yield Line(at + len(shown) - len(bare), number, bare)
        at += len(raw) + 1


def words(text: str, at: int) -> Iterator[tuple[int, str]]:
    """The words of a text, each with its place."""
    for found in _WORD.finditer(text):
        yield at + found.start(), found[0]


def number(text: str, at: int) -> int:
    """A number of 64 bits."""
    if not NUMBER.match(text) or not -(1 << 63) <= int(text, 0) < 1 << 63:
        raise Broken(at, f"expected a number, found '{text[:40]}'")
    return int(text, 0)


def check_number(at: int, index: int) -> None:
    """See that a register can have a number."""
    if not 0 <= index <= opd.INDEX or index in (opd.PT, opd.RZ):
        raise Broken(at, f"no register can have the number {index}")


def accessed(at: int, first: str | None, count: str | None, text: str) -> tuple[int, int]:
    """First word and number of words that a register operand accesses."""
    begin, words = int(first or 0), int(count or 1)
    if not words or begin + words > MOST_WORDS:
        raise Broken(at, f"expected 1 to {MOST_WORDS} words of a register, found {text}")
    return begin, words


def fact(usual: object, text: str, at: int) -> object:
    """The value of a fact, of the sort that ``usual`` is of."""
    if isinstance(usual, str):
        return text
    if usual is None:
        sizes = tuple(number(part, at) for part in text.split(","))
        if len(sizes) != _SIZES:
            raise Broken(at, f"expected {_SIZES} numbers, found '{text[:40]}'")
        return sizes
    value = number(text, at)
    if isinstance(usual, bool):
        if value not in (0, 1):
            raise Broken(at, f"expected 0 or 1, found '{text[:40]}'")
        return value == 1
    return value


def notes(text: str, separator: str, names: tuple[str, ...], at: int) -> dict[str, int]:
    """``name=number`` pairs; the value of ``type`` is the name of a register type."""
    out: dict[str, int] = {}
    for part in text.split(separator) if text else ():
        name, _, value = part.strip().partition("=")
        if name not in names or name in out:
            raise Broken(at, f"expected {' or '.join(f'{n}=...' for n in names)}, each once, found '{part.strip()[:40]}'")
        if name == "type" and value not in TYPES:
            raise Broken(at, f"expected a type of registers ({', '.join(TYPES)}), found '{value[:40]}'")
        out[name] = TYPES[value] if name == "type" else number(value, at)
        at += len(part) + 1
    return out


def successors(text: str, at: int) -> Iterator[tuple[int, int]]:
    """Place and number of every block behind ``->``."""
    if text.strip() == "-":
        return
    if not text.strip():
        raise Broken(at, "expected bixN or '-' behind '->'")
    for place, word in words(text, at):
        match = BLOCK.match(word)
        if match is None:
            raise Broken(place, f"expected bixN, found '{word[:40]}'")
        yield place, int(match[1])


def modifiers(op: ops.Op, text: str, at: int) -> int:
    """The packed values of modifiers."""
    out = 0
    seen = set()
    for place, word in words(text, at):
        name, equals, value = word.partition("=")
        mod = op.mods.get(name)
        if name in seen:
            raise Broken(place, f"{name} is given twice")
        seen.add(name)
        if name == "?":
            out |= number(value, place)
            continue
        if mod is None:
            raise Broken(place, f"expected a modifier of {op.name}, found '{name[:40]}'", *nearest(name, op.mods))
        out |= _code(mod, value if equals else "true", place) << mod.shift
    return out


def _code(mod: ops.Mod, value: str, at: int) -> int:
    """The code of a modifier's value: its name, its number where values have no names, ``#N`` for a code without one."""
    if value in mod.values:
        return mod.values[value]
    plain = value.removeprefix("#") if mod.values else value
    if (plain == value and mod.values) or not NUMBER.match(plain):
        wanted = f"one of {', '.join(mod.values)}" if mod.values else "a number"
        raise Broken(at, f"expected {wanted} for {mod.name}, found '{value[:40]}'")
    code = int(plain, 0)
    if not 0 <= code <= mod.mask:
        raise Broken(at, f"expected a number of {mod.width} bits for {mod.name}, found {value[:40]}")
    return code


def nearest(word: str, known: Iterable[str]) -> tuple[str, ...]:
    """A note with the known word that is most like one, if any is."""
    from difflib import get_close_matches

    close = get_close_matches(word, known, 1, 0.6)
    return (f"did you mean '{close[0]}'?",) if close else ()
