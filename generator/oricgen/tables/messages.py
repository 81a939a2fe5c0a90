"""What ptxas says where the parser says something of its own: ``spec/messages.yaml``."""

from __future__ import annotations

import re
from typing import Any

from ..errors import SpecError
from ..rows import Row, plain
from ..spec import Spec

NAME = "messages"
FILES = ("messages.yaml",)
_FILE = FILES[0]
_SECTIONS = ("header", "syntax", "declarations", "calls", "debug", "gates", "instructions", "warnings")
_PLACEHOLDER = re.compile(r"\{(\w+)(?::x)?\}")
_BRACE = re.compile(r"(?<!')[{}](?!')")  # one that is meant stands in quotes
# What the program fills in beside the placeholders of `ours`.
_KNOWN = frozenset({"near", "next", "before", "instruction", "argument", "file", "arch"})


def texts(row: Row, column: str) -> list[str]:
    """The lines that ptxas says: those of ``ptxas``, or of ``late``."""
    said = row.values.get(column, [])
    return [said] if isinstance(said, str) else list(said)


def pattern(row: Row) -> str:
    """The regular expression of a row's ``ours``, with a group for each placeholder."""
    ours: str = row.values["ours"]
    out, end = "", 0
    seen: set[str] = set()
    for match in _PLACEHOLDER.finditer(ours):
        out += re.escape(ours[end : match.start()])
        out += f"(?P={match[1]})" if match[1] in seen else f"(?P<{match[1]}>.+?)"
        seen.add(match[1])
        end = match.end()
    return out + re.escape(ours[end:])


def load(spec: Spec) -> list[Row]:
    """The rows as they are tried, called by what the parser says and where."""
    data = spec.load(_FILE)
    sections = (data[name] for name in _SECTIONS)
    return [_row(raw, section.line_of(index)) for section in sections for index, raw in enumerate(section)]


rows = load


def _row(raw: Any, line: int) -> Row:
    where = f" in {raw['statement']}" if "statement" in raw else ""
    return Row(raw["ours"] + where, plain(raw), f"spec/{_FILE}", line)


def names(spec: Spec) -> list[str]:
    """The names of instructions in ptxas's messages that are more than the first word of a mnemonic."""
    return list(spec.load(_FILE)["names"])


def counts(spec: Spec) -> dict[str, int]:
    """The rows."""
    return {"messages in ptxas's words": len(load(spec))}


def check(spec: Spec) -> None:
    """Placeholders are filled, and no row hides behind an earlier one.

    Raises:
        SpecError: the first row that breaks one of them.
    """
    before: list[tuple[re.Pattern[str], Row]] = []
    for row in load(spec):
        for text in (row.values["ours"], *texts(row, "ptxas"), *texts(row, "late")):
            lone = _BRACE.search(_PLACEHOLDER.sub("", text))
            if lone is not None:
                raise SpecError(
                    spec.path(_FILE), row.line, f"{row.key}: the '{lone[0]}' belongs to no placeholder such as {{name}}"
                )
        given = {match[1] for match in _PLACEHOLDER.finditer(row.values["ours"])} | _KNOWN
        for match in (match for text in texts(row, "ptxas") + texts(row, "late") for match in _PLACEHOLDER.finditer(text)):
            if match[1] not in given:
                raise SpecError(spec.path(_FILE), row.line, f"{row.key}: nothing says what {match[0]} is")
        example = _PLACEHOLDER.sub("x", row.values["ours"])
        for earlier, owner in before:
            if earlier.fullmatch(example) and owner.values.get("statement") in (None, row.values.get("statement")):
                raise SpecError(
                    spec.path(_FILE), row.line, f"{row.key}: never tried, '{owner.key}' on line {owner.line} takes it"
                )
        before.append((re.compile(pattern(row)), row))
