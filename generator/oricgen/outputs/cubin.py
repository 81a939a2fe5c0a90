"""``oric_tables/cubin.py``: header forms, attributes and relocations of the cubin container."""

from __future__ import annotations

from ..errors import SpecError
from ..render import template
from ..spec import Spec
from ..strictyaml import Seq

_FORMATS = {"flag": ("none",), "value": ("byte", "half")}


def render(spec: Spec) -> dict[str, str]:
    """Render the container's tables."""
    data = spec.load("cubin.yaml")
    path = spec.path("cubin.yaml")
    for name in ("attributes", "relocations"):
        _unique(data[name], path, name)
    for index, row in enumerate(data["attributes"]):
        if "layout" in row and row["format"] not in _FORMATS.get(row["layout"], ("sized",)):
            line = data["attributes"].line_of(index)
            raise SpecError(path, line, f"{row['name']}: layout '{row['layout']}' does not go with format '{row['format']}'")
    return {"oric_tables/cubin.py": template("cubin.py.j2", data=data)}


def _unique(rows: Seq, path: object, where: str) -> None:
    for key in ("code", "name"):
        seen: dict[object, int] = {}
        for index, row in enumerate(rows):
            if row[key] in seen:
                raise SpecError(str(path), rows.line_of(index), f"{where}: {key} {row[key]} is used twice (first on line {seen[row[key]]})")
            seen[row[key]] = rows.line_of(index)
