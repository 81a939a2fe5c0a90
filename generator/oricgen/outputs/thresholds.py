"""``oric_tables/thresholds.py`` and ``c/tables/thresholds.h``: the thresholds of policies."""

from __future__ import annotations

from ..render import template
from ..spec import Spec
from ..tables import thresholds


def render(spec: Spec) -> dict[str, str]:
    """Render both, from the same rows."""
    rows = [row.values for row in thresholds.load(spec)["thresholds"]]
    return {
        "oric_tables/thresholds.py": template("thresholds.py.j2", rows=rows),
        "c/tables/thresholds.h": template("thresholds.h.j2", rows=[r for r in rows if thresholds.read_by_c(r["reader"])]),
    }
