"""What the compiler says of a text: its messages, and the machine code by lines of the PTX. Runs in processes of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from oric_tables.targets import KNOWN, TARGETS

from oric.driver import CompileError, CompileOptions, PtxInput, Watch, compile_text
from oric.driver.checker import check_inputs
from oric.driver.front import build_inputs
from oric.ptx import format_text, parse
from oric.sass.listing import FunctionListing, list_cubin
from oric.support.diagnostics import ERROR, Diagnostics
from oric.support.elf import read
from oric.support.lines import PTX_LINES, SourceLine, source_lines

_PADDING: Final = "NOP"

Answer = dict[str, Any]
Row = tuple[str, int, str]  # function, offset, instruction


def check(text: str, filename: str, arch: str) -> Answer:
    """The messages of parser, checks and lowering; ``arch``: for which target, "" for none.

    Returns:
        ``messages``: dictionaries with ``severity``, ``message``, ``offset`` (a character, -1 for the whole text) and ``notes``.
    """
    if arch not in TARGETS:
        name = arch if arch in KNOWN else ""
        return {"messages": _messages(check_inputs([PtxInput(text, filename)], name, Watch())[0])}
    try:
        return {"messages": _messages(build_inputs([PtxInput(text, filename)], CompileOptions(arch)).parts[0])}
    except CompileError as error:
        return {"messages": _messages(error.diagnostics)}


def code(text: str, filename: str, arch: str, level: int, entries: list[str]) -> Answer:
    """The machine code of some entries (all of them for none) by lines of the PTX.

    Returns:
        ``lines``: line (as text) -> rows of function, offset in bytes, instruction; ``failure``: why there is none, or "";
        ``messages`` as :func:`check`, those of the whole compilation.
    """
    if arch not in TARGETS:
        return _failed(f"code cannot be made for {arch}" if arch else "the module names no target", [])
    try:
        cubin = compile_text(text, CompileOptions(arch, level, line_info=True, entries=tuple(entries)), filename)
    except CompileError as error:
        found = error.diagnostics
        first = next((item for item in found.sorted() if item.severity == ERROR), None)
        line = f" (line {found.source.line_of(first.offset)})" if first is not None and first.offset >= 0 else ""
        return _failed(f"not compiled: {first.message}{line}" if first is not None else "not compiled", _messages(found))
    file = read(cubin.image)
    tables = source_lines(file, PTX_LINES)
    lines: dict[str, list[Row]] = {}
    for function in list_cubin(file).functions:
        if function.facts is not None:
            _add(lines, function, tables.get(function.facts.section, {}))
    return {"lines": lines, "failure": "", "messages": _messages(cubin.messages[0])}


def _failed(why: str, messages: list[Answer]) -> Answer:
    return {"lines": {}, "failure": why, "messages": messages}


def _add(lines: dict[str, list[Row]], function: FunctionListing, table: dict[int, list[SourceLine] | None]) -> None:
    """The instructions of a function at the lines that they come from, and at those of the calls that brought them here."""
    places: list[SourceLine] = []
    for row in function.lines[: _without_padding(function)]:
        if row.offset in table:
            places = table[row.offset] or []
        for line in dict.fromkeys(str(place.line) for place in places):
            lines.setdefault(line, []).append((function.name, row.offset, row.text))


def _without_padding(function: FunctionListing) -> int:
    """How many instructions a function has in front of what fills it up: a branch to itself, then NOPs."""
    count = len(function.lines)
    while count and function.lines[count - 1].text.startswith(_PADDING):
        count -= 1
    last = function.lines[count - 1] if count else None
    if last is not None and any(last.text == f"BRA `({name})" for name in function.labels.get(last.offset, ())):
        count -= 1
    return count


def _messages(diagnostics: Diagnostics) -> list[Answer]:
    return [
        {"severity": item.severity, "message": item.message, "offset": item.offset, "notes": list(item.notes)}
        for item in diagnostics.sorted()
    ]


def formatted(text: str, filename: str) -> Answer:
    """``text``: the module laid out as ``oric fmt`` does it; None for one with mistakes, which is left as it is."""
    try:
        parse(text, filename)
    except CompileError:
        return {"text": None}
    return {"text": format_text(text)}


FUNCTIONS: Final[dict[str, Callable[..., Answer]]] = {"check": check, "code": code, "formatted": formatted}
