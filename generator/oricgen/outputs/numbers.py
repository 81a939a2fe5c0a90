"""``oric_tables/numbers.py`` and ``c/tables/numbers.h``: numbers that C and Python share."""

from __future__ import annotations

from ..render import template
from ..spec import Spec
from ..tables import numbers

_MOST = 0x7FFFFFFF  # of an enumeration in C


def render(spec: Spec) -> dict[str, str]:
    """Render both, from the same rows."""
    values = {"groups": numbers.groups(spec), "control": numbers.control(spec), "most": _MOST}
    return {
        "oric_tables/numbers.py": template("numbers.py.j2", **values),
        "c/tables/numbers.h": template("numbers.h.j2", **values),
    }
