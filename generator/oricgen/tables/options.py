"""Command-line options: ``spec/options.yaml``."""

from __future__ import annotations

from typing import Any

from ..rows import Row
from ..spec import Spec
from ._shared import entries

NAME = "options"
FILES = ("options.yaml",)


def load(spec: Spec) -> Any:
    """The rows as they stand in the file."""
    return spec.load(FILES[0])["options"]


def rows(spec: Spec) -> list[Row]:
    """One row an option, called by its long name (``gpu-name``)."""
    return entries(spec.load(FILES[0]), "options", f"spec/{FILES[0]}")


def counts(spec: Spec) -> dict[str, int]:
    """How many there are."""
    return {"options": len(load(spec))}


def check(spec: Spec) -> None:
    """JSON Schema says all that there is to say; outputs check the references."""
