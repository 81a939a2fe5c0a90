"""``oric_tables/registers.py`` and ``c/tables/registers.h``: files, types and sentinels of registers."""

from __future__ import annotations

from ..isa.model import KINDS
from ..render import template
from ..spec import Spec
from ..tables import registers


def render(spec: Spec) -> dict[str, str]:
    """Render both, from the same rows."""
    found = registers.load(spec)
    files = [row.values for row in found["files"]]
    unit_of = {f["file"]: f["unit"] for f in files if f["unit"] != "none"}
    types = [row.values for row in found["types"]]
    values = {
        "files": files,
        "types": types,
        "fixed": {row.key: row.values for row in found["fixed"]},
        "units": sorted(unit_of, key=lambda name: unit_of[name]),
        # A type whose file has no unit of its own lives where its letters say; those without letters are never allocated.
        "type_units": [unit_of.get(t["file"], unit_of.get(t["display"], 0)) for t in types],
        "unit_kinds": [KINDS[f["kind"]] for f in sorted(files, key=lambda f: str(f["unit"])) if f["unit"] != "none"],
        "alignments": registers.alignments(found),
        "flags": [row.values for row in found["flags"]],
        "convention": {row.values["role"]: registers.numbers(row) for row in found["convention"]},
        "passed_flags": registers.passed_over(found, "flag", "flags", "mask"),
        "passed_phis": registers.passed_over(found, "phi", "types", "type"),
        "predicates": registers.predicates_in_front(found),
        "pair_modes": [row.values for row in found["pair_modes"]],
        "messages": {row.values["name"]: row.values["text"] for row in found["messages"]},
        "numbers": {row.values["name"]: row.values["number"] for row in found["messages"] if "number" in row.values},
    }
    return {
        "oric_tables/registers.py": template("registers.py.j2", **values),
        "c/tables/registers.h": template("registers.h.j2", **values),
        "c/tables/registers.c": template("registers.c.j2", **values),
    }
