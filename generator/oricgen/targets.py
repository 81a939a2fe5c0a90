"""The targets that code can be made for; all others are in :mod:`oricgen.tables.targets` too."""

from __future__ import annotations

from .spec import Spec
from .tables.targets import Target, isa_names, load

__all__ = ["Target", "isa_names", "resolve"]


def resolve(spec: Spec) -> list[Target]:
    """The targets with code, in file order."""
    return load(spec).with_code
