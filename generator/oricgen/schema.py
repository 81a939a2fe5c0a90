"""JSON Schema validation of specification files: messages name row, column, value and what was expected."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path, PurePath
from typing import Any

from . import accept
from .errors import SpecError
from .strictyaml import Map, Seq

# Keywords of both draft-07 and 2020-12, and what editors add: every editor with YAML schemas knows them (tested).
_KEYWORDS = """
    $schema $defs $ref title description default examples type enum const pattern patternErrorMessage minLength maxLength
    minimum maximum multipleOf items minItems maxItems uniqueItems properties required additionalProperties patternProperties
    propertyNames minProperties maxProperties oneOf anyOf allOf if then else
"""
KEYWORDS = frozenset(_KEYWORDS.split())
_TYPES = {
    "string": "text", "integer": "an integer", "number": "a number", "boolean": "true or false", "array": "a list",
    "object": "a mapping", "null": "null",
}  # fmt: skip
_NAMING = ("name", "ptx", "syntax", "attribute", "op", "index", "code")  # columns that people know an item of a list by
_LIMITS = {
    "minimum": "is below the least value, {}",
    "maximum": "is above the greatest value, {}",
    "multipleOf": "is not a multiple of {}",
    "minLength": "is shorter than {} characters",
    "maxLength": "is longer than {} characters",
    "minItems": "has fewer than {} items",
    "maxItems": "has more than {} items",
    "minProperties": "has fewer than {} entries",
    "maxProperties": "has more than {} entries",
}
MOST = 10  # errors of one file that are reported

Found = tuple[list[str | int], str]  # where, what


@cache
def _document(schema_path: Path) -> Any:
    return json.loads(schema_path.read_text(encoding="utf-8"))


@cache
def _accepts(schema_path: Path) -> accept.Check:
    return accept.compiled(_document(schema_path))


def validate(data: Map, path: PurePath, schema_path: Path) -> None:
    """Check ``data`` (loaded from ``path``) against the schema file.

    Raises:
        SpecError: the first violation in file order; the others (the first ten in all) are its ``others``.
    """
    if _accepts(schema_path)(data):
        return
    import jsonschema  # takes longer than reading all files; sound ones do not need it

    found = {
        (_line_of(data, where), f"{_place(data, where)}{what}")
        for error in jsonschema.Draft202012Validator(_document(schema_path)).iter_errors(data)
        for where, what in _describe(error, list(error.absolute_path))
    }
    if found:
        first, *rest = [SpecError(path, line, message) for line, message in sorted(found)[:MOST]]
        first.others = tuple(rest)
        raise first


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


def _describe(error: Any, where: list[str | int]) -> Iterator[Found]:
    """What people need to know of a violation; several for several unknown or missing columns."""
    value, expected, kind = error.instance, error.validator_value, error.validator
    if "propertyNames" in error.absolute_schema_path:
        yield [*where, value], f"'{value}' cannot be a name here: {_expected_text(error)}"
    elif kind == "additionalProperties":
        known = list(error.schema.get("properties", ()))
        for key in _unknown(error):
            yield [*where, key], f"there is no such column{_nearest(key, known)}"
    elif kind == "required":
        yield from ((where, f"column '{key}' is missing") for key in expected if key not in value)
    elif kind in {"oneOf", "anyOf"}:
        yield from _alternatives(error, where)
    elif kind == "enum":
        yield where, f"{_text(value)} is not one of {_words(expected)}{_nearest(value, expected)}"
    elif kind == "const":
        yield where, f"{_text(value)} must be {_text(expected)}"
    elif kind == "type":
        yield where, _wrong_type(value, [expected] if isinstance(expected, str) else expected)
    elif kind == "pattern":
        yield where, f"{_text(value)} is not as expected: {_expected_text(error)}"
    elif kind == "uniqueItems":
        twice = next(v for i, v in enumerate(value) if v in value[:i])
        yield where, f"{_text(twice)} is listed twice"
    elif kind in _LIMITS:
        yield where, f"{_text(value)} {_LIMITS[kind].format(expected)}"
    else:
        yield where, error.message


def _unknown(error: Any) -> list[str]:
    """Keys of a mapping that its schema does not allow."""
    known, patterns = error.schema.get("properties", {}), error.schema.get("patternProperties", {})
    return [key for key in error.instance if key not in known and not any(re.search(p, key) for p in patterns)]


def _alternatives(error: Any, where: list[str | int]) -> Iterator[Found]:
    """Of several alternatives the one that fits the kind of the value speaks; otherwise all that is allowed is named."""
    required = [branch.get("required") for branch in error.validator_value]
    if all(required):
        yield where, f"exactly one of the columns {_words(name for names in required for name in names)} is needed"
        return
    branches: dict[int, list[Any]] = {}
    for inner in error.context:
        branches.setdefault(inner.schema_path[0], []).append(inner)
    fitting = [b for b in branches.values() if not any(e.validator == "type" and not e.path for e in b)]
    if len(fitting) == 1:
        for inner in fitting[0]:
            yield from _describe(inner, [*where, *inner.path])
    else:
        wanted = dict.fromkeys(_expected(e) for branch in branches.values() for e in branch if not e.path)
        yield where, f"{_text(error.instance)} is not {', or '.join(wanted)}"


def _expected(error: Any) -> str:
    """What an alternative wants, as part of a sentence."""
    if error.validator == "type":
        kinds = [error.validator_value] if isinstance(error.validator_value, str) else error.validator_value
        return " or ".join(_TYPES[k] for k in kinds)
    if error.validator == "enum":
        return f"one of {_words(error.validator_value)}"
    return _expected_text(error)


def _expected_text(error: Any) -> str:
    """The schema's own words for a pattern, else the pattern."""
    return str(error.schema.get("patternErrorMessage", f"the pattern is {error.schema.get('pattern', error.message)}"))


def _wrong_type(value: Any, kinds: list[str]) -> str:
    wanted = " or ".join(_TYPES[k] for k in kinds)
    if value is None or isinstance(value, (Map, Seq)):
        return f"{_text(value)} stands where {wanted} is expected"
    quote = "string" in kinds and not isinstance(value, str)
    return f"{_text(value)} is not {wanted}{': quote it' if quote else ''}"


def _text(value: Any) -> str:
    if isinstance(value, Map):
        return "a mapping"
    if isinstance(value, Seq):
        return "a list"
    if value is None or isinstance(value, bool):
        return {None: "nothing", True: "true", False: "false"}[value]
    return f"'{value}'" if isinstance(value, str) else str(value)


def _words(values: Iterable[Any]) -> str:
    return ", ".join("''" if v == "" else "null" if v is None else str(v) for v in values)


def _nearest(word: object, known: Iterable[object]) -> str:
    near = difflib.get_close_matches(str(word), [str(k) for k in known], 1)
    return f" (nearest: '{near[0]}')" if near else ""
