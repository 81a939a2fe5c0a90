"""What a violation of a JSON Schema is in plain words: what stands there, and what was expected."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

from . import accept
from .strictyaml import Map, Seq

_TYPES = {
    "string": "text", "integer": "an integer", "number": "a number", "boolean": "true or false", "array": "a list",
    "object": "a mapping", "null": "null",
}  # fmt: skip
_SIZES = {"Length": "characters", "Items": "items", "Properties": "entries"}  # what minLength, maxItems ... count
_SHOWN = 60  # characters of a value that a message has
_FEW = 12  # names that are listed where none is near

Found = tuple[list[str | int], str]  # where, what


class Words:
    """The messages of one schema document."""

    def __init__(self, document: Any) -> None:
        self._document = document

    def describe(self, error: Any, where: list[str | int]) -> Iterator[Found]:
        """What people need to know of a violation; several for several unknown or missing columns."""
        value, expected, kind = error.instance, error.validator_value, error.validator
        if "propertyNames" in error.absolute_schema_path:
            yield [*where, value], f"{text(value)} cannot be a name here: {_order(error.schema)}"
        elif kind == "additionalProperties":
            yield from self._unknown(error, where)
        elif kind == "required":
            yield from self._missing(error, where)
        elif kind in {"oneOf", "anyOf"}:
            yield from self._alternatives(error, where)
        else:
            yield where, _SAID.get(kind, _other)(value, expected, error.schema)

    def _unknown(self, error: Any, where: list[str | int]) -> Iterator[Found]:
        known = list(error.schema.get("properties", ()))
        for key in unknown(error.instance, error.schema):
            hint = nearest(key, known)
            if not hint and 0 < len(known) <= _FEW:
                hint = f" (there are: {', '.join(known)})"
            yield [*where, key], f"there is no such column{hint}"

    def _missing(self, error: Any, where: list[str | int]) -> Iterator[Found]:
        """A column that is there under a name much like its own is not missing: that it is unknown is said already."""
        schema, value = error.schema, error.instance
        strange = unknown(value, schema) if schema.get("additionalProperties") is False else []
        what = "column" if where else "section"
        for key in error.validator_value:
            if key not in value and not difflib.get_close_matches(key, strange, 1):
                yield where, f"{what} '{key}' is missing{self._because(error)}"

    def _because(self, error: Any) -> str:
        """Why a column is needed that not every row has: another one is there."""
        path = list(error.absolute_schema_path)
        if "then" not in path:
            return ""
        condition = self._at([*path[: len(path) - 1 - path[::-1].index("then")], "if"])
        return f", which belongs with '{', '.join(condition['required'])}'" if "required" in condition else ""

    def _at(self, path: list[str | int]) -> Any:
        """The part of the document that a schema path leads to."""
        found = self._document
        for part in path:
            found = self._resolved(found) if part == "$ref" else found[part]
        return found

    def _resolved(self, schema: Any) -> Any:
        while "$ref" in schema:
            schema = self._document["$defs"][schema["$ref"].removeprefix("#/$defs/")]
        return schema

    def _alternatives(self, error: Any, where: list[str | int]) -> Iterator[Found]:
        """Of several alternatives the one that fits the kind of the value speaks; otherwise all that is allowed is named."""
        required = [branch.get("required") for branch in error.validator_value]
        if all(required):
            count = "exactly one" if error.validator == "oneOf" else "at least one"
            yield where, f"{count} of the columns {', '.join(name for names in required for name in names)} is needed"
            return
        branches: dict[int, list[Any]] = {}
        for inner in error.context:
            branches.setdefault(inner.schema_path[0], []).append(inner)
        fitting = [b for b in branches.values() if not any(e.validator == "type" and not e.path for e in b)]
        if len(fitting) == 1 and isinstance(error.instance, (Map, Seq)):
            for inner in fitting[0]:
                yield from self.describe(inner, [*where, *inner.path])
        else:
            wanted = dict.fromkeys(self.expected(branch) for branch in error.validator_value)
            hint = nearest(error.instance, self._words_of(error.validator_value)) if isinstance(error.instance, str) else ""
            yield where, f"{text(error.instance)} is not {', or '.join(wanted)}{hint}"

    def _words_of(self, branches: Iterable[Any]) -> list[str]:
        """The words that alternatives name one by one."""
        found = [self._resolved(branch) for branch in branches]
        return [str(word) for one in found for word in (*one.get("enum", ()), *((one["const"],) if "const" in one else ()))]

    def expected(self, schema: Any) -> str:
        """What a schema wants, as part of a sentence: ``an integer from 0 to 31``."""
        schema = self._resolved(schema)
        if "const" in schema:
            return _quoted(schema["const"])
        if "enum" in schema:
            return f"one of {_words(schema['enum'])}"
        if "anyOf" in schema or "oneOf" in schema:
            return ", or ".join(dict.fromkeys(map(self.expected, schema.get("anyOf", schema.get("oneOf")))))
        kinds = schema.get("type", [])
        said = " or ".join(_TYPES[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds)) or "what stands in others"
        if "pattern" in schema:
            return f"{said} ({_order(schema)})"
        return said + _bounds(schema)


def unknown(value: Any, schema: Any) -> list[str]:
    """Keys of a mapping that its schema does not allow."""
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    return [key for key in value if key not in known and not any(re.search(p, key) for p in patterns)]


def _bounds(schema: Any) -> str:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and most is not None:
        return f" from {least} to {most}"
    if least is not None:
        return f" from {least} on"
    return f" up to {most}" if most is not None else ""


def _order(schema: Any) -> str:
    """What to write in place of a text that does not fit: the schema's own words for it."""
    if "enum" in schema:
        return f"write one of {_words(schema['enum'])}"
    if "patternErrorMessage" in schema:
        return str(schema["patternErrorMessage"])
    return f"write what fits {schema['pattern']}" if "pattern" in schema else f"write {_TYPES['string']}{_bounds(schema)}"


def _wrong_type(value: Any, expected: Any, _: Any) -> str:
    kinds = [expected] if isinstance(expected, str) else expected
    wanted = " or ".join(_TYPES[k] for k in kinds)
    if value is None or isinstance(value, (Map, Seq)):
        return f"{text(value)} stands where {wanted} is expected"
    if "string" in kinds and not isinstance(value, str):
        return f"{text(value)} is not {wanted}: quote it"
    if isinstance(value, float) and "integer" in kinds:
        return f"{text(value)} is not {wanted}: it has a point"
    return f"{text(value)} is not {wanted}"


def _wrong_size(value: Any, least: int | None, most: int | None, what: str) -> str:
    """Too short or too long: the length, and what was expected."""
    known, verb = len(value), "is" if isinstance(value, str) else "has"
    shown = text(value) if verb == "is" else f"{text(value)} with {_counted(known, what)}"
    limit = f"at least {_counted(least, what)}" if least is not None else f"at most {_counted(most or 0, what)}"
    if known == 0:
        return f"{'the text' if verb == 'is' else text(value)} is empty: {limit} {'is' if least == 1 else 'are'} expected"
    if verb == "is":
        return f"{shown} has {_counted(known, what)}: {limit} {'is' if (least or most) == 1 else 'are'} expected"
    return f"{shown} stands where {limit} {'is' if (least or most) == 1 else 'are'} expected"


def _too_short(what: str, value: Any, limit: int, _: Any) -> str:
    return _wrong_size(value, limit, None, what)


def _too_long(what: str, value: Any, limit: int, _: Any) -> str:
    return _wrong_size(value, None, limit, what)


def _counted(number: int, what: str) -> str:
    one = {"characters": "character", "items": "item", "entries": "entry"}[what]
    return f"{number} {one if number == 1 else what}"


def _twice(value: Any, _: Any, __: Any) -> str:
    told = [accept.told(one) for one in value]
    return f"{text(next(v for at, v in enumerate(value) if told[at] in told[:at]))} is listed twice"


def _too_small(value: Any, least: Any, schema: Any) -> str:
    other = f"; the greatest is {schema['maximum']}" if "maximum" in schema else ""
    return f"{text(value)} is below the least value, {least}{other}"


def _too_large(value: Any, most: Any, schema: Any) -> str:
    other = f"; the least is {schema['minimum']}" if "minimum" in schema else ""
    return f"{text(value)} is above the greatest value, {most}{other}"


def _other(value: Any, expected: Any, _: Any) -> str:
    return f"{text(value)} is not what is expected here: {expected}"


_SAID: dict[str, Callable[[Any, Any, Any], str]] = {
    "enum": lambda value, expected, _: f"{text(value)} is not one of {_words(expected)}{nearest(value, expected)}",
    "const": lambda value, expected, _: f"{text(value)} must be {_quoted(expected)}",
    "type": _wrong_type,
    "pattern": lambda value, _, schema: f"{text(value)} is not as expected: {_order(schema)}",
    "minimum": _too_small,
    "maximum": _too_large,
    "multipleOf": lambda value, expected, _: f"{text(value)} is not a multiple of {expected}",
    "uniqueItems": _twice,
    **{f"min{word}": partial(_too_short, what) for word, what in _SIZES.items()},
    **{f"max{word}": partial(_too_long, what) for word, what in _SIZES.items()},
}


def text(value: Any) -> str:
    """A value as messages have it; of long ones the beginning."""
    if isinstance(value, Map):
        return "a mapping"
    if isinstance(value, Seq):
        return "a list"
    if value is None or isinstance(value, bool):
        return {None: "nothing", True: "true", False: "false"}[value]
    if isinstance(value, str) and not value:
        return "an empty text"
    shown = " ".join(str(value).split("\n"))
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
    return f"'{shown}'" if isinstance(value, str) else shown


def _quoted(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else "null" if value is None else text(value)


def _words(values: Iterable[Any]) -> str:
    """``a, b, c``; numbers that follow each other as ``0 to 7``."""
    values = list(values)
    if len(values) > 2 and all(type(v) is int for v in values) and all(b == a + 1 for a, b in pairwise(values)):
        return f"{values[0]} to {values[-1]}"
    return ", ".join("''" if value == "" else _bare(value) for value in values)


def _bare(value: Any) -> str:
    return value if isinstance(value, str) else "null" if value is None else text(value)


def nearest(value: object, known: Iterable[object]) -> str:
    """A hint at the name that ``value`` may be meant to be; "" when none is near."""
    near = difflib.get_close_matches(str(value)[:_SHOWN], [str(k) for k in known], 1)
    return f" (nearest: '{near[0]}')" if near else ""
