"""The PTX side of a rule: ``add[.rnd][.ftz].{f32,f64}``.

A pattern is a family name and slots. ``.word`` is a literal qualifier or, when a set of that name exists, any of its
qualifiers; ``.{u32,s32}`` is one of several; ``[.slot]`` may be left out. ``.name{u32,s32}`` names the slot, so that
``when`` conditions and expansions can ask for it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import SpecError

_SLOT = re.compile(r"(\[)?\.([\w:]*)(?:\{([^}]*)\})?(\])?")


@dataclass(frozen=True)
class Slot:
    """One place for a qualifier; ``name`` is "" for plain literals."""

    name: str
    tokens: tuple[str, ...]
    optional: bool


@dataclass(frozen=True)
class Pattern:
    """A PTX mnemonic with alternatives."""

    family: str
    slots: tuple[Slot, ...]


def parse(text: str, sets: Mapping[str, Mapping[str, str]], path: str, line: int) -> Pattern:
    """Parse a pattern.

    Raises:
        SpecError: broken syntax.
    """
    match = re.match(r"[a-z]\w*", text)
    if not match:
        raise SpecError(path, line, f"{text}: a pattern begins with the name of an instruction")
    slots = []
    at = match.end()
    while at < len(text):
        found = _SLOT.match(text, at)
        if not found or found.end() == at or bool(found[1]) != bool(found[4]):
            raise SpecError(path, line, f"{text}: cannot read the slot at '{text[at:]}'")
        slots.append(_slot(found, sets, text, path, line))
        at = found.end()
    return Pattern(match[0], tuple(slots))


def _slot(found: re.Match[str], sets: Mapping[str, Mapping[str, str]], text: str, path: str, line: int) -> Slot:
    optional = bool(found[1])
    word, braces = found[2], found[3]
    if braces is not None:
        return Slot(word, tuple(w.strip() for w in braces.split(",")), optional)
    if not word:
        raise SpecError(path, line, f"{text}: an empty slot")
    if word in sets:
        return Slot(word, tuple(sets[word]), optional)
    return Slot(word if optional else "", (word,), optional)
