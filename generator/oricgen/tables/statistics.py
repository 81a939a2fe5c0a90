"""Statistics of a function: ``spec/statistics.yaml``."""

from __future__ import annotations

import re

from ..errors import SpecError
from ..rows import Row
from ..spec import Spec
from . import _rows, phases

NAME = "statistics"
FILES = ("statistics.yaml",)
UNDOCUMENTED = "undocumented"
MAX_REGS = "max_regs"  # in shares: registers that a thread may have
_FILE = FILES[0]
_KEYS = {
    "fields": "field {name}",
    "floats": "float {index}",
    "computed": "computed {name}",
    "lines": "line {line}",
    "further": "further line {line}",
    "zeros": "zero of {field}",
    "counts": "count of {field}",
    "conditions": "condition of {prints}",
    "reports": "report {phase}",
}
_DOCUMENTED = {"fields": 47, "floats": 13, "lines": 9, "reports": 3}
_DWORD = 4
_SHOWN = re.compile(r"\[[^]]*\]")
_PRINTF = re.compile(r"%[df]")


def counts(spec: Spec) -> dict[str, int]:
    """The rows of each section."""
    found = load(spec)
    return {
        "statistics fields": len(found["fields"]),
        "float fields": len(found["floats"]),
        "lines of the profile": len(found["lines"]),
    }


def _check(spec: Spec, found: _rows.Sections) -> None:
    """Offsets, references, and texts that agree between fields and lines.

    Raises:
        SpecError: the first row that breaks one of them.
    """
    for section in ("lines", "further"):
        _rows.check_numbers(spec, _FILE, found[section], "line", 1)
    by_index: dict[int, Row] = {}
    for row in (*found["fields"], *found["floats"]):
        index, offset = row.values["index"], row.values["offset"]
        if offset != _DWORD * index:
            raise _error(spec, row, f"offset is {offset}, index {index} is at {_DWORD * index}")
        other = by_index.setdefault(index, row)
        if other.values["name"] != row.values["name"]:
            raise _error(spec, row, f"index {index} is that of {other.key}")
    fields = {row.values["name"]: row for row in found["fields"]}
    shown = fields | {row.values["name"]: row for row in found["computed"]}
    for row in found["computed"]:
        for term in row.values["terms"]:
            if term.removeprefix("-") not in fields:
                raise _error(spec, row, f"terms '{term}' is no field")
    _rows.check_refers(spec, _FILE, found["lines"], "values", shown.keys() | {UNDOCUMENTED}, "field or computed value")
    _check_floats(spec, found, shown)
    for section in ("counts", "zeros"):
        _rows.check_refers(spec, _FILE, found[section], "field", fields, "field")
    counted = {row.values["field"] for row in found["counts"]}
    for row in found["zeros"]:
        if row.values["field"] in counted:
            raise _error(spec, row, f"{row.values['field']} is counted")
    for column in ("prints", "field"):
        _rows.check_refers(spec, _FILE, found["conditions"], column, fields, "field")
    _rows.check_refers(spec, _FILE, found["further"], "values", fields, "field")
    for row in (*found["lines"], *found["further"]):
        _check_line(spec, row, shown)
    table = phases.load(spec)
    for row in found["reports"]:
        if table[row.values["phase"]]["name"] != row.values["name"]:
            raise _error(
                spec, row, f"phase {row.values['phase']} is {table[row.values['phase']]['name']}, not {row.values['name']}"
            )


def _check_floats(spec: Spec, found: _rows.Sections, shown: dict[str, Row]) -> None:
    """A float without a name has a share of values."""
    for row in found["floats"]:
        unnamed = row.values["name"] == UNDOCUMENTED
        if unnamed != ("share" in row.values):
            raise _error(spec, row, "a share belongs to a field without a name, and each has one")
        for name in row.values.get("share", ()):
            if name not in shown and name != MAX_REGS:
                raise _error(spec, row, f"share of '{name}', which is no field or computed value")


def _error(spec: Spec, row: Row, message: str) -> SpecError:
    return SpecError(spec.path(_FILE), row.line, f"{row.key}: {message}")


def _check_line(spec: Spec, row: Row, shown: dict[str, Row]) -> None:
    """A line has a value for each printf field; what stands in brackets is the text of that value."""
    values, text = row.values["values"], row.values["text"]
    if len(values) != len(_PRINTF.findall(text)):
        raise _error(spec, row, f"{len(values)} values for the {len(_PRINTF.findall(text))} printf fields of '{text}'")
    shares = row.values.get("shares", ())
    if len(shares) != list(values).count(UNDOCUMENTED):
        raise _error(spec, row, f"{len(shares)} shares for the {list(values).count(UNDOCUMENTED)} undocumented values")
    for name in (name for share in shares for name in share):
        if name not in shown:
            raise _error(spec, row, f"share of '{name}', which is no field or computed value")
    for name, part in zip(values, _SHOWN.findall(text), strict=False):
        if name != UNDOCUMENTED and shown[name].values["text"] != part:
            raise _error(spec, row, f"'{part}' stands where {name} is shown as '{shown[name].values['text']}'")


load, rows, check = _rows.section_table(NAME, _FILE, _KEYS, _DOCUMENTED, _check)
