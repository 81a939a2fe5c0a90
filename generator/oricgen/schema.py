"""JSON Schema validation of specification files, with the line of the offending entry."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path, PurePath
from typing import Any

import jsonschema

from .errors import SpecError
from .strictyaml import Map, Seq


@cache
def _validator(schema_path: Path) -> Any:
    schema = json.loads(schema_path.read_text(encoding="utf-8"))
    cls = jsonschema.Draft202012Validator
    cls.check_schema(schema)
    return cls(schema)


def validate(data: Map, path: PurePath, schema_path: Path) -> None:
    """Check ``data`` (loaded from ``path``) against the schema file.

    Raises:
        SpecError: for the first violation, in file order.
    """
    errors = list(_validator(schema_path).iter_errors(data))
    if not errors:
        return
    found = [(_line_of(data, list(e.absolute_path)), _describe(e)) for e in errors]
    line, message = min(found)
    raise SpecError(path, line, message)


def _line_of(data: Any, parts: list[str | int]) -> int:
    line: int = data.line
    for part in parts:
        if isinstance(data, Map) and part in data:
            line = data.line_of(str(part))
            data = data[str(part)]
        elif isinstance(data, Seq) and isinstance(part, int):
            line = data.line_of(part)
            data = data[part]
    return line


def _describe(error: Any) -> str:
    best = jsonschema.exceptions.best_match([error]) or error
    place = ".".join(str(p) for p in error.absolute_path)
    return f"{place}: {best.message}" if place else str(best.message)
