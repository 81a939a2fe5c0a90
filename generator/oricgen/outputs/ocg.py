"""``oric_tables/ocg.py``: what is checked of calls of intrinsics, and which instructions they become."""

from __future__ import annotations

from ..render import template
from ..spec import Spec
from ..tables import intrinsics, ocg


def render(spec: Spec) -> dict[str, str]:
    """Render the functions of all operations."""
    messages = [
        (row.values["message"], row.values["id"], row.values["text"], row.values.get("severity", "error"))
        for row in intrinsics.load(spec).router["messages"]
    ]
    return {
        "oric_tables/ocg.py": template(
            "ocg.py.j2", operations=ocg.load(spec).values(), messages=messages, overrides=ocg.overrides(spec)
        )
    }
