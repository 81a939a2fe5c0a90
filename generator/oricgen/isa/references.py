"""What a row of ``spec/encoding`` names must exist, and what it declares must be used."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ..strictyaml import Map
from . import ranges
from .forms import Draft
from .model import Modifier, Operand
from .notation import WIDTHS
from .places import kind_of
from .widths import factors, unknown

Mistake = tuple[int, str]  # line (0: that of the row), message


def mistakes(
    row: Map, isas: Collection[str], operands: tuple[Operand, ...], mods: tuple[Modifier, ...], drafts: Mapping[str, list[Draft]]
) -> Iterator[Mistake]:
    """All of them, lazily: the caller stops at the first."""
    yield from _isas(row, isas)
    names = {o.name for o in operands}
    known = {m.name: m for m in mods}
    used = {operands[o.index].name for forms in drafts.values() for draft in forms for o in draft.operands}
    used_mods = {name for forms in drafts.values() for draft in forms for name in draft.mods}
    for name in sorted(names - used):
        yield row.line_of("ops"), f"operand '{name}' is in no form: no text names it"
    for name in row.get("mods", {}):
        if name not in used_mods:
            yield row["mods"].line_of(name), f"modifier '{name}' is in no form: no text names it"
    for operand in operands:
        for name in factors(operand):
            if name not in known:
                yield row.line_of("ops"), f"operand '{operand.name}': there is no modifier '{name}' that says its width"
        if operand.width.isdigit() and operand.width not in WIDTHS:
            yield row.line_of("ops"), f"operand '{operand.name}': {operand.width} registers: {', '.join(WIDTHS)} are possible"
    for key, value, message in unknown(operands, mods, row.get("widths", {})):
        yield (row["widths"][key].line_of(value) if value else row["widths"].line_of(key)), message
    yield from _entries(row, names)


def _isas(row: Map, isas: Collection[str]) -> Iterator[Mistake]:
    entries = [row, *_form_entries(row)]
    named = [(entry.line_of("isa"), isa) for entry in entries for isa in entry.get("isa", ())]
    named += [(row["delta"].line_of(isa), isa) for isa in row.get("delta", {})]
    for line, item in named:
        try:
            ranges.expand(item, tuple(isas))
        except ValueError as error:
            yield line, str(error)
    for delta in row.get("delta", {}).values():
        for name in delta.get("mods", {}):
            if name not in row.get("mods", {}):
                yield delta["mods"].line_of(name), f"column 'delta': there is no modifier '{name}'"


def _form_entries(row: Map) -> list[Any]:
    """The written-out entries of ``forms``, those of the deltas included."""
    return [e for part in (row, *row.get("delta", {}).values()) if isinstance(part.get("forms"), list) for e in part["forms"]]


def _entries(row: Map, operands: Collection[str]) -> Iterator[Mistake]:
    """What the entries of ``forms`` override exists."""
    if "imm" in row and (message := _no_immediate(row["imm"])):
        yield row.line_of("imm"), message
    for delta in row.get("delta", {}).values():
        for name in delta.get("at", ()):
            if name not in operands:
                yield delta["at"].line_of(name), f"column 'at' of a delta: there is no operand '{name}'"
    for entry in _form_entries(row):
        for column in ("at", "drop"):
            for name in entry.get(column, ()):
                if name not in operands:
                    yield entry[column].line_of(name), f"column '{column}' of a form: there is no operand '{name}'"
        if "imm" in entry and (message := _no_immediate(entry["imm"])):
            yield entry.line_of("imm"), message
        template = str(entry.get("text", row["text"]))
        for name in entry.get("mods", ()):
            if f"{{{name}" not in template and f"<{name}>" not in template and f"+{name}}}" not in template:
                yield entry["mods"].line_of(name), f"column 'mods' of a form: its text does not name '{name}'"


def _no_immediate(text: Any) -> str:
    """What is wrong with a number format of immediates; "" when nothing is."""
    try:
        return "" if kind_of(str(text)) == "imm" else f"column 'imm': '{text}' is no format of immediates"
    except ValueError as error:
        return f"column 'imm': {error}"
