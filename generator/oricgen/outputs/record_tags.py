"""``oric_tables/record_tags.py``: sections of the serialized Code Object, and how its state is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..render import template
from ..rows import Row
from ..spec import Spec
from ..tables import section_tags

_CODES = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i16": "h", "i32": "i", "i64": "q", "ptr": "Q", "u32x85": "85I",
          "char16": "16s"}  # fmt: skip


def render(spec: Spec) -> dict[str, str]:
    """Render the tables."""
    found = section_tags.load(spec)
    groups = ("tags", "wrappers", "own")
    tags = [_tag(row.values, section) for section in groups for row in found[section]]
    return {
        "oric_tables/record_tags.py": template(
            "record_tags.py.j2",
            tags=tags,
            entry=_struct(found["entry"]),
            file=_struct(found["file"]),
            state=[_state(row.values) for row in found["state"]],
            rules={row.values["name"].upper(): row.values["value"] for row in found["rules"]},
            condition=[row.values["tag"] for row in found["tags"] if row.values["when"].startswith("encoded_arch above")],
        )
    }


def _tag(row: Mapping[str, Any], section: str) -> tuple[object, ...]:
    layout = row.get("layout", "none")
    fields, code = (), ""
    if " " in layout and not layout.startswith("struct "):
        parts = [part.split() for part in layout.split(", ")]
        fields, code = tuple(part[1] for part in parts), "".join(_CODES[part[0]] for part in parts)
    form = "fields" if fields else layout
    return row["tag"], row["name"], row.get("group", "own"), form, fields, f"<{code}", row["content"]


def _struct(rows: tuple[Row, ...]) -> tuple[str, tuple[str, ...]]:
    """Code of Python's struct module with the bytes between fields left out, and the names."""
    code, end = "<", 0
    sizes = {"u16": 2, "u32": 4, "u64": 8, "ptr": 8}
    for row in rows:
        kind, offset = row.values["type"], row.values["offset"]
        code += f"{offset - end}x" * (offset > end) + _CODES[kind]
        end = offset + sizes[kind]
    return code, tuple(row.values["field"] for row in rows)


def _state(row: Mapping[str, Any]) -> tuple[object, ...]:
    fields = tuple(row["fields"].items())
    make = tuple(row["fields"]) if row["make"] == "all" else tuple(row["make"])
    return row["class"], row.get("section", ""), bool(row.get("shared", False)), make, fields, tuple(row.get("left_out", {}))
