"""Thresholds of policies: ``spec/thresholds.yaml``."""

from __future__ import annotations

from ..errors import SpecError
from ..spec import Spec
from . import _rows

NAME = "thresholds"
FILES = ("thresholds.yaml",)
_FILE = FILES[0]
_KEYS = {"thresholds": "threshold {name}"}


def counts(spec: Spec) -> dict[str, int]:
    """All of them, and those that C reads."""
    found = load(spec)["thresholds"]
    return {"thresholds": len(found), "thresholds that C reads": sum(read_by_c(row.values["reader"]) for row in found)}


def read_by_c(reader: str) -> bool:
    """Whether the file that reads a threshold is C."""
    return reader.endswith(".c")


def _check(spec: Spec, found: _rows.Sections) -> None:
    """C reads single numbers: its policies that go by register file get them from Python.

    Raises:
        SpecError: a list for a C file.
    """
    for row in found["thresholds"]:
        if read_by_c(row.values["reader"]) and isinstance(row.values["value"], list):
            raise SpecError(spec.path(_FILE), row.line, f"{row.key}: C reads single numbers, not a list")


load, rows, check = _rows.section_table(NAME, _FILE, _KEYS, {}, _check)
