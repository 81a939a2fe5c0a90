"""``oric_tables/phases.py``: the rows of the phase table."""

from __future__ import annotations

from ..render import template
from ..spec import Spec
from ..tables import knobs, phases, progress


def render(spec: Spec) -> dict[str, str]:
    """Render the phase table, with what the counter of progress is there."""
    text = template(
        "phases.py.j2",
        rows=list(zip(phases.load(spec), progress.steps(spec), strict=True)),
        gates=[row.values for row in progress.load(spec)["gates"]],
        analyses=phases.analyses(spec),
        recipes=phases.recipes(spec),
        levels=knobs.counts(spec)["NvOpt levels"],
    )
    return {"oric_tables/phases.py": text}
