"""Values of the counter of pipeline progress: ``spec/progress.yaml``."""

from __future__ import annotations

from ..errors import SpecError
from ..spec import Spec
from . import _rows, phases

NAME = "progress"
FILES = ("progress.yaml",)
_FILE = FILES[0]
_KEYS = {"progress": "progress {value}", "gates": "gate {name}"}
_DOCUMENTED = {"progress": 21}
_UNPLACED = "unplaced"


def counts(spec: Spec) -> dict[str, int]:
    """Values, and those whose phase a document names."""
    found = load(spec)["progress"]
    return {
        "progress values": len(found),
        "values that a document places behind a phase": sum(row.values["after"] != _UNPLACED for row in found),
    }


def steps(spec: Spec) -> list[tuple[int, int]]:
    """Of every phase, the value that the counter has when it begins, and behind it."""
    load(spec)
    out: list[tuple[int, int]] = []
    reached = 0
    for row in phases.load(spec):
        enters = row.get("enters", reached)
        reached = row.get("progress", enters)
        out.append((enters, reached))
    return out


def _check(spec: Spec, found: _rows.Sections) -> None:
    """The counter only goes up, and a phase sets each of its values.

    Raises:
        SpecError: the first row that breaks this.
    """
    index = {row["name"]: row["index"] for row in phases.load(spec)}
    values = {row.values["value"] for row in found["progress"]}
    _rows.check_refers(spec, _FILE, found["progress"], "after", index.keys() | {_UNPLACED}, "phase of phases.yaml")
    _rows.check_refers(spec, _FILE, found["gates"], "above", values, "value of the counter")
    value = -1
    for row in found["progress"]:
        if row.values["value"] < value:
            raise SpecError(spec.path(_FILE), row.line, f"{row.key}: the counter only goes up, {value} stands before it")
        value = row.values["value"]
    placed = _placed(spec, values)
    for row in found["progress"]:
        value = row.values["value"]
        if value not in placed:
            raise SpecError(spec.path(_FILE), row.line, f"{row.key}: no phase of phases.yaml sets it")
        after = row.values["after"]
        if after != _UNPLACED and placed[value] != index[after]:
            message = f"{row.key}: phase {placed[value]} sets it, {after} is phase {index[after]}"
            raise SpecError(spec.path(_FILE), row.line, message)


def _placed(spec: Spec, values: set[int]) -> dict[int, int]:
    """The phase that sets each value.

    Raises:
        SpecError: a phase sets a value that there is not, or goes back, or sets again what is set.
    """
    table = phases.load(spec)
    placed: dict[int, int] = {}
    last = -1
    for number, row in enumerate(table):
        for value in (row[column] for column in ("enters", "progress") if column in row):
            name = f"{row['name']}: phase {number}"
            if value not in values:
                message = f"{name}: progress.yaml has no value {value} of the counter"
                raise SpecError(spec.path(phases.FILES[0]), table.line_of(number), message)
            if value <= last:
                message = f"{name}: the counter goes up only, it has {last} before {value}"
                raise SpecError(spec.path(phases.FILES[0]), table.line_of(number), message)
            placed[value] = number
            last = value
    return placed


load, rows, check = _rows.section_table(NAME, _FILE, _KEYS, _DOCUMENTED, _check)
