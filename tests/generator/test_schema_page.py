"""``build/flat/schema.md``: every column of every schema has its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from oricgen.outputs import schema_page

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = sorted((ROOT / "spec/schema").glob("*.json"))


def described(schema: Any) -> set[str]:
    """The descriptions of all columns, wherever they stand."""
    out: set[str] = set()
    if isinstance(schema, dict):
        out |= {column["description"] for column in schema.get("properties", {}).values() if "description" in column}
        for value in schema.values():
            out |= described(value)
    elif isinstance(schema, list):
        for value in schema:
            out |= described(value)
    return out


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name.split(".")[0])
def test_every_column_has_a_line(path: Path) -> None:
    text = (ROOT / "build/flat/schema.md").read_text(encoding="utf-8")
    section = text.partition(f"`{path.name}`, of `spec/")[2].partition("\n## ")[0]
    missing = [said for said in described(json.loads(path.read_text(encoding="utf-8"))) if schema_page._cell(said) not in section]
    assert not missing


def test_what_may_stand_in_a_column() -> None:
    schema = {
        "required": ["a"],
        "properties": {
            "a": {"type": "array", "items": {"type": "object", "properties": {"b": {"enum": ["x", 2], "description": "which"}}}},
            "c": {"oneOf": [{"type": "integer", "minimum": 1, "maximum": 9}, {"const": "none"}]},
            "d": {"additionalProperties": {"$ref": "#/$defs/row"}},
            "e": {"type": "string", "pattern": "^q", "patternErrorMessage": "it begins with q"},
        },
    }
    found = {c.path: (c.required, c.values, c.description) for c in schema_page.columns(schema, "")}
    assert found["a"] == (True, "list of mapping", "")
    assert found["a[].b"] == (False, "`x`, `2`", "which")
    assert found["c"][1] == 'integer, at least 1, at most 9 or `"none"`'
    assert found["d.NAME"][1] == "as `row`"
    assert found["e"][1] == "text, it begins with q"
