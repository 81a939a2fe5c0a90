"""Texts of dumps and reports: ``spec/dumps.yaml``."""

from __future__ import annotations

from ..errors import SpecError
from ..spec import Spec
from . import _rows

NAME = "dumps"
FILES = ("dumps.yaml",)
_FILE = FILES[0]
_KEYS = {
    "formats": "{dump} line {line}",
    "markers": "marker {marker}",
    "timers": "timer {timer}",
    "switches": "switch {switch}",
    "stream": "stream bit {bits}",
}
_DOCUMENTED = {"formats": 11, "markers": 2, "timers": 2, "stream": 5}


def counts(spec: Spec) -> dict[str, int]:
    """The rows of each section."""
    found = load(spec)
    return {"lines of dumps": len(found["formats"]), "markers": len(found["markers"]), "timers": len(found["timers"])}


def _check(spec: Spec, found: _rows.Sections) -> None:
    """Complete sections; the lines of a dump count up from 1.

    Raises:
        SpecError: the first row that breaks one of them.
    """
    lines: dict[str, int] = {}
    for row in found["formats"]:
        lines[row.values["dump"]] = expected = lines.get(row.values["dump"], 0) + 1
        if row.values["line"] != expected:
            raise SpecError(spec.path(_FILE), row.line, f"{row.key}: line is {row.values['line']} where {expected} is expected")


load, rows, check = _rows.section_table(NAME, _FILE, _KEYS, _DOCUMENTED, _check)
