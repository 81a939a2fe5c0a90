"""``oric_tables/knobs.py``: documented defaults of knobs."""

from __future__ import annotations

from ..render import header
from ..spec import Spec
from ..tables import knobs


def render(spec: Spec) -> dict[str, str]:
    """Render the defaults."""
    text = header("#", "generator/oricgen/outputs/knobs.py", [f"spec/{knobs.FILES[0]}"])
    text += '"""Defaults of knobs, by number."""\n\nfrom typing import Any, Final\n\n'
    text += f"DEFAULTS: Final[dict[int, Any]] = {knobs.defaults(spec)!r}\n"
    return {"oric_tables/knobs.py": text}
