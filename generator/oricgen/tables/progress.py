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
    """Values, and those that a phase sets."""
    found = load(spec)["progress"]
    return {"progress values": len(found), "placed behind a phase": sum(row.values["after"] != _UNPLACED for row in found)}


def _check(spec: Spec, found: _rows.Sections) -> None:
    """The counter only goes up: values and their phases are in order.

    Raises:
        SpecError: the first row that breaks this.
    """
    index = {row["name"]: row["index"] for row in phases.load(spec)}
    values = {row.values["value"] for row in found["progress"]}
    _rows.check_refers(spec, _FILE, found["progress"], "after", index.keys() | {_UNPLACED}, "phase of phases.yaml")
    _rows.check_refers(spec, _FILE, found["gates"], "above", values, "value of the counter")
    value = last = -1
    for row in found["progress"]:
        if row.values["value"] < value:
            raise SpecError(spec.path(_FILE), row.line, f"{row.key}: the counter only goes up, {value} stands before it")
        value = row.values["value"]
        after = row.values["after"]
        if after != _UNPLACED:
            if index[after] < last:
                message = f"{row.key}: {after} is phase {index[after]}, a lower value is set behind phase {last}"
                raise SpecError(spec.path(_FILE), row.line, message)
            last = index[after]


load, rows, check = _rows.section_table(NAME, _FILE, _KEYS, _DOCUMENTED, _check)
