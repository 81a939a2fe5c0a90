"""Places: offsets, and lines and columns as clients count them."""

from __future__ import annotations

import random

import pytest
from oric.lsp.places import UTF8, UTF16, UTF32, Places, edited, units

TEXT = "mov\r\nä€😀b\r\r\n\f\x0b\u2028\x85x\nlast"


@pytest.mark.parametrize(("encoding", "wanted"), [(UTF8, 1 + 2 + 3 + 4), (UTF16, 1 + 1 + 1 + 2), (UTF32, 4)])
def test_units(encoding, wanted):
    assert units("aä€😀", encoding) == wanted
    assert units("abcd", encoding) == 4


def test_lines_end_where_the_protocol_says():
    places = Places(TEXT)
    assert [places.line_text(line) for line in range(len(places.starts))] == ["mov", "ä€😀b", "", "\f\x0b\u2028\x85x", "last"]
    assert places.line_text(-1) == places.line_text(99) == ""


@pytest.mark.parametrize("encoding", [UTF8, UTF16, UTF32])
def test_there_and_back(encoding):
    places = Places(TEXT, encoding)
    for offset in range(len(TEXT) + 1):
        line, column = places.position(offset)
        inside = TEXT[offset - 1 : offset] == "\r" and TEXT[offset : offset + 1] == "\n"
        assert places.offset(line, column) == offset - inside  # nothing stands inside of a line's end


def test_utf16_columns_count_a_pair_twice():
    places = Places(TEXT)
    assert places.position(TEXT.index("b")) == (1, 4)
    assert places.offset(1, 3) == TEXT.index("😀")  # inside of the pair
    assert places.offset(1, 4) == TEXT.index("b")


@pytest.mark.parametrize(
    ("line", "column", "wanted"), [(-1, 5, 0), (0, -3, 0), (0, 99, 3), (99, 0, len(TEXT)), (4, 99, len(TEXT))]
)
def test_outside_means_the_nearest_end(line, column, wanted):
    assert Places(TEXT).offset(line, column) == wanted


def test_edits_are_those_of_a_plain_string():
    rng = random.Random(7)
    text = TEXT
    for _ in range(300):
        places = Places(text)
        first, last = sorted(rng.choices(range(len(text) + 1), k=2))
        new = "".join(rng.choices("ab;\n😀€\r", k=rng.randrange(4)))
        start, end = places.position(first), places.position(last)
        wanted = text[: places.offset(*start)] + new + text[places.offset(*end) :]
        text = edited(places, start, end, new)
        assert text == wanted
        text = text if len(text) < 200 else TEXT


def test_an_edit_that_ends_before_it_begins_inserts():
    assert edited(Places("abc"), (0, 2), (0, 1), "x") == "abxc"
