"""``flat/schema.md``: what every column of every file of the specification is, from the schemas."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..spec import Spec

_MODELINE = re.compile(r"# yaml-language-server: \$schema=\S*?(\w+)\.schema\.json")
_TYPES = {
    "string": "text", "integer": "integer", "number": "number", "boolean": "true or false", "array": "list", "object": "mapping",
    "null": "null",
}  # fmt: skip
_SHARED = "#/$defs/"
_BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "multipleOf": "a multiple of {}",
    "minLength": "{} characters or more",
    "maxLength": "{} characters at most",
    "minItems": "{} items or more",
    "maxItems": "{} items at most",
    "minProperties": "{} entries or more",
    "uniqueItems": "each item once",
}
_INTRODUCTION = """\
# Columns of the specification

Every file of `spec/` is checked against the JSON Schema that its first line names; an editor with YAML schemas completes and
explains columns by it. This page has the same for readers. `NAME` stands for a name that the file chooses, `[]` for each item of
a list; **bold** columns must be there.
"""


class Column(NamedTuple):
    """A column by its path; ``values``: what may stand there."""

    path: str
    required: bool
    values: str
    description: str


def render(spec: Spec) -> dict[str, str]:
    """Render the page."""
    used: dict[str, list[str]] = {}
    for path in sorted(spec.root.rglob("*.yaml")):
        with path.open(encoding="utf-8") as file:
            found = _MODELINE.match(file.readline())
        if found is not None:
            used.setdefault(found[1], []).append(path.relative_to(spec.root).as_posix())
    parts = [_section(path, used.get(path.name.split(".")[0], [])) for path in sorted((spec.root / "schema").glob("*.json"))]
    return {"flat/schema.md": "\n".join([_INTRODUCTION, *parts])}


def _section(path: Path, files: list[str]) -> str:
    schema = json.loads(path.read_text(encoding="utf-8"))
    lines = [f"## {schema['title']}", "", f"`{path.name}`, of {', '.join(f'`spec/{name}`' for name in files)}", ""]
    lines += _table(columns(schema, ""))
    for name, shared in schema.get("$defs", {}).items():
        lines += [f"`{name}`: {_sentence(shared)}", "", *_table(columns(shared, ""))]
    return "\n".join(lines)


def _sentence(schema: Mapping[str, Any]) -> str:
    return "; ".join(part for part in (schema.get("description", ""), _values(schema)) if part)


def _table(found: Iterator[Column]) -> list[str]:
    lines = [
        f"| {f'**`{c.path}`**' if c.required else f'`{c.path}`'} | {_cell(c.values)} | {_cell(c.description)} |" for c in found
    ]
    return ["| column | values | |", "| --- | --- | --- |", *lines, ""] if lines else []


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def columns(schema: Mapping[str, Any], path: str) -> Iterator[Column]:
    """The columns below a schema, in its order; those of a shared part stand there."""
    required = set(schema.get("required", ()))
    for name, column in schema.get("properties", {}).items():
        place = f"{path}.{name}" if path else name
        yield Column(place, name in required, _values(column), column.get("description", ""))
        yield from columns(column, place)
    named = dict(schema.get("patternProperties", {}))
    if isinstance(schema.get("additionalProperties"), dict):
        named["NAME"] = schema["additionalProperties"]
    for name, column in named.items():
        place = f"{path}.{'NAME' if name == 'NAME' else name}" if path else name
        if column.get("description") or not _nested(column):
            yield Column(place, False, _values(column), column.get("description", ""))
        yield from columns(column, place)
    if isinstance(schema.get("items"), dict):
        yield from columns(schema["items"], f"{path}[]")
    for key in ("oneOf", "anyOf", "allOf"):
        for branch in schema.get(key, ()):
            yield from columns(branch, path)


def _nested(schema: Mapping[str, Any]) -> bool:
    return any(key in schema for key in ("properties", "patternProperties", "items")) or isinstance(
        schema.get("additionalProperties"), dict
    )


def _values(schema: Mapping[str, Any]) -> str:
    """What may stand there, in words."""
    if "$ref" in schema:
        return f"as `{schema['$ref'].removeprefix(_SHARED)}`"
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{value if isinstance(value, str) else json.dumps(value)}`" for value in schema["enum"])
    for key in ("oneOf", "anyOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(filter(None, map(_values, schema[key]))))
    kinds = schema.get("type", [])
    said = [" or ".join(_TYPES[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds))]
    if isinstance(schema.get("items"), dict) and (item := _values(schema["items"])):
        said[0] = f"{said[0]} of {item}" if said[0] else item
    if "pattern" in schema:
        said.append(schema.get("patternErrorMessage", f"`{schema['pattern']}`"))
    said += [text.format(schema[key]) for key, text in _BOUNDS.items() if key in schema]
    return ", ".join(part for part in said if part)
