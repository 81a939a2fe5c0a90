"""``oric_tables/__init__.py``: makes the generated tables a package."""

from __future__ import annotations

from ..render import header
from ..spec import Spec


def render(spec: Spec) -> dict[str, str]:
    """Render the package's own file; it depends on nothing."""
    top = header("#", "generator/oricgen/outputs/package.py", ["spec/"])
    return {"oric_tables/__init__.py": f'{top}"""Tables generated from the specification."""\n'}
