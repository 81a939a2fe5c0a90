"""JSON Schema validation of specification files: messages name row, column, value and what was expected."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path, PurePath
from typing import Any

from . import accept, strictyaml
from .errors import SpecError, raise_all
from .schemawords import Words
from .strictyaml import Map, Seq

# Keywords of both draft-07 and 2020-12, and what editors add: every editor with YAML schemas knows them (tested).
_KEYWORDS = """
    $schema $defs $ref title description default examples type enum const pattern patternErrorMessage minLength maxLength
    minimum maximum multipleOf items minItems maxItems uniqueItems properties required additionalProperties patternProperties
    propertyNames minProperties maxProperties oneOf anyOf allOf if then else
"""
KEYWORDS = frozenset(_KEYWORDS.split())
_NAMING = ("name", "ptx", "syntax", "attribute", "op", "index", "code")  # columns that people know an item of a list by


@cache
def _document(schema_path: Path, stamp: tuple[int, int]) -> Any:
    return _json(strictyaml.read(schema_path, _called(schema_path)), _called(schema_path))


@cache
def _accepts(schema_path: Path, stamp: tuple[int, int]) -> accept.Check:
    try:
        return accept.compiled(_document(schema_path, stamp))
    except (ValueError, TypeError, AttributeError, KeyError, re.error) as error:
        raise SpecError(_called(schema_path), 0, f"the schema cannot be used: {error}") from error


def _called(schema_path: Path) -> PurePath:
    return PurePath("spec", "schema", schema_path.name)


def _stamp(schema_path: Path) -> tuple[int, int]:
    """What changes when the file does.

    Raises:
        SpecError: the file cannot be read.
    """
    try:
        found = schema_path.stat()
    except OSError as error:
        raise SpecError(_called(schema_path), 0, f"the file cannot be read: {error.strerror}") from error
    return found.st_mtime_ns, found.st_size


def _json(text: str, name: PurePath) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_without_duplicates)
    except json.JSONDecodeError as error:
        raise SpecError(name, error.lineno, f"not valid JSON: {error.msg}") from error
    except RecursionError as error:
        raise SpecError(name, 0, "not valid JSON: lists and mappings stand too deep in each other") from error
    except ValueError as error:
        raise SpecError(name, 0, f"not valid JSON: {error}") from error


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"duplicate key '{next(n for i, n in enumerate(names) if n in names[:i])}'")
    return out


def validate(data: Map, path: PurePath, schema_path: Path) -> None:
    """Check ``data`` (loaded from ``path``) against the schema file.

    Raises:
        SpecError: the first violation in file order; the others are its ``others``. Also: a schema that cannot be used.
    """
    stamp = _stamp(schema_path)
    if _accepts(schema_path, stamp)(data):
        return
    document = _document(schema_path, stamp)
    words = Words(document)
    found = {
        (_line_of(data, where), f"{_place(data, where)}{what}")
        for error in validator()(document).iter_errors(data)
        for where, what in words.describe(error, list(error.absolute_path))
    }
    if not found:
        raise SpecError(path, 0, f"the file does not fit {schema_path.name}")
    raise_all(SpecError(path, line, message) for line, message in sorted(found))


@cache
def validator() -> Any:
    """The general validator, which takes integers, equal values and patterns as :mod:`oricgen.accept` does."""
    import jsonschema  # takes longer than reading all files; sound ones do not need it

    def agreeing(keyword: str) -> Any:
        def check(_: Any, expected: Any, value: Any, __: Any) -> Any:
            if not accept.compiled({keyword: expected})(value):
                yield jsonschema.ValidationError("not accepted")

        return check

    base = jsonschema.Draft202012Validator
    integers = base.TYPE_CHECKER.redefine("integer", lambda _, value: accept.integer(value))
    own = {keyword: agreeing(keyword) for keyword in ("enum", "const", "pattern", "uniqueItems")}
    return jsonschema.validators.extend(base, own, type_checker=integers)  # type: ignore[no-untyped-call]


def _line_of(data: Any, parts: list[str | int]) -> int:
    line: int = data.line
    for part in parts:
        if isinstance(data, Map):
            line, data = data.line_of(str(part)), data.get(str(part))
        elif isinstance(data, Seq) and isinstance(part, int):
            line, data = data.line_of(part), data[part]
    return line


def _place(data: Map, parts: list[str | int]) -> str:
    """``ROW: column 'COLUMN': ``; the row is the entry of the section, or the section when that itself is wrong."""
    if not parts:
        return ""
    section = str(parts[0])
    entries = data.get(section)
    if len(parts) == 1 or not isinstance(entries, (Map, Seq)):
        return f"{section}: "
    key = parts[1]
    row = entries.get(str(key)) if isinstance(entries, Map) else entries[int(key)]
    name = _item(section, key, row)
    return f"{name}: {_column(parts[2:])}" if len(parts) > 2 else f"{name}: "


def _item(section: str, key: str | int, row: Any) -> str:
    if isinstance(key, str):
        return key
    names = [(c, row[c]) for c in _NAMING if c in row] if isinstance(row, Map) else []
    for column, name in names:
        if isinstance(name, str) and name != "undocumented":
            return name
        if isinstance(name, int):
            return f"{section}, {column} {name}"
    return f"{section}, item {key + 1}"


def _column(parts: Iterable[str | int]) -> str:
    text = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in parts)
    return f"column '{text.removeprefix('.')}': "
