"""Knobs: ``spec/knobs.yaml``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ..errors import Mistakes, SpecError
from ..rows import Row
from ..spec import Spec
from . import _rows, thresholds

NAME = "knobs"
FILES = ("knobs.yaml",)
_FILE = FILES[0]
_KEYS = {
    "knobs": "knob {knob}",
    "own": "knob {name}",
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
_MOST = (1 << 31) - 1
_REAL = ("float", "double")
_TEXTS = ("string", "string_alt", "when_string", "value_pair_list", "opcode_list")


def counts(spec: Spec) -> dict[str, int]:
    """The rows of each section."""
    found = load(spec)
    return {
        "knobs named by number": len(found["knobs"]),
        "knobs with a default": len(defaults(spec)),
        "knobs that can be set": len(settable(spec)),
        "knob types": len(found["types"]),
        "NvOpt levels": len(found["nvopt"]),
    }


def defaults(spec: Spec) -> dict[int, int | float]:
    """Documented defaults by number."""
    documented = {r.values["knob"]: r.values["default"] for r in load(spec)["knobs"]}
    return {number: default for number, default in documented.items() if default != _UNDOCUMENTED}


def listed(spec: Spec) -> tuple[tuple[str, str, str, str], ...]:
    """Name, default, the file that reads it ("" none) and what it is, of everything that is a knob or that documents call one."""
    unread = [r.values for r in (*load(spec)["knobs"], *load(spec)["context"]) if "reader" not in r.values]
    rows = [(row["name"], str(row["default"]), "", row["doc"]) for row in unread]
    return tuple(sorted(rows + [(knob.name, knob.default, knob.reader, knob.doc) for knob in settable(spec)]))


@dataclass(frozen=True)
class Knob:
    """A knob that can be set; ``default``: as ``--knob`` takes it; ``line``, ``file``: its row."""

    number: int
    name: str
    alias: str
    type: str
    default: str
    least: int
    most: int
    choices: tuple[str, ...]
    reader: str
    doc: str
    file: str
    line: int


def settable(spec: Spec) -> list[Knob]:
    """All knobs that something reads, those of ``thresholds.yaml`` among them, by number.

    Raises:
        SpecError: two with one number or name.
    """
    found = load(spec)
    rows = [(row, FILES[0]) for row in (*found["knobs"], *found["own"], *found["context"]) if "reader" in row.values]
    rows += [(row, thresholds.FILES[0]) for row in thresholds.load(spec)["thresholds"]]
    out = [_knob(row, file) for row, file in rows]
    seen: dict[int | str, Knob] = {}
    for knob in out:
        keys: list[int | str] = [knob.number, knob.name, *([knob.alias] if knob.alias else [])]
        for key in keys:
            if key in seen:
                raise SpecError(spec.path(knob.file), knob.line, f"knob {knob.name}: '{key}' is that of {seen[key].name}, too")
            seen[key] = knob
    return sorted(out, key=lambda knob: knob.number)


def _knob(row: Row, file: str) -> Knob:
    values = row.values
    default = values["default"] if "default" in values else values["value"]
    kind = values.get("type", "int_list" if isinstance(default, list) else "int")
    shown = ",".join(map(str, default)) if isinstance(default, list) else str(default)
    return Knob(
        values["knob"], values["name"], values.get("alias", ""), kind, shown.lower() if kind == "bool" else shown,
        values.get("least", 0), values.get("most", _MOST), tuple(values.get("choices", ())), values["reader"], values["doc"],
        file, row.line,
    )  # fmt: skip


def slots(knob: Knob) -> int:
    """How many numbers it has."""
    if knob.type == "int_list":
        return knob.default.count(",") + 1
    return {"bool": 1, "int": 1, "int_extra": 2, "int_range": 2}.get(knob.type, 0)


def numbers(knob: Knob) -> list[int]:
    """The numbers of its default.

    Raises:
        ValueError: it has none of its type.
    """
    if knob.type == "bool":
        return [{"false": 0, "true": 1}[knob.default]]
    separator = {"int_extra": ":", "int_range": ".."}.get(knob.type, ",")
    return [int(part) for part in knob.default.split(separator)] if slots(knob) else []


def _check(spec: Spec, found: _rows.Sections) -> None:
    """Numbering, references, defaults of the right type, layouts.

    Raises:
        SpecError: the first row that breaks one of them.
    """
    _rows.check_numbers(spec, _FILE, found["types"], "tag")
    _rows.check_numbers(spec, _FILE, found["nvopt"], "level")
    types = {row.values["name"] for row in found["types"]}
    for section in ("knobs", "own"):
        _rows.check_refers(spec, _FILE, found[section], "type", types | {_UNDOCUMENTED}, "knob type")
    known = {row.values["knob"] for row in found["knobs"]}
    _rows.check_refers(spec, _FILE, found["curves"], "knob", known, "knob of this file")
    for row in (*found["knobs"], *found["own"], *found["context"]):
        if "reader" in row.values:
            _check_default(spec, row)
        elif "knob" in row.values and row.values["default"] != _UNDOCUMENTED:
            raise SpecError(spec.path(_FILE), row.line, f"{row.key}: nothing reads it")
    for section, size in _BYTES.items():
        _rows.check_layout(spec, _FILE, found[section], size)


def _check_default(spec: Spec, row: Row) -> None:
    """A knob that something reads has a default of its type, within its bounds.

    Raises:
        SpecError: it has not.
    """
    knob = _knob(row, _FILE)
    try:
        found: list[float] = [float(knob.default)] if knob.type in _REAL else [*numbers(knob)]
    except (KeyError, ValueError):
        found = []
    if not found and knob.type not in _TEXTS:
        raise SpecError(spec.path(_FILE), row.line, f"{row.key}: default {knob.default} is no value of type {knob.type}")
    if any(not knob.least <= number <= knob.most for number in found):
        raise SpecError(
            spec.path(_FILE), row.line, f"{row.key}: default {knob.default} is not within {knob.least} and {knob.most}"
        )
    if (knob.type == "string_alt") != bool(knob.choices) or (knob.choices and knob.default not in knob.choices):
        raise SpecError(spec.path(_FILE), row.line, f"{row.key}: a string_alt has choices, and its default is one of them")


def check_readers(spec: Spec, root: Path) -> None:
    """Every knob is named in the file that reads it: a knob that nothing reads is none.

    Raises:
        SpecError: one is not.
    """
    with Mistakes() as each:
        for knob in settable(spec):
            with each:
                path = root / "runtime/oric" / knob.reader
                name = f"ORIC_KNOB_{knob.name.upper()}" if thresholds.read_by_c(knob.reader) else f"knobs.{knob.name.upper()}"
                if not path.is_file() or not re.search(rf"\b{re.escape(name)}\b", path.read_text(encoding="utf-8")):
                    raise SpecError(spec.path(knob.file), knob.line, f"knob {knob.name}: {knob.reader} does not read {name}")


load, rows, check = _rows.section_table(NAME, _FILE, _KEYS, _DOCUMENTED, _check)
