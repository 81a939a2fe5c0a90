"""PTX performance directives: ``spec/ptx/directives.yaml``."""

from __future__ import annotations

from typing import Any

from ..rows import Row
from ..spec import Spec
from ._shared import entries

NAME = "ptx_directives"
FILES = ("ptx/directives.yaml",)


def load(spec: Spec) -> Any:
    """The rows as they stand in the file."""
    return spec.load(FILES[0], "ptx_directives")["directives"]


def rows(spec: Spec) -> list[Row]:
    """One row a directive, called by its name without the dot (``maxntid``)."""
    return entries(spec.load(FILES[0], "ptx_directives"), "directives", f"spec/{FILES[0]}")


def counts(spec: Spec) -> dict[str, int]:
    """How many there are."""
    return {"performance directives": len(load(spec))}


def check(spec: Spec) -> None:
    """JSON Schema says all that there is to say; outputs check the references."""
