"""``oric_tables/named.py``: the kind of row that tables and the modules above them are made of; it depends on no table."""

from __future__ import annotations

from ..render import template
from ..spec import Spec


def render(spec: Spec) -> dict[str, str]:
    """Render the class."""
    del spec
    return {"oric_tables/named.py": template("named.py.j2")}
