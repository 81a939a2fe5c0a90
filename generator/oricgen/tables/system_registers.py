"""What system registers hold in the simulator: ``spec/system_registers.yaml``."""

from __future__ import annotations

from typing import Any

from ..rows import Row
from ..spec import Spec
from ._shared import entries

NAME = "system_registers"
FILES = ("system_registers.yaml",)


def load(spec: Spec) -> Any:
    """Name -> C expression."""
    return spec.load(FILES[0])["meanings"]


def rows(spec: Spec) -> list[Row]:
    """One row a register (``SR_TID.X``)."""
    return entries(spec.load(FILES[0]), "meanings", f"spec/{FILES[0]}")


def counts(spec: Spec) -> dict[str, int]:
    """How many there are."""
    return {"registers with a meaning": len(load(spec))}


def check(spec: Spec) -> None:
    """The simulator's output checks that the names exist."""
