"""``oric_tables/targets.py``: the SM targets."""

from __future__ import annotations

from ..render import template
from ..spec import Spec
from ..targets import isa_names, resolve


def render(spec: Spec) -> dict[str, str]:
    """Render the target table."""
    isas = isa_names(spec)
    return {"oric_tables/targets.py": template("targets.py.j2", targets=resolve(spec), isas=isas)}
