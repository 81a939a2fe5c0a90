"""Lines and columns of characters inside YAML scalars."""

from __future__ import annotations

import pytest
from oricgen import strictyaml

TEXT = r"""
plain: a fadd(b)
"double": "a fadd(b)"
single: 'it''s a fadd(b)'
escaped: "x \"y\" \t a fadd(b)"
folded: >-
  a
  b fadd(b)

literal: |
    a
      fadd(b)
wrapped: "a
    b \
    c fadd(b)"
row: {first: "1", other: "a fadd(b)"}
"""


@pytest.mark.parametrize("key", ["plain", "double", "single", "escaped", "folded", "literal", "wrapped"])
def test_the_place_of_a_word(key: str) -> None:
    data = strictyaml.loads(TEXT)
    line, column = data.spot(key, data[key].index("fadd"))
    assert TEXT.splitlines()[line - 1][column - 1 :].startswith("fadd")
    line, column = data.spot(key, data[key].index("(b)") + 1)
    assert TEXT.splitlines()[line - 1][column - 1 :].startswith("b)")


def test_a_value_in_a_row() -> None:
    row = strictyaml.loads(TEXT)["row"]
    assert row.spot("other", 2) == (len(TEXT.splitlines()), TEXT.splitlines()[-1].index("fadd") + 1)
    assert row.renamed({"other": "lanes"}).spot("lanes", 2) == row.spot("other", 2)


def test_the_end_and_what_is_not_there() -> None:
    data = strictyaml.loads(TEXT)
    assert data.spot("plain", len(data["plain"])) == (2, len("plain: a fadd(b)") + 1)
    assert data.spot("nothing", 3) == (data.line, 0)
