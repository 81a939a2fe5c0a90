"""Editors that know YAML schemas complete, explain and check every file of the specification."""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from oricgen.schema import KEYWORDS

from tests.generator import planted

ROOT = Path(__file__).resolve().parents[2]
SPEC = ROOT / "spec"
FILES = sorted(p.relative_to(ROOT).as_posix() for p in SPEC.rglob("*.yaml"))
SCHEMAS = sorted((SPEC / "schema").glob("*.json"))
_MODELINE = re.compile(r"# yaml-language-server: \$schema=(\S+)\n")


def schema_of(name: str) -> Path:
    """The schema that the first line of a file names."""
    match = _MODELINE.match((ROOT / name).read_text(encoding="utf-8"))
    assert match, f"{name}: the first line must be '# yaml-language-server: $schema=PATH'"
    return ((ROOT / name).parent / match[1]).resolve()


@pytest.mark.parametrize("name", FILES)
def test_the_first_line_names_the_schema_that_the_generator_checks_against(name: str) -> None:
    spec, _ = planted.sound()
    stem = spec.schemas.get(name.removeprefix("spec/"))
    assert stem is not None, f"nothing reads {name}"
    assert schema_of(name) == SPEC / "schema" / f"{stem}.schema.json"


@pytest.mark.parametrize("name", FILES)
def test_the_settings_map_the_file_to_its_schema(name: str) -> None:
    mapped = json.loads((ROOT / ".vscode/settings.json").read_text(encoding="utf-8"))["yaml.schemas"]
    fitting = [
        schema
        for schema, patterns in mapped.items()
        if any(fnmatch.fnmatch(name, p) for p in ([patterns] if isinstance(patterns, str) else patterns))
    ]
    assert [(ROOT / schema).resolve() for schema in fitting] == [schema_of(name)], "see .vscode/settings.json"


def test_every_schema_is_used() -> None:
    assert {schema_of(name) for name in FILES} == set(SCHEMAS)


def _places(schema: Any, where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """All schemas inside a schema with the way to them; `properties` and the like hold schemas under free names."""
    if not isinstance(schema, dict):
        return
    yield where, schema
    for key, value in schema.items():
        if key in {"properties", "patternProperties", "$defs"}:
            for name, inner in value.items():
                yield from _places(inner, f"{where}/{key}/{name}")
        elif key in {"items", "additionalProperties", "propertyNames", "if", "then", "else"}:
            yield from _places(value, f"{where}/{key}")
        elif key in {"oneOf", "anyOf", "allOf"}:
            for number, inner in enumerate(value):
                yield from _places(inner, f"{where}/{key}/{number}")


@pytest.mark.parametrize("path", SCHEMAS, ids=[p.name for p in SCHEMAS])
def test_every_property_has_a_description(path: Path) -> None:
    schema = json.loads(path.read_text(encoding="utf-8"))
    missing = []
    for where, inner in _places(schema, ""):
        for name, value in inner.get("properties", {}).items():
            definition = schema.get("$defs", {}).get(value.get("$ref", "").rpartition("/")[2], {})
            if not value.get("description") and not definition.get("description"):
                missing.append(f"{where}/properties/{name}")
    assert not missing
    assert schema.get("title")


@pytest.mark.parametrize("path", SCHEMAS, ids=[p.name for p in SCHEMAS])
def test_schemas_say_nothing_that_editors_do_not_know(path: Path) -> None:
    """Keywords that draft-07 and 2020-12 share: what yaml-language-server understands whatever its version."""
    schema = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft7Validator.check_schema(schema)
    for where, inner in _places(schema, ""):
        assert set(inner) <= KEYWORDS, where
        target = inner.get("$ref", "")
        assert not target or (target.startswith("#/$defs/") and target.removeprefix("#/$defs/") in schema["$defs"]), where


def test_text_files_are_as_the_editor_settings_say() -> None:
    for name in FILES:
        text = (ROOT / name).read_text(encoding="utf-8")
        assert text.endswith("\n")
        assert not re.search(r"[ \t]\n|\r", text), name
