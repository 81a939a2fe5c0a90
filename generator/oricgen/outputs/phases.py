"""``oric_tables/phases.py``: the rows of the phase table."""

from __future__ import annotations

from ..errors import SpecError
from ..render import template
from ..spec import Spec

FILE = "phases.yaml"
COUNT = 159
UNDOCUMENTED = "undocumented"


def render(spec: Spec) -> dict[str, str]:
    """Render the phase table after checking its numbering, its gates and its order."""
    data = spec.load(FILE)
    path = spec.path(FILE)
    rows = data["phases"]
    if len(rows) != COUNT:
        raise SpecError(path, data.line_of("phases"), f"there are {len(rows)} phases, not {COUNT}")
    places: dict[str, list[int]] = {}
    names: set[str] = set()
    for number, row in enumerate(rows):
        line = rows.line_of(number)
        if row["index"] != number:
            raise SpecError(path, line, f"phase {row['index']} stands where {number} is expected")
        if row["name"] != UNDOCUMENTED and row["name"] in names:
            raise SpecError(path, line, f"two phases are called {row['name']}")
        names.add(row["name"])
        if (row["name"] != UNDOCUMENTED or row["function"]) and not ("source" in row and "doc" in row):
            raise SpecError(path, line, f"phase {number} needs a source and a doc")
        if row["required"] and (row["min_level"] or not row["function"]):
            raise SpecError(path, line, f"phase {number} is required but does not run at every level")
        if row["function"]:
            places.setdefault(row["function"], []).append(number)
    for number, rule in enumerate(data["constraints"]):
        line = data["constraints"].line_of(number)
        for side in ("before", "after"):
            if rule[side] not in places:
                raise SpecError(path, line, f"no phase runs '{rule[side]}'")
        if max(places[rule["before"]]) >= min(places[rule["after"]]):
            raise SpecError(path, line, f"{rule['before']} must come before {rule['after']}: {rule['reason']}")
    return {"oric_tables/phases.py": template("phases.py.j2", rows=rows)}
