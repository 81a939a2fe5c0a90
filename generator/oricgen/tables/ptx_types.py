"""PTX types, state spaces and versions: ``spec/ptx/types.yaml``."""

from __future__ import annotations

from typing import Any

from ..errors import Mistakes, SpecError
from ..ptx import load_types
from ..rows import Row, plain
from ..spec import Spec
from ._shared import entries

NAME = "ptx_types"
FILES = ("ptx/types.yaml",)


def load(spec: Spec) -> Any:
    """The file as it stands."""
    return load_types(spec)


def rows(spec: Spec) -> list[Row]:
    """One row a type (``f32``); what is a list or a number in the file is one row with the column ``values`` (``spaces``)."""
    data, path = load(spec), f"spec/{FILES[0]}"
    out = entries(data, "types", path)
    for key, value in data.items():
        if key not in ("types", "source"):
            columns = {"values": plain(value)} if isinstance(value, list | int) else plain(value)
            out.append(Row(key, columns, path, data.line_of(key)))
    return out


def counts(spec: Spec) -> dict[str, int]:
    """Types, spaces, versions."""
    data = load(spec)
    return {
        "fundamental types": len(data["types"]),
        "state spaces": len(data["spaces"]),
        "PTX versions": len(data["versions"]["major_minor"]),
    }


def check(spec: Spec) -> None:
    """What the file names of itself is there; the signatures check what they use of it.

    Raises:
        SpecError: a state space, or a word of .target, that is none.
    """
    data = load(spec)
    options = data["target_options"]
    lists = [("generic", data["generic"], data["spaces"], "state space")]
    lists += [
        ("vector_limits", row["spaces"], ["", *data["spaces"]], "state space") for row in data["vector_limits"] if "spaces" in row
    ]
    lists += [
        ("target_options", row["excludes"], [*options], "word of target_options") for row in options.values() if "excludes" in row
    ]
    with Mistakes() as each:
        for section, words, known, what in lists:
            for at, word in enumerate(words):
                with each:
                    if word not in known:
                        raise SpecError(spec.path(FILES[0]), words.line_of(at), f"{section}: '{word}' is no {what}")
