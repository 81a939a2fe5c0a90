"""Command-line options and what is said of them together: ``spec/options.yaml``."""

from __future__ import annotations

from typing import Any

from ..rows import Row, plain
from ..spec import Spec
from ._shared import entries, numbered

NAME = "options"
FILES = ("options.yaml",)


def load(spec: Spec) -> Any:
    """The rows as they stand in the file."""
    return spec.load(FILES[0])["options"]


def rows(spec: Spec) -> list[Row]:
    """One row an option, called by its long name (``gpu-name``), and one a check (``check device-debug+opt-level``)."""
    data = spec.load(FILES[0])
    path = f"spec/{FILES[0]}"
    checks = [Row(f"check {'+'.join(check['if'])}", plain(check), path, check.line_of("if")) for check in data["checks"]]
    return [*entries(data, "options", path), *numbered(checks)]


def counts(spec: Spec) -> dict[str, int]:
    """How many there are."""
    data = spec.load(FILES[0])
    return {"options": len(data["options"]), "checks of options": len(data["checks"])}


def check(spec: Spec) -> None:
    """JSON Schema says all that there is to say; outputs check the references."""
