"""PTX pragmas, attributes and opaque variables: ``spec/ptx/declarations.yaml``."""

from __future__ import annotations

from typing import Any

from ..errors import SpecError
from ..rows import Row
from ..spec import Spec
from ._shared import entries

NAME = "ptx_declarations"
FILES = ("ptx/declarations.yaml",)


def load(spec: Spec) -> Any:
    """The file as it stands."""
    return spec.load(FILES[0], "ptx_declarations")


def rows(spec: Spec) -> list[Row]:
    """One row a pragma (``nounroll``, its first word), an attribute, an opaque type; one for the words that are values."""
    data, path = load(spec), f"spec/{FILES[0]}"
    out = entries(data, "pragmas", path) + entries(data, "attributes", path) + entries(data, "opaque", path)
    return [*out, Row("values", {"values": list(data["values"])}, path, data.line_of("values"))]


def counts(spec: Spec) -> dict[str, int]:
    """How many there are."""
    data = load(spec)
    return {"pragmas": len(data["pragmas"]), "attributes": len(data["attributes"]), "opaque types": len(data["opaque"])}


def check(spec: Spec) -> None:
    """The opaque types are those of types.yaml.

    Raises:
        SpecError: one of them is no opaque type there.
    """
    types = spec.load("ptx/types.yaml", "ptx_types")["types"]
    opaque = load(spec)["opaque"]
    for name in opaque:
        if name not in types or types[name]["kind"] != "opaque":
            raise SpecError(spec.path(FILES[0]), opaque.line_of(name), f"{name}: is no opaque type of types.yaml")
