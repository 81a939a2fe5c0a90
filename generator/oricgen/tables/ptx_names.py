"""PTX instructions that are known by name only: ``spec/ptx/names.yaml``."""

from __future__ import annotations

from typing import Any

from ..rows import Row
from ..spec import Spec
from ._shared import entries

NAME = "ptx_names"
FILES = ("ptx/names.yaml",)


def load(spec: Spec) -> Any:
    """The rows as they stand in the file."""
    return spec.load(FILES[0], "ptx_names")["names"]


def rows(spec: Spec) -> list[Row]:
    """One row a name (``wmma.load``)."""
    return entries(spec.load(FILES[0], "ptx_names"), "names", f"spec/{FILES[0]}")


def counts(spec: Spec) -> dict[str, int]:
    """How many there are."""
    return {"names without signatures": len(load(spec))}


def check(spec: Spec) -> None:
    """JSON Schema says all that there is to say; outputs check the references."""
