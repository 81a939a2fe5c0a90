"""Compiled schemas accept what the general validator accepts, and nothing else."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from oricgen import accept, strictyaml
from oricgen.schema import validator as general

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = sorted((ROOT / "spec/schema").glob("*.schema.json"))
VALUES = (
    None,
    True,
    False,
    0,
    1,
    -1,
    1.0,
    1.5,
    10**6,
    "",
    "x",
    "FADD",
    "sm_90",
    "0x10",
    "a b",
    [],
    ["x"],
    ["x", "x"],
    {},
    {"x": 1},
    255,
)


def files_of(schema: Path) -> list[Path]:
    """The files whose first line names the schema (which test_editor.py compares with what the generator takes)."""
    files = sorted((ROOT / "spec").rglob("*.yaml"))
    return [path for path in files if path.read_text(encoding="utf-8").partition("\n")[0].endswith(f"/{schema.name}")]


def shortened(data: Any, rng: random.Random) -> Any:
    """The first entry and some others of every mapping and list: the general validator takes its time."""
    if isinstance(data, dict):
        kept = [key for number, key in enumerate(data) if number < 8 or rng.random() < 4 / len(data)]
        return {key: shortened(data[key], rng) for key in kept}
    if isinstance(data, list):
        return [shortened(item, rng) for number, item in enumerate(data) if number < 3 or rng.random() < 2 / len(data)]
    return data


def damage(data: Any, rng: random.Random) -> Any:
    """One thing removed, added or replaced by something else, at any depth."""
    if isinstance(data, dict) and data and rng.random() < 0.8:
        key = rng.choice(list(data))
        kind = rng.randrange(6)
        if kind == 0:
            return {k: v for k, v in data.items() if k != key}
        if kind == 1:
            return {**data, rng.choice(("x", "name", "A B", key + "2")): rng.choice(VALUES)}
        return {**data, key: damage(data[key], rng)}
    if isinstance(data, list) and data and rng.random() < 0.8:
        at = rng.randrange(len(data))
        kind = rng.randrange(4)
        new = [] if kind == 0 else [data[at], data[at]] if kind == 1 else [damage(data[at], rng)]
        return [*data[:at], *new, *data[at + 1 :]]
    return rng.choice(VALUES)


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name.partition(".")[0])
def test_equals_the_validator(path: Path) -> None:
    schema = json.loads(path.read_text(encoding="utf-8"))
    accepts, validator = accept.compiled(schema), general()(schema)
    verdicts = []
    for file in files_of(path):
        rng = random.Random(file.name)
        whole = strictyaml.loads(file.read_text(encoding="utf-8"))
        for _ in range(12):
            data = damage(shortened(whole, rng), rng)
            verdicts.append(accepts(data))
            assert verdicts[-1] == validator.is_valid(data), data
    assert False in verdicts


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "integer"}, [1, -3], [True, 1.0, 1.5, "1", None]),
        ({"type": ["string", "null"]}, ["", None], [0, [], {}]),
        ({"enum": [1, "a", False]}, [1, "a", False], [True, 1.0, 0, "b"]),
        ({"const": {"a": [1]}}, [{"a": [1]}], [{"a": [True]}, {"a": [1], "b": 1}]),
        ({"minimum": 2, "maximum": 4, "multipleOf": 2}, [2, 4, "x", True], [1, 3, 5]),
        ({"minLength": 1, "maxLength": 2, "pattern": "^[ab][^\\n]?$"}, ["a", "bz", 7], ["", "abc", "c", "a\n"]),
        ({"items": {"type": "string"}, "minItems": 1, "maxItems": 2, "uniqueItems": True}, [["a"], ["a", "b"], 1],
         [[], [1], ["a", "a"], ["a", "b", "c"]]),
        ({"properties": {"a": {"type": "string"}}, "patternProperties": {"^x": {"type": "integer"}},
          "additionalProperties": False}, [{}, {"a": "", "x1": 1}, 3], [{"a": 1}, {"x": ""}, {"b": 1}]),
        ({"additionalProperties": {"type": "string"}, "required": ["a"]}, [{"a": ""}], [{}, {"a": 1}]),
        ({"propertyNames": {"pattern": "^[a-z]$"}, "minProperties": 1, "maxProperties": 2}, [{"a": 1}],
         [{}, {"A": 1}, dict.fromkeys("abc")]),
        ({"oneOf": [{"type": "integer"}, {"minimum": 5}]}, [3, 7.5], [9, 2.5]),
        ({"anyOf": [{"type": "integer"}, {"minimum": 5}]}, [3, 7.5, 9], [2.5, 2.0]),
        ({"allOf": [{"type": "integer"}, {"minimum": 5}]}, [9], [3, 7.5]),
        ({"if": {"type": "integer"}, "then": {"minimum": 5}, "else": {"type": "string"}}, [5, ""], [4, None]),
        ({"$defs": {"tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}, "$ref": "#/$defs/tree"},
         [[], [[[]], []]], [1, [[1]]]),
        ({"items": False}, [[]], [[1]]),
    ],
)  # fmt: skip
def test_keywords(schema: Any, good: list[Any], bad: list[Any]) -> None:
    accepts, validator = accept.compiled(schema), general()(schema)
    for verdict, values in ((True, good), (False, bad)):
        for value in values:
            assert accepts(value) is verdict, value
            assert validator.is_valid(value) is verdict, value


@pytest.mark.parametrize("schema", [{"contains": {}}, {"$ref": "#/$defs/x"}, {"items": {"$ref": "other.json"}}])
def test_what_is_not_known_is_an_error(schema: Any) -> None:
    with pytest.raises(ValueError, match=r"is not known here|is no definition"):
        accept.compiled(schema)
