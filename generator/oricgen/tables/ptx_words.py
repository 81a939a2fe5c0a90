"""Words of PTX directives, for editors: ``spec/ptx_words.yaml``."""

from __future__ import annotations

from typing import Any

from ..rows import Row
from ..spec import Spec
from ._shared import entries

NAME = "ptx_words"
FILES = ("ptx_words.yaml",)


def load(spec: Spec) -> Any:
    """The rows as they stand in the file."""
    return spec.load(FILES[0], "ptx_words")["words"]


def rows(spec: Spec) -> list[Row]:
    """One row a word, called by its name without the dot (``align``)."""
    return entries(spec.load(FILES[0], "ptx_words"), "words", f"spec/{FILES[0]}")


def counts(spec: Spec) -> dict[str, int]:
    """How many there are."""
    return {"words of directives": len(load(spec))}


def check(spec: Spec) -> None:
    """JSON Schema says all that there is to say."""
