"""The uniform view of a table: a row is a key, its columns and its place in the specification.

``oricgen query``, ``explain`` and ``diff`` work on this view, so that a new table needs no code in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .strictyaml import Map, Seq


@dataclass(frozen=True)
class Row:
    """One resolved row.

    ``key`` is unique in its table and what people call the row (``FADD``, ``sm_90``, ``FADD/RIR``, ``div.f32``);
    ``values`` are the columns in the order to show them, nested as in the file; ``path`` is relative to the project
    folder (``spec/opcodes.yaml``).
    """

    key: str
    values: Mapping[str, Any]
    path: str
    line: int


def from_map(data: Map, path: str) -> list[Row]:
    """The rows of a mapping of mappings, as they stand in the file."""
    return [Row(str(key), plain(value), path, data.line_of(key)) for key, value in data.items()]


def plain(value: Any) -> Any:
    """The same data without line numbers: plain dicts and lists."""
    if isinstance(value, Map):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, Seq):
        return [plain(item) for item in value]
    return value
