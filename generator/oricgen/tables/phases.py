"""The phase list: ``spec/phases.yaml``."""

from __future__ import annotations

from typing import Any

from .. import handlers
from ..errors import SpecError
from ..rows import Row, plain
from ..spec import Spec

NAME = "phases"
FILES = ("phases.yaml",)
COUNT = 159
UNDOCUMENTED = "undocumented"


def load(spec: Spec) -> Any:
    """The rows as they stand in the file, checked."""
    check(spec)
    return spec.load(FILES[0])["phases"]


def rows(spec: Spec) -> list[Row]:
    """One row a phase; an undocumented one is called by its number."""
    out = []
    table = load(spec)
    for number, row in enumerate(table):
        named = row["name"] != UNDOCUMENTED
        out.append(Row(row["name"] if named else f"phase {number}", plain(row), f"spec/{FILES[0]}", table.line_of(number)))
    return out


def counts(spec: Spec) -> dict[str, int]:
    """Phases, and those that do something."""
    rows = load(spec)
    return {"phases": len(rows), "phases with a function": sum(1 for row in rows if row["function"])}


def check(spec: Spec) -> None:
    """Numbering, gates and order.

    Raises:
        SpecError: the first row that breaks one of them.
    """
    data = spec.load(FILES[0])
    path = spec.path(FILES[0])
    rows = data["phases"]
    if len(rows) != COUNT:
        raise SpecError(path, data.line_of("phases"), f"phases: there are {len(rows)} rows, not {COUNT}")
    places: dict[str, list[int]] = {}
    names: set[str] = set()
    for number, row in enumerate(rows):
        line = rows.line_of(number)
        if row["index"] != number:
            raise SpecError(path, line, f"{row['name']}: index {row['index']} stands where {number} is expected")
        if row["name"] != UNDOCUMENTED and row["name"] in names:
            raise SpecError(path, line, f"{row['name']}: another phase has this name")
        names.add(row["name"])
        if (row["name"] != UNDOCUMENTED or row["function"]) and not ("source" in row and "doc" in row):
            raise SpecError(path, line, f"{row['name']}: phase {number} needs a source and a doc")
        if row["required"] and (row["min_level"] or not row["function"]):
            raise SpecError(path, line, f"{row['name']}: phase {number} is required but does not run at every level")
        if row["function"]:
            if row["function"] not in handlers.passes():
                message = f"{row['name']}: phase {number}: no registry of passes has the function '{row['function']}'"
                raise SpecError(path, line, message)
            places.setdefault(row["function"], []).append(number)
    for number, rule in enumerate(data["constraints"]):
        line = data["constraints"].line_of(number)
        for side in ("before", "after"):
            if rule[side] not in places:
                raise SpecError(path, line, f"constraints: no phase runs '{rule[side]}'")
        if max(places[rule["before"]]) >= min(places[rule["after"]]):
            raise SpecError(path, line, f"constraints: {rule['before']} must come before {rule['after']}: {rule['reason']}")
