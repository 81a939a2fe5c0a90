"""``oric_tables/options.py``: the command-line options."""

from __future__ import annotations

from ..errors import SpecError
from ..render import template
from ..spec import Spec


def render(spec: Spec) -> dict[str, str]:
    """Render the option table.

    Raises:
        SpecError: two options with the same spelling.
    """
    rows = spec.load("options.yaml")["options"]
    owner: dict[str, str] = {}
    for name, row in rows.items():
        for spelling in dict.fromkeys((name, row.get("short", name))):
            if spelling in owner:
                message = f"{name}: '-{spelling}' is already a spelling of {owner[spelling]}"
                raise SpecError(spec.path("options.yaml"), rows.line_of(name), message)
            owner[spelling] = name
    return {"oric_tables/options.py": template("options.py.j2", rows=rows, owner=owner)}
