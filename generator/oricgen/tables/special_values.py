"""Which system registers are uniform or stable: ``spec/special_values.yaml``."""

from __future__ import annotations

from typing import Any

from ..rows import Row
from ..spec import Spec

NAME = "special_values"
FILES = ("special_values.yaml",)
_KINDS = ("uniform", "stable")


def load(spec: Spec) -> Any:
    """Kind (``uniform``, ``stable``) -> number -> name."""
    data = spec.load(FILES[0])
    return {kind: data[kind] for kind in _KINDS}


def rows(spec: Spec) -> list[Row]:
    """One row a register (``SR_TID.X``)."""
    data = load(spec)
    return [
        Row(name, {"number": int(number), "kind": kind}, f"spec/{FILES[0]}", names.line_of(number))
        for kind, names in data.items()
        for number, name in names.items()
    ]


def counts(spec: Spec) -> dict[str, int]:
    """Registers by kind."""
    return {f"{kind} registers": len(names) for kind, names in load(spec).items()}


def check(spec: Spec) -> None:
    """The output that renders it checks the names."""
