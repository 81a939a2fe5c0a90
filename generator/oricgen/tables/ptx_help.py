"""Words of PTX explained in a line: ``spec/ptx_help.yaml``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import Mistakes, SpecError
from ..ptx import families, load_types
from ..rows import Row, plain
from ..spec import Spec
from . import ptx_directives, ptx_words, special_registers

NAME = "ptx_help"
FILES = ("ptx_help.yaml",)
_FILE = FILES[0]
_SECTIONS = ("qualifiers", "directives", "special_registers")

Use = tuple[str, str]  # a word, and the instruction that it stands in ("" where that does not matter)


@dataclass(frozen=True)
class Help:
    """What is said: ``instructions`` by name, ``qualifiers`` by word as (instruction, line), the others by word."""

    instructions: dict[str, str]
    qualifiers: dict[str, dict[str, str]]
    directives: dict[str, str]
    special_registers: dict[str, str]


def load(spec: Spec) -> Help:
    """The lines by the words that they are of.

    Raises:
        SpecError: a word without a line, a line without a word.
    """
    return spec.memo(NAME, lambda: _load(spec))


def _load(spec: Spec) -> Help:
    found = {section: _lines(spec, section, _uses(spec)[section]) for section in _SECTIONS}
    qualifiers: dict[str, dict[str, str]] = {}
    for (word, name), doc in sorted(found["qualifiers"].items()):
        qualifiers.setdefault(word, {})[name] = doc
    plain_words = ({word: doc for (word, _), doc in found[section].items()} for section in _SECTIONS[1:])
    return Help(_instructions(spec), qualifiers, *plain_words)


def _instructions(spec: Spec) -> dict[str, str]:
    """What each instruction does: one line for each name of the signatures."""
    data = spec.load(_FILE)
    lines = data["instructions"]
    names = {instruction.name for family in families(spec) for instruction in family.instructions}
    with Mistakes() as each:
        for name in lines:
            with each:
                if name not in names:
                    raise SpecError(spec.path(_FILE), lines.line_of(name), f"{name}: no instruction of spec/ptx")
    missing = sorted(names - set(lines))
    if missing:
        raise SpecError(spec.path(_FILE), data.line_of("instructions"), f"instructions: nothing is said of {', '.join(missing)}")
    return dict(plain(lines))


def _uses(spec: Spec) -> dict[str, set[Use]]:
    """The words that each section has to explain."""
    types = load_types(spec)
    qualifiers = {
        (word, instruction.name)
        for family in families(spec)
        for instruction in family.instructions
        for form in instruction.forms
        for field, values, _ in form.slots
        for word in values
        if word not in types["types"] and not (field[0] == "." and word in instruction.name.split(".")[1:])
    }
    directives = [*ptx_words.load(spec), *ptx_directives.load(spec), *types["spaces"]]
    return {
        "qualifiers": qualifiers,
        "directives": {(word, "") for word in directives},
        "special_registers": {(word, "") for word in special_registers.resolved(spec)},
    }


def _lines(spec: Spec, section: str, uses: set[Use]) -> dict[Use, str]:
    """The line of each word of a section: that of the first row that fits."""
    out: dict[Use, str] = {}
    data = spec.load(_FILE)
    with Mistakes() as each:
        for index, row in enumerate(data[section]):
            line = data[section].line_of(index)
            for first in row.get("of", ()):
                with each:
                    if not any(_is_of(first, name) for _, name in uses):
                        raise SpecError(spec.path(_FILE), line, f"{section}: no instruction begins with '{first}'")
            for pattern in row["words"]:
                with each:
                    fitting = {use for use in uses - out.keys() if _fits(pattern, row.get("of"), use, (spec, line))}
                    if not fitting:
                        raise SpecError(spec.path(_FILE), line, f"{section}: no word is left for '{pattern}'")
                    out.update(dict.fromkeys(fitting, row["doc"]))
    missing = sorted({word for word, _ in uses - out.keys()})
    if missing:
        where = next(name for word, name in sorted(uses - out.keys()) if word == missing[0])
        told = f" (of {where})" if where else ""
        message = f"{section}: nothing is said of {', '.join(missing)}{told}"
        raise SpecError(spec.path(_FILE), data.line_of(section), message)
    return out


def _fits(pattern: str, of: list[str] | None, use: Use, place: tuple[Spec, int]) -> bool:
    """A row holds for a word of an instruction."""
    word, name = use
    if of is not None and not any(_is_of(first, name) for first in of):
        return False
    try:
        return re.fullmatch(pattern, word) is not None
    except re.error as error:
        spec, line = place
        raise SpecError(spec.path(_FILE), line, f"'{pattern}' is no regular expression: {error}") from error


def _is_of(first: str, name: str) -> bool:
    """An instruction's name begins with these words."""
    return f"{name}.".startswith(f"{first}.")


def rows(spec: Spec) -> list[Row]:
    """One row an instruction, and one for each row of the other sections, called by its words."""
    data = spec.load(_FILE)
    lines = data["instructions"]
    out = [Row(name, {"doc": doc}, f"spec/{_FILE}", lines.line_of(name)) for name, doc in lines.items()]
    for section in _SECTIONS:
        for index, row in enumerate(data[section]):
            key = f"{section} {' '.join(row['words'])}" + (f" of {' '.join(row['of'])}" if "of" in row else "")
            out.append(Row(key, plain(row), f"spec/{_FILE}", data[section].line_of(index)))
    return out


def counts(spec: Spec) -> dict[str, int]:
    """How many lines there are."""
    return {"lines of help": len(rows(spec))}


def check(spec: Spec) -> None:
    """Every word of PTX has a line, and every line a word."""
    load(spec)
