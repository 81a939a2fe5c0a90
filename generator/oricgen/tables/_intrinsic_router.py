"""The checks of ``spec/intrinsics_router.yaml``: what names another row must name one that exists."""

from __future__ import annotations

from collections.abc import Container

from ..errors import SpecError
from ..rows import Row
from ..spec import Spec
from . import _rows

ALL = "all"
_BUFFER_WORDS = 39
_KEYS = {
    "messages": "message {message}",
    "ranges": "range {range}",
    "keys": "routing key {key}",
    "buffer": "buffer {content}",
    "control_words": "control word {word}",
    "handlers": "{handler}",
    "profile": "profile +{offset}",
    "validators": "validator {validator}",
    "lookup": "lookup step {step}",
}


def read(spec: Spec, file: str, operations: Container[str]) -> _rows.Sections:
    """The rows by section, checked.

    Raises:
        SpecError: the first row that names what does not exist, or leaves a gap.
    """
    sections = _rows.read(spec, file, _KEYS)
    functions = {row.key for row in sections["handlers"]}
    keys = {row.values["key"] for row in sections["keys"]}
    for section in ("messages", "handlers"):
        named = tuple(row for row in sections[section] if row.values.get("operations") != [ALL])
        _rows.check_refers(spec, file, named, "operations", operations, "operation of intrinsics.yaml")
    _rows.check_refers(spec, file, sections["ranges"], "keys", keys, "routing key")
    for section, column in (("buffer", "filled_by"), ("validators", "default"), ("lookup", "handler")):
        _rows.check_refers(spec, file, sections[section], column, functions, "function of 'handlers'")
    _rows.check_numbers(spec, file, sections["control_words"], "word")
    _rows.check_numbers(spec, file, sections["lookup"], "step")
    _check_ranges(spec, file, sections["ranges"])
    _check_buffer(spec, file, sections)
    return sections


def _check_ranges(spec: Spec, file: str, ranges: tuple[Row, ...]) -> None:
    """No opcode of the descriptor is in two ranges."""
    owner: dict[int, str] = {}
    for row in ranges:
        first, last = row.values.get("first", 0), row.values.get("last", -1)
        for opcode in (*range(first, last + 1), *row.values.get("also", ())):
            if opcode in owner:
                raise SpecError(spec.path(file), row.line, f"{row.key}: opcode {opcode} is in {owner[opcode]} already")
            owner[opcode] = row.key


def _check_buffer(spec: Spec, file: str, sections: _rows.Sections) -> None:
    """The parts follow each other without a gap; each control word has its slot."""
    path = spec.path(file)
    at = 0
    for row in sections["buffer"]:
        first, last = row.values["slots"]
        if first != at or last < first:
            raise SpecError(path, row.line, f"{row.key}: slots {first} to {last} where slot {at} comes next")
        at = last + 1
    if at != _BUFFER_WORDS:
        line = spec.load(file).line_of("buffer")
        raise SpecError(path, line, f"buffer: the rows have {at} slots, not {_BUFFER_WORDS}")
    content = {row.values["content"]: row.values["slots"] for row in sections["buffer"]}
    for row in sections["control_words"]:
        expected = content.get(f"control_word_{row.values['word']}", [None])[0]
        if row.values["slot"] != expected:
            raise SpecError(path, row.line, f"{row.key}: slot {row.values['slot']}, the buffer has it in slot {expected}")
