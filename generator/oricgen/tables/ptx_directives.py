"""PTX performance directives: ``spec/ptx/directives.yaml``."""

from __future__ import annotations

from typing import Any

from ..errors import SpecError
from ..rows import Row
from ..spec import Spec
from ._shared import entries

NAME = "ptx_directives"
FILES = ("ptx/directives.yaml",)


def load(spec: Spec) -> Any:
    """The rows as they stand in the file.

    Raises:
        SpecError: a directive excludes, needs or wants one that is not in the file.
    """
    rows = spec.load(FILES[0], "ptx_directives")["directives"]
    for name, row in rows.items():
        for column in ("excludes", "needs", "wants"):
            for other in row.get(column, ()):
                if other not in rows:
                    raise SpecError(spec.path(FILES[0]), row.line_of(column), f"{name}: {column} {other}, which is no directive")
    return rows


def rows(spec: Spec) -> list[Row]:
    """One row a directive, called by its name without the dot (``maxntid``)."""
    return entries(spec.load(FILES[0], "ptx_directives"), "directives", f"spec/{FILES[0]}")


def counts(spec: Spec) -> dict[str, int]:
    """How many there are."""
    return {"performance directives": len(load(spec))}


def check(spec: Spec) -> None:
    """Directives refer to each other by names that exist."""
    load(spec)
