"""JSON Schemas compiled to functions that say whether a value is accepted, and no more.

Most files have no mistake, and the general validator takes longer over them than everything else that reads a file.
So :mod:`oricgen.schema` asks here first; only what is not accepted goes through the validator, which finds the words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

Check = Callable[[Any], bool]

# What says nothing about values; `patternErrorMessage` is for people.
_REMARKS = frozenset({"$schema", "$defs", "title", "description", "default", "examples", "patternErrorMessage", "then", "else"})


def compiled(schema: Mapping[str, Any]) -> Check:
    """The function of a schema document (draft 2020-12, with the keywords of :data:`oricgen.schema.KEYWORDS`).

    Raises:
        ValueError: a keyword or a reference that is not known here.
    """
    return _Compiler(schema).check(schema)


class _Compiler:
    def __init__(self, document: Mapping[str, Any]) -> None:
        self._definitions: Mapping[str, Any] = document.get("$defs", {})
        self._named: dict[str, Check] = {}

    def check(self, schema: Any) -> Check:
        """The conjunction of all keywords of a schema."""
        if isinstance(schema, bool):
            return lambda _: schema
        checks: list[Check] = []
        for keyword, value in schema.items():
            make = getattr(self, f"_{keyword.removeprefix('$')}", None)
            if make is not None:
                checks.append(make(value, schema))
            elif keyword not in _REMARKS and keyword not in _OBJECT_PARTS:
                raise ValueError(f"'{keyword}' is not known here")
        if not _OBJECT_PARTS.isdisjoint(schema):
            checks.append(self._entries(schema))
        if len(checks) == 1:
            return checks[0]
        if len(checks) == 2:
            first, second = checks
            return lambda value: first(value) and second(value)
        return lambda value: all(check(value) for check in checks)

    def _ref(self, target: str, _: Any) -> Check:
        name = target.removeprefix("#/$defs/")
        if name not in self._definitions:
            raise ValueError(f"'{target}' is no definition of this schema")
        if name not in self._named:

            def itself(value: Any) -> bool:
                return self._named[name](value)

            self._named[name] = itself  # what refers to itself meets this
            self._named[name] = self.check(self._definitions[name])
        return self._named[name]

    @staticmethod
    def _type(kinds: Any, _: Any) -> Check:
        checks = [_KINDS[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds)]
        return checks[0] if len(checks) == 1 else lambda value: any(check(value) for check in checks)

    @staticmethod
    def _enum(allowed: list[Any], _: Any) -> Check:
        known = [told(one) for one in allowed]
        return lambda value: told(value) in known

    def _const(self, allowed: Any, _: Any) -> Check:
        return self._enum([allowed], None)

    @staticmethod
    def _pattern(pattern: str, _: Any) -> Check:
        search = searching(pattern)
        return lambda value: not isinstance(value, str) or search(value) is not None

    @staticmethod
    def _minLength(least: int, _: Any) -> Check:
        return lambda value: not isinstance(value, str) or len(value) >= least

    @staticmethod
    def _maxLength(most: int, _: Any) -> Check:
        return lambda value: not isinstance(value, str) or len(value) <= most

    @staticmethod
    def _minimum(least: float, _: Any) -> Check:
        return lambda value: not _number(value) or value >= least

    @staticmethod
    def _maximum(most: float, _: Any) -> Check:
        return lambda value: not _number(value) or value <= most

    @staticmethod
    def _multipleOf(factor: int, _: Any) -> Check:
        return lambda value: not _number(value) or value % factor == 0

    def _items(self, schema: Any, _: Any) -> Check:
        check = self.check(schema)
        return lambda value: not isinstance(value, list) or all(map(check, value))

    @staticmethod
    def _minItems(least: int, _: Any) -> Check:
        return lambda value: not isinstance(value, list) or len(value) >= least

    @staticmethod
    def _maxItems(most: int, _: Any) -> Check:
        return lambda value: not isinstance(value, list) or len(value) <= most

    @staticmethod
    def _uniqueItems(wanted: bool, _: Any) -> Check:
        return lambda value: not wanted or not isinstance(value, list) or _different([told(item) for item in value])

    def _propertyNames(self, schema: Any, _: Any) -> Check:
        check = self.check(schema)
        return lambda value: not isinstance(value, dict) or all(map(check, value))

    @staticmethod
    def _minProperties(least: int, _: Any) -> Check:
        return lambda value: not isinstance(value, dict) or len(value) >= least

    @staticmethod
    def _maxProperties(most: int, _: Any) -> Check:
        return lambda value: not isinstance(value, dict) or len(value) <= most

    def _oneOf(self, schemas: list[Any], _: Any) -> Check:
        checks = [self.check(schema) for schema in schemas]
        return lambda value: sum(check(value) for check in checks) == 1

    def _anyOf(self, schemas: list[Any], _: Any) -> Check:
        checks = [self.check(schema) for schema in schemas]
        return lambda value: any(check(value) for check in checks)

    def _allOf(self, schemas: list[Any], _: Any) -> Check:
        checks = [self.check(schema) for schema in schemas]
        return lambda value: all(check(value) for check in checks)

    def _if(self, schema: Any, whole: Mapping[str, Any]) -> Check:
        condition, then, other = self.check(schema), self.check(whole.get("then", True)), self.check(whole.get("else", True))
        return lambda value: then(value) if condition(value) else other(value)

    def _entries(self, schema: Mapping[str, Any]) -> Check:
        """All that is said of the entries of a mapping, in one pass over them."""
        required = frozenset(schema.get("required", ()))
        named = {key: self.check(inner) for key, inner in schema.get("properties", {}).items()}
        patterns = [(searching(p), self.check(inner)) for p, inner in schema.get("patternProperties", {}).items()]
        others = self.check(schema.get("additionalProperties", True))

        def entries(value: Any) -> bool:
            if not isinstance(value, dict):
                return True
            if not required <= value.keys():
                return False
            for key, item in value.items():
                checks = [check for search, check in patterns if search(key)] if patterns else []
                if key in named:
                    checks.append(named[key])
                if not all(check(item) for check in checks or (others,)):
                    return False
            return True

        return entries


_OBJECT_PARTS = frozenset({"properties", "patternProperties", "additionalProperties", "required"})


def integer(value: Any) -> bool:
    """Whether it is an integer; 5.0, which JSON Schema would take for one, is not."""
    return isinstance(value, int) and not isinstance(value, bool)


def searching(pattern: str) -> Callable[[str], object]:
    """The search for a pattern of a schema, where ``$`` is the end of the text also before a line feed."""
    return re.compile(re.sub(r"(\\.)|\$", lambda part: part[1] or r"\Z", pattern)).search


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_KINDS: dict[str, Check] = {
    "string": lambda value: isinstance(value, str),
    "integer": integer,
    "number": _number,
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}


def told(value: Any) -> Any:
    """A value that equals another's only when the two are equal here: true is not 1, and neither is 1.0."""
    if isinstance(value, (bool, float)):
        return (type(value), value)
    if isinstance(value, list):
        return [told(item) for item in value]
    if isinstance(value, dict):
        return {key: told(item) for key, item in value.items()}
    return value


def _different(values: list[Any]) -> bool:
    return all(value not in values[:at] for at, value in enumerate(values))
