"""What several table modules need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ..rows import Row, plain
from ..strictyaml import Map


def numbered(rows: Iterable[Row]) -> list[Row]:
    """Rows whose keys are made unique: the second of a name is ``NAME #2``."""
    seen: dict[str, int] = {}
    out = []
    for row in rows:
        seen[row.key] = count = seen.get(row.key, 0) + 1
        out.append(row if count == 1 else replace(row, key=f"{row.key} #{count}"))
    return out


def entries(data: Map, group: str, path: str, prefix: str = "") -> list[Row]:
    """One row for each entry of the mapping ``data[group]``; an entry that is no mapping becomes the column ``value``."""
    found = data.get(group, {})
    return [
        Row(prefix + str(key), plain(value) if isinstance(value, Map) else {"value": plain(value)}, path, found.line_of(key))
        for key, value in found.items()
    ]


def without_empty(values: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that say something."""
    return {key: value for key, value in values.items() if value not in (None, "", [], {}, ())}
