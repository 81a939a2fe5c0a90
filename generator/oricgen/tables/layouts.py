"""Field maps of the structures of the described system: ``spec/layouts.yaml``."""

from __future__ import annotations

import re

from ..errors import SpecError
from ..rows import Row
from ..spec import Spec
from . import _rows, statistics

NAME = "layouts"
FILES = ("layouts.yaml",)
_FILE = FILES[0]
_KEYS = {"structs": "struct {struct}", "fields": "{struct} +{offset}", "bits": "{struct} +{offset} {name}"}
_DOCUMENTED = {"structs": 15}
_ARRAY = re.compile(r"(\w+)\[(\w+)\]\Z")
_BYTES = {**_rows.TYPE_BYTES, "u128": 16, "undocumented": 0}


def counts(spec: Spec) -> dict[str, int]:
    """Structures, the fields of the two large ones, fields in all."""
    found = load(spec)
    of = {name: sum(row.values["struct"] == name for row in found["fields"]) for name in ("context", "code_object")}
    return {
        "structures": len(found["structs"]),
        "fields of the compilation context": of["context"],
        "fields of the Code Object": of["code_object"],
        "fields": len(found["fields"]),
        "named bits": len(found["bits"]),
    }


def size_of(row: Row) -> int:
    """Bytes of a field; 0 when its type or length is not known."""
    if "last" in row.values:
        return int(row.values["last"]) + 1 - int(row.values["offset"])
    match = _ARRAY.match(row.values["type"])
    if match is None:
        return _BYTES[row.values["type"]]
    return _BYTES[match[1]] * (0 if match[2] == "N" else int(match[2]))


def _check(spec: Spec, found: _rows.Sections) -> None:
    """Fields come in order and within their structure; each overlap is marked, and each mark is one.

    Raises:
        SpecError: the first row that breaks this.
    """
    bounds = {row.values["struct"]: row.values["bytes"] for row in found["structs"]}
    for section in ("fields", "bits"):
        _rows.check_refers(spec, _FILE, found[section], "struct", bounds, "structure of this file")
    for name, size in bounds.items():
        _check_fields(spec, [row for row in found["fields"] if row.values["struct"] == name], size)
    for row in found["bits"]:
        if not any(_holds(field, row) for field in found["fields"]):
            raise _error(spec, row, f"there is no field that holds the mask {row.values['mask']:#x} there")


def _holds(field: Row, bit: Row) -> bool:
    """True when the mask of ``bit``, which may name a byte inside the field, lies within it."""
    skipped = bit.values["offset"] - field.values["offset"]
    same = field.values["struct"] == bit.values["struct"]
    return bool(same and 0 <= skipped < size_of(field) and not bit.values["mask"] >> 8 * (size_of(field) - skipped))


def _check_fields(spec: Spec, rows: list[Row], size: int | str) -> None:
    known = {row.values["index"] for part in ("fields", "floats") for row in statistics.load(spec)[part]}
    end, before = 0, -1
    for row in rows:
        offset = row.values["offset"]
        if offset < before:
            raise _error(spec, row, f"fields come in order, +{before} stands before it")
        before = offset
        if "statistics" in row.values:
            if offset not in known:
                raise _error(spec, row, f"statistics.yaml has no field with index {offset}")
            continue
        if (offset < end) != ("overlaps" in row.values):
            what = f"begins at {offset}, the field before it ends at {end}"
            raise _error(spec, row, f"it {what}: " + ("mark it with 'overlaps: true'" if offset < end else "it does not overlap"))
        end = max(end, offset + size_of(row))
        if isinstance(size, int) and end > size:
            raise _error(spec, row, f"it ends at {end}, beyond the size {size}")


def _error(spec: Spec, row: Row, message: str) -> SpecError:
    return SpecError(spec.path(_FILE), row.line, f"{row.key}: {message}")


load, rows, check = _rows.section_table(NAME, _FILE, _KEYS, _DOCUMENTED, _check)
