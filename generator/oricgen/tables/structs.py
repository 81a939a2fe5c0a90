"""Memory images that Python and C share: ``spec/structs.yaml``."""

from __future__ import annotations

from typing import Any

from ..rows import Row, plain
from ..spec import Spec

NAME = "structs"
FILES = ("structs.yaml",)


def load(spec: Spec) -> Any:
    """The structs as they stand in the file."""
    return spec.load(FILES[0])["structs"]


def rows(spec: Spec) -> list[Row]:
    """One row a struct (``oric_block``) and one a field (``oric_block.head``)."""
    out = []
    table, path = load(spec), f"spec/{FILES[0]}"
    for name, struct in table.items():
        columns = {key: plain(value) for key, value in struct.items() if key != "fields"}
        out.append(Row(name, columns, path, table.line_of(name)))
        fields = struct["fields"]
        for number, field in enumerate(fields):
            values = {key: value for key, value in field.items() if key != "name"}
            out.append(Row(f"{name}.{field['name']}", values, path, fields.line_of(number)))
    return out


def counts(spec: Spec) -> dict[str, int]:
    """Structs, fields, and those at a documented offset."""
    fields = [field for struct in load(spec).values() for field in struct["fields"]]
    documented = sum(1 for field in fields if field["origin"] == "document")
    return {"structs": len(load(spec)), "fields": len(fields), "fields of the documents": documented}


def check(spec: Spec) -> None:
    """The output that lays the fields out checks them."""
