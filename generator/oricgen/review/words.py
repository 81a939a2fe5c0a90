"""Machine words for forms that differ, made from their rows: plain registers, one word for each modifier that is new."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..isa import bits
from ..rows import Row
from .compare import RowChange, TableChange

GUARD = 7 << 12  # PT
CONTROL = (7 << 8 | 7 << 5 | 1 << 4 | 4) << 105  # stall 4, no scoreboards
_PLACE = re.compile(r"(?P<spec>\w+) (?P<bits>[\d,-]+)(?P<invert>\^?)(?: and (?P<second>[\d,-]+))?")
_FLOATS = {"f32": 0x3F800000, "f64h": 0x3FF00000, "f16x2": 0x3C003C00, "bf16x2": 0x3F803F80, "f16": 0x3C00, "bf16": 0x3F80}


def examples(changes: Sequence[TableChange], isa: str) -> list[str]:
    """Words (32 hexadecimal digits) of the forms of ``isa`` that differ, as the old and as the new version has them."""
    rows = [r for change in changes if change.name == "forms" for r in change.rows]
    found = (word for r in rows for row in (r.old, r.new) if row and row.values["isa"] == isa for word in _of(row, r))
    return list(dict.fromkeys(f"{word:032x}" for word in found))


def _of(row: Row, change: RowChange) -> Iterator[int]:
    """The plain word of a form, and one for each modifier that differs."""
    base = word_of(row)
    yield base
    names = {c.column.removeprefix("modifiers.") for c in change.changes if c.column.startswith("modifiers.")}
    names |= {c.was.removeprefix("modifiers.") for c in change.changes if c.was.startswith("modifiers.")}
    for name, text in row.values.get("modifiers", {}).items():
        if name in names or change.old is None:
            field, codes = _codes(row, text)
            for code in codes[-1:] if len(codes) > 1 else ():
                yield base & ~field.mask | field.place(code)


def _codes(row: Row, text: str) -> tuple[bits.Bits, list[int]]:
    """Where a modifier sits, and the codes that it may have in this form, the default first."""
    place, _, names = text.partition(" ")
    field = bits.parse(place)
    values = names.split() or ["*", "1"]  # a flag or a number
    known = [code for code, name in enumerate(values) if name != "-"]
    mask, value = int(row.values["mask"], 16), int(row.values["value"], 16)
    fit = [code for code in known if not (field.place(code) ^ value) & mask & field.mask]
    return field, sorted(fit, key=lambda code: not values[code].endswith("*"))


def word_of(row: Row) -> int:
    """A word of the form with registers R0, R4, R8 ..., default modifiers and predicates, small numbers."""
    word = int(row.values["value"], 16) | GUARD | CONTROL
    if "ones" in row.values:
        word |= bits.parse(row.values["ones"]).mask
    for text in row.values.get("modifiers", {}).values():
        field, codes = _codes(row, text)
        word |= field.place(codes[0])
    for number, text in enumerate(row.values.get("operands", {}).values()):
        match = _PLACE.match(text)
        if match and " same" not in text:
            field = bits.parse(match["bits"])
            word |= field.place(_value(match["spec"], number, field.width, bool(match["invert"]), "default" in text))
    return word


def _value(spec: str, number: int, width: int, inverted: bool, optional: bool) -> int:
    top = (1 << width) - 1
    if spec in ("gpr", "ugpr"):
        return 4 * number & top
    if spec in ("pred", "upred"):
        code = 7 if optional else number % 7
        return 7 - code if inverted else code
    if spec in ("breg", "sb"):
        return number % 4 & top
    if spec in ("cbank", "cbanku"):
        return 0x160 >> 2 & top
    if spec == "sreg":
        return 33 & top
    return _FLOATS.get(spec, 0x40) & top
