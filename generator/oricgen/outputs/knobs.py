"""``oric_tables/knobs.py``: documented defaults of knobs."""

from __future__ import annotations

from ..render import header
from ..spec import Spec
from ..tables import knobs


def render(spec: Spec) -> dict[str, str]:
    """Render the defaults."""
    text = header("#", "generator/oricgen/outputs/knobs.py", [f"spec/{knobs.FILES[0]}"])
    text += '"""Defaults of knobs by number, and of settings by name."""\n\nfrom typing import Any, Final\n\n'
    text += f"CONTEXT: Final[dict[str, int]] = {knobs.settings(spec)!r}\n"
    text += "# Name, default, the module that reads it and what it is, of every knob and setting.\n"
    text += f"ROWS: Final[tuple[tuple[str, str, str, str], ...]] = {knobs.listed(spec)!r}\n"
    text += f"DEFAULTS: Final[dict[int, Any]] = {knobs.defaults(spec)!r}\n"
    return {"oric_tables/knobs.py": text}
