"""PTX special registers: ``spec/ptx/special_registers.yaml``."""

from __future__ import annotations

from typing import Any

from ..ptx import version
from ..rows import Row
from ..spec import Spec
from ._shared import entries

NAME = "special_registers"
FILES = ("ptx/special_registers.yaml",)


def load(spec: Spec) -> Any:
    """The rows as they stand in the file."""
    return spec.load(FILES[0], "ptx_special_registers")["registers"]


def resolved(spec: Spec) -> dict[str, object]:
    """What the parser knows of each special register, by its name without the percent sign."""
    out: dict[str, object] = {}
    for name, row in load(spec).items():
        gates = (version(row.get("ptx")), row.get("sm", 0), tuple(row.get("older", ())))
        numbers = [str(i) for i in range(row["numbered"])] if "numbered" in row else [""]
        for number in numbers:
            components = row.get("components", ())
            out[row.get("name", name) + number + row.get("suffix", "")] = (row["type"], len(components) or 1, *gates)
            for component in components:
                out[f"{name}.{component}"] = (row["type"], 1, *gates)
    return out


def rows(spec: Spec) -> list[Row]:
    """One row a register, called by its name without the percent sign (``tid``)."""
    return entries(spec.load(FILES[0], "ptx_special_registers"), "registers", f"spec/{FILES[0]}")


def counts(spec: Spec) -> dict[str, int]:
    """How many there are."""
    return {"special registers": len(load(spec))}


def check(spec: Spec) -> None:
    """JSON Schema says all that there is to say; outputs check the references."""
