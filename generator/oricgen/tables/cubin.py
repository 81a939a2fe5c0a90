"""The cubin container: ``spec/cubin.yaml``, layouts with what they inherit."""

from __future__ import annotations

from typing import Any

from ..errors import SpecError
from ..outputs.cubin import layout_columns
from ..rows import Row, plain
from ..spec import Spec
from ..strictyaml import Map, Seq
from . import ptx_declarations
from ._shared import entries, numbered

NAME = "cubin"
FILES = ("cubin.yaml",)
_LISTS = {
    "attributes": "attribute", "relocations": "relocation", "compat_attributes": "compat record",
    "reserved_shared_symbols": "reserved symbol",
}  # fmt: skip
_MAPS = {
    "sections": "section", "symbols": "symbol", "section_types": "section type", "record_formats": "record format",
    "symbol_types": "symbol type", "symbol_spaces": "symbol space", "code_records": "code record",
}  # fmt: skip


def load(spec: Spec) -> Any:
    """The file as it stands."""
    return spec.load(FILES[0])


def rows(spec: Spec) -> list[Row]:
    """Rows are called by their group: ``attribute REGCOUNT``, ``section text``, ``layout sm_90`` ...; single values by name."""
    data, path = load(spec), f"spec/{FILES[0]}"
    out: list[Row] = []
    for key, value in data.items():
        if key in _LISTS:
            out += [_named(row, _LISTS[key], path, value.line_of(i)) for i, row in enumerate(value)]
        elif key in _MAPS:
            out += entries(data, key, path, f"{_MAPS[key]} ")
        elif key == "header_forms":
            out += [Row(f"header form {r['osabi']:#x}", plain(r), path, value.line_of(i)) for i, r in enumerate(value)]
        elif key == "layouts":
            out += [Row(f"layout {name}", _layout(spec, data, name), path, value.line_of(name)) for name in value]
        elif key != "source":
            columns = plain(value) if isinstance(value, Map) else {"value": plain(value)}
            out.append(Row(key, columns, path, data.line_of(key)))
    return numbered(out)


def _named(row: Map, word: str, path: str, line: int) -> Row:
    return Row(f"{word} {row['name']}", {key: plain(value) for key, value in row.items() if key != "name"}, path, line)


def _layout(spec: Spec, data: Map, name: str) -> dict[str, Any]:
    columns = layout_columns(data, spec.path(FILES[0]), name)
    return {key: plain(value) for key, value in columns.items() if key not in ("inherits", "replace_records")}


def counts(spec: Spec) -> dict[str, int]:
    """What the container is made of."""
    data = load(spec)
    known = sum(1 for row in data["attributes"] if "layout" in row)
    sizes: dict[str, Seq | Map] = {"attributes": data["attributes"], "relocations": data["relocations"]}
    sizes |= {"kinds of sections": data["sections"], "layouts": data["layouts"]}
    return {**{name: len(rows) for name, rows in sizes.items()}, "attributes with a payload": known}


def check(spec: Spec) -> None:
    """Names of fields of PTX; the output that compiles the layouts checks these.

    Raises:
        SpecError: no declaration has a field of that name.
    """
    fields = load(spec)["sampler_fields"]
    known = {name for row in ptx_declarations.load(spec)["opaque"].values() for name in row["fields"]}
    for at, name in enumerate(fields):
        if name not in known:
            raise SpecError(spec.path(FILES[0]), fields.line_of(at), f"sampler_fields: no opaque type has a field '{name}'")
