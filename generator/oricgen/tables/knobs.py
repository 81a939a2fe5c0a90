"""Knobs: ``spec/knobs.yaml``."""

from __future__ import annotations

from ..errors import SpecError
from ..spec import Spec
from . import _rows

NAME = "knobs"
FILES = ("knobs.yaml",)
_FILE = FILES[0]
_KEYS = {
    "knobs": "knob {knob}",
    "types": "knob type {name}",
    "slot": "slot +{offset}",
    "descriptor": "descriptor +{offset}",
    "state": "state +{offset}",
    "context": "context {name}",
    "curves": "curve {name}",
    "nvopt": "NvOpt level {level}",
    "recipe": "recipe +{offset}",
}
_DOCUMENTED = {"knobs": 5, "types": 13, "slot": 5, "descriptor": 6, "nvopt": 6, "recipe": 10}
_BYTES = {"slot": 72, "descriptor": 64, "state": 80, "recipe": 440}
_UNDOCUMENTED = "undocumented"
_PYTHON = {"int": int, "float": float, "double": float}


def counts(spec: Spec) -> dict[str, int]:
    """The rows of each section."""
    found = load(spec)
    return {
        "knobs named by number": len(found["knobs"]),
        "knobs with a default": len(defaults(spec)),
        "knob types": len(found["types"]),
        "NvOpt levels": len(found["nvopt"]),
    }


def defaults(spec: Spec) -> dict[int, int | float]:
    """Documented defaults by number."""
    return {r.values["knob"]: r.values["default"] for r in load(spec)["knobs"] if r.values["default"] != _UNDOCUMENTED}


def settings(spec: Spec) -> dict[str, int]:
    """Documented defaults of settings of the context, by name."""
    return {r.values["name"]: r.values["default"] for r in load(spec)["context"] if isinstance(r.values["default"], int)}


def listed(spec: Spec) -> tuple[tuple[str, str, str, str], ...]:
    """Name, default, the module that reads it ("" none) and what it is, of every knob and setting."""
    found = load(spec)
    named = [(f"knob {r.values['knob']}", r.values) for r in found["knobs"]]
    named += [(r.values["name"], r.values) for r in found["context"]]
    return tuple((name, str(row["default"]), row.get("used", ""), row["doc"]) for name, row in named)


def _check(spec: Spec, found: _rows.Sections) -> None:
    """Numbering, references, defaults of the right type, layouts.

    Raises:
        SpecError: the first row that breaks one of them.
    """
    _rows.check_numbers(spec, _FILE, found["types"], "tag")
    _rows.check_numbers(spec, _FILE, found["nvopt"], "level")
    types = {row.values["name"] for row in found["types"]}
    _rows.check_refers(spec, _FILE, found["knobs"], "type", types | {_UNDOCUMENTED}, "knob type")
    numbers = {row.values["knob"] for row in found["knobs"]}
    _rows.check_refers(spec, _FILE, found["curves"], "knob", numbers, "knob of this file")
    for row in found["knobs"]:
        default, kind = row.values["default"], row.values["type"]
        known = default != _UNDOCUMENTED
        if known and not isinstance(default, _PYTHON.get(kind, ())):
            raise SpecError(spec.path(_FILE), row.line, f"{row.key}: default {default} is no value of type {kind}")
        if "used" in row.values and not known:
            raise SpecError(spec.path(_FILE), row.line, f"{row.key}: {row.values['used']} reads a default that is not documented")
    for row in found["context"]:
        if "used" in row.values and not isinstance(row.values["default"], int):
            raise SpecError(spec.path(_FILE), row.line, f"{row.key}: {row.values['used']} reads a default that is no number")
    for section, size in _BYTES.items():
        _rows.check_layout(spec, _FILE, found[section], size)


load, rows, check = _rows.section_table(NAME, _FILE, _KEYS, _DOCUMENTED, _check)
