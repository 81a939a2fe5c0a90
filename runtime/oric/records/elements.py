"""Elements of documented sections, as their layouts say: what ``oric show --elements`` prints."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, Final

from oric_tables import structs

from .container import NAMES, Section

_STRUCT: Final = "struct "
_WIDTHS: Final = {"bits": 1, "nibbles": 4}


def name_and_content(tag: int) -> tuple[str, str]:
    """The name of a tag and what its section holds."""
    return (NAMES[tag].name, NAMES[tag].content) if tag in NAMES else ("unknown", "passed over")


def rows_of(section: Section) -> Iterator[dict[str, Any]]:
    """The elements of a section, field by field; nothing of sections with state, or whose tag nobody knows."""
    row = NAMES.get(section.tag)
    if row is None:
        return
    if row.form == "fields":
        yield from _fields(section.payload, row.code, row.fields)
    elif row.form.startswith(_STRUCT):
        yield from _structs(section.payload, row.form.removeprefix(_STRUCT))
    elif row.form in _WIDTHS:
        width = _WIDTHS[row.form]
        number = int.from_bytes(section.payload, "little")
        yield from ({"value": number >> at * width & (1 << width) - 1} for at in range(section.elements))
    elif row.form == "text":
        yield {"text": section.payload.rstrip(b"\0").decode("utf-8", "replace")}


def _fields(data: bytes, code: str, names: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for values in struct.iter_unpack(code, data):
        if len(names) == 1 and len(values) > 1:
            yield {names[0]: list(values)}
        else:
            yield {name: _shown(value) for name, value in zip(names, values, strict=True)}


def _shown(value: Any) -> Any:
    return value.rstrip(b"\0").decode("utf-8", "replace") if isinstance(value, bytes) else value


def _structs(data: bytes, name: str) -> Iterator[dict[str, Any]]:
    """Structs of ``spec/structs.yaml``, arrays as lists."""
    size = structs.SIZES[name]
    for at in range(0, len(data), size):
        row: dict[str, Any] = {}
        for field, (offset, code) in structs.FIELDS[name].items():
            values = struct.unpack_from("<" + code, data, at + offset)
            row[field] = values[0] if len(values) == 1 else list(values)
        yield row
