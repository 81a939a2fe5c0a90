"""``oric_tables/ocg_records.py``: routes of calls of intrinsics, and what fills the operand buffer."""

from __future__ import annotations

from ..render import template
from ..spec import Spec
from ..tables import intrinsics, ocg_records


def render(spec: Spec) -> dict[str, str]:
    """Render the tables."""
    model = intrinsics.load(spec)
    text = template(
        "ocg_records.py.j2",
        records=ocg_records.load(spec),
        default=ocg_records.DEFAULT,
        ranges=[row.values for row in model.router["ranges"]],
        parts=[row.values for row in model.router["buffer"]],
        words=[row.values for row in model.router["control_words"]],
        table=model.table,
    )
    return {"oric_tables/ocg_records.py": text}
