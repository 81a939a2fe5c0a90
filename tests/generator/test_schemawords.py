"""What a violation of each keyword of a schema is called, and relations of numbers by themselves."""

from __future__ import annotations

import json
from pathlib import Path, PurePath
from typing import Any

import pytest
from oricgen import relation, strictyaml
from oricgen.errors import SpecError
from oricgen.schema import validate

INT = {"type": "integer", "minimum": 0}
WORD = {"type": "string", "pattern": "^[a-z]+$", "patternErrorMessage": "write lower-case letters"}
COLUMNS = {"type": "object", "additionalProperties": False, "properties": {"name": {"type": "string"}, "size": INT}}


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        ({"type": "integer"}, "1.0", "1.0 is not an integer: it has a point"),
        ({"type": "integer"}, "x", "'x' is not an integer"),
        ({"type": "integer"}, "true", "true is not an integer"),
        ({"type": "string"}, "5", "5 is not text: quote it"),
        ({"type": "string"}, "[1]", "a list stands where text is expected"),
        ({"type": ["string", "null"]}, "{a: 1}", "a mapping stands where text or null is expected"),
        ({"type": "array"}, "", "nothing stands where a list is expected"),
        ({"enum": ["a", "b"]}, "bb", "'bb' is not one of a, b (nearest: 'b')"),
        ({"enum": [0, 1, 2, 3]}, "7", "7 is not one of 0 to 3"),
        ({"enum": [1, "", None, True]}, "7", "7 is not one of 1, '', null, true"),
        ({"const": "unknown"}, "5", "5 must be 'unknown'"),
        ({"type": "integer", "minimum": 0}, "-64", "-64 is below the least value, 0"),
        ({"type": "integer", "minimum": 0, "maximum": 7}, "8", "8 is above the greatest value, 7; the least is 0"),
        ({"type": "integer", "minimum": 0, "maximum": 7}, "-1", "-1 is below the least value, 0; the greatest is 7"),
        ({"type": "integer", "multipleOf": 4}, "6", "6 is not a multiple of 4"),
        (WORD, "A", "'A' is not as expected: write lower-case letters"),
        (WORD, '"a\\n"', "'a ' is not as expected: write lower-case letters"),
        ({"pattern": "^x"}, "A", "'A' is not as expected: write what fits ^x"),
        ({"minLength": 1}, '""', "the text is empty: at least 1 character is expected"),
        ({"minLength": 3}, "ab", "'ab' has 2 characters: at least 3 characters are expected"),
        ({"maxLength": 1}, "ab", "'ab' has 2 characters: at most 1 character is expected"),
        ({"minItems": 1}, "[]", "a list is empty: at least 1 item is expected"),
        ({"minItems": 3}, "[1, 2]", "a list with 2 items stands where at least 3 items are expected"),
        ({"maxItems": 1}, "[1, 2]", "a list with 2 items stands where at most 1 item is expected"),
        ({"minProperties": 1}, "{}", "a mapping is empty: at least 1 entry is expected"),
        ({"maxProperties": 1}, "{a: 1, b: 2}", "a mapping with 2 entries stands where at most 1 entry is expected"),
        ({"uniqueItems": True}, "[1, true, 1]", "1 is listed twice"),
        ({"propertyNames": WORD}, "{A: 1}", "column 'A': 'A' cannot be a name here: write lower-case letters"),
        ({"propertyNames": {"enum": ["R", "P"]}}, "{A: 1}", "column 'A': 'A' cannot be a name here: write one of R, P"),
        (COLUMNS, "{nmae: x}", "column 'nmae': there is no such column (nearest: 'name')"),
        (COLUMNS, "{zz: x}", "column 'zz': there is no such column (there are: name, size)"),
        ({"required": ["name"]}, "{a: 1}", "column 'name' is missing"),
        ({**COLUMNS, "required": ["name"]}, "{nmae: x}", "column 'nmae': there is no such column (nearest: 'name')"),
        ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, "{a: 1}", "column 'b' is missing, which belongs with 'a'"),
        ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, "{}", "exactly one of the columns a, b is needed"),
        ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, "{}", "at least one of the columns a, b is needed"),
        ({"oneOf": [INT, {"const": "unknown"}]}, "-64", "-64 is not an integer from 0 on, or 'unknown'"),
        (
            {"oneOf": [INT, {"const": "unknown"}]},
            "unknwn",
            "'unknwn' is not an integer from 0 on, or 'unknown' (nearest: 'unknown')",
        ),
        (
            {"anyOf": [{**INT, "maximum": 31}, WORD]},
            "40",
            "40 is not an integer from 0 to 31, or text (write lower-case letters)",
        ),
        ({"anyOf": [{"type": "string"}, {"type": "array", "items": INT}]}, "[x]", "column '[0]': 'x' is not an integer"),
        ({"anyOf": [{"type": "string"}, COLUMNS]}, "{nmae: x}", "column 'nmae': there is no such column (nearest: 'name')"),
        ({"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]}, "5", "5 is not one of a, b, or null"),
        ({"type": "string"}, "5" * 60 + "." + "0" * 3, "quote it"),
    ],
)
def test_messages(tmp_path: Path, schema: Any, value: str, message: str) -> None:
    path = tmp_path / "x.schema.json"
    row = {"type": "object", "additionalProperties": schema}
    path.write_text(
        json.dumps({"type": "object", "properties": {"s": {"type": "object", "additionalProperties": row}}}), encoding="utf-8"
    )
    with pytest.raises(SpecError) as caught:
        validate(strictyaml.loads(f"s:\n  r:\n    c: {value}\n"), PurePath("x.yaml"), path)
    (error,) = caught.value.all()
    assert error.line == 3
    said = (
        error.message.removeprefix("r: column 'c': ")
        .removeprefix("r: ")
        .replace("column 'c.", "column '")
        .replace("column 'c[", "column '[")
    )
    assert said == message or (message == "quote it" and said.endswith(": quote it") and len(said) < 100)


def test_a_section_that_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "x.schema.json"
    path.write_text('{"type": "object", "required": ["rows"]}', encoding="utf-8")
    with pytest.raises(SpecError, match="section 'rows' is missing"):
        validate(strictyaml.loads("a: 1\n"), PurePath("x.yaml"), path)


@pytest.mark.parametrize(
    ("text", "values", "holds"),
    [
        ("1 <= a <= b", {"a": 2, "b": 2}, True),
        ("1 <= a <= b", {"a": 3, "b": 2}, False),
        ("1 <= a <= b", {"a": 3, "b": "unknown"}, True),
        ("a.x * 4 + b[0] // 2 - 1 == 8", {"a.x": 2, "b[0]": 5}, False),
        ("a % b == 0", {"a": 3, "b": 0}, True),
        ("a != b", {"a": 3, "b": 3}, False),
        ("disjoint(a, 4, b, 4)", {"a": 8, "b": 4}, True),
        ("disjoint(a, 5, b, 5, c, 1)", {"a": 8, "b": 4, "c": "unknown"}, False),
    ],
)
def test_relations(text: str, values: dict[str, Any], holds: bool) -> None:
    assert relation.parse(text).holds(values) is holds


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a +", "cannot be read"), ("a", "compares nothing"), ("a < f(b)", "not known here"), ("a < b ** 9", "not known here"),
        ("a < 'b'", "not known here"), ("a in b", "not known here"), ("disjoint(a, 1, b)", "compares nothing"),
        ("(" * 500 + "a" + ")" * 500 + " < 1", "cannot be read"),
    ],
)  # fmt: skip
def test_relations_that_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        relation.parse(text)
