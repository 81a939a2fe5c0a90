"""``oric_tables/phases.py``: the rows of the phase table."""

from __future__ import annotations

from ..render import template
from ..spec import Spec
from ..tables import knobs, phases


def render(spec: Spec) -> dict[str, str]:
    """Render the phase table."""
    text = template(
        "phases.py.j2",
        rows=phases.load(spec),
        analyses=phases.analyses(spec),
        recipes=phases.recipes(spec),
        levels=knobs.counts(spec)["NvOpt levels"],
    )
    return {"oric_tables/phases.py": text}
