"""``oric_tables/memory_spaces.py``: the classification of memory operands."""

from __future__ import annotations

from ..render import template
from ..spec import Spec
from ..tables import memory_spaces


def render(spec: Spec) -> dict[str, str]:
    """Render the classification."""
    model = memory_spaces.load(spec)
    return {"oric_tables/memory_spaces.py": template("memory_spaces.py.j2", model=model, by_opcode=memory_spaces.BY_OPCODE)}
