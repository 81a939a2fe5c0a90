"""Constant expressions: 64-bit integers with C's rules, against an independent evaluation; floating-point literals."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oric.ptx.constants import Constant, expression, narrow, widen
from oric.ptx.lexer import END, Lexer, PtxError
from oric.ptx.text import Text

MASK = (1 << 64) - 1


def value(text: str) -> Constant:
    lexer = Lexer(Text(text))
    found = expression(lexer)
    assert lexer.kind == END, f"'{lexer.value}' is left over"
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3", 7), ("(1 + 2) * 3", 9), ("7 / 2", 3), ("-7 / 2", -3), ("-7 % 3", 0), ("7 % -3", 7),
        ("1 << 63", -(1 << 63)), ("1U << 63", 1 << 63), ("-1 >> 1", -1), ("0xFFFFFFFFFFFFFFFF >> 1", (1 << 63) - 1),
        ("~0", MASK), ("!5", 0), ("!0", 1), ("5 > 3", 1), ("-1 > 1U", 1), ("-1 > 1", 0), ("1 ? 2 : 3", 2),
        ("0 ? 2 : 1 ? 4 : 5", 4), ("1 || 0 && 0", 1), ("6 & 3 | 8 ^ 12", 6), ("WARP_SZ * 4", 128),
        ("(.s64) 0xFFFFFFFFFFFFFFFF", -1), ("(.u64) -1", MASK), ("0b1011", 11), ("0x1f", 31), ("017", 15),
        ("10U", 10), ("0x7FFFFFFFFFFFFFFF + 1", -(1 << 63)), ("- - 5", 5), ("-~5", 6), ("1 == 1 != 0", 1),
        ("~0 >> 63", 1), ("-5U >> 63", 1), ("-5 >> 63", -1), ("(7 % 4 - 8) >> 63", 1),
        ("1.5 > 1.25", 1), ("1.5 == 2.5 ? 3 : 4", 4),
    ],
)  # fmt: skip
def test_integers(text, expected):
    assert value(text).value == expected


def reference(tree: object) -> tuple[int, bool]:
    """(value, unsigned) of a generated tree, by Python's unlimited integers."""
    if isinstance(tree, int):
        return tree, False
    op, left, right = tree
    (x, ux), (y, uy) = reference(left), reference(right)
    unsigned = ux or uy
    if unsigned:
        x, y = x & MASK, y & MASK
    raw = {"+": x + y, "-": x - y, "*": x * y, "&": x & y, "|": x | y, "^": x ^ y}[op] & MASK
    return (raw if unsigned or raw < 1 << 63 else raw - (1 << 64)), unsigned


def text_of(tree: object) -> str:
    return str(tree) if isinstance(tree, int) else f"({text_of(tree[1])} {tree[0]} {text_of(tree[2])})"


TREES = st.recursive(
    st.integers(0, (1 << 63) - 1), lambda inner: st.tuples(st.sampled_from("+-*&|^"), inner, inner), max_leaves=12
)


@given(TREES)
def test_random_expressions(tree):
    assert value(text_of(tree)).value == reference(tree)[0]


@given(st.floats(allow_nan=False))
def test_decimal_floats_are_doubles(number):
    text = repr(abs(number))
    if "inf" not in text:
        assert value(text if "." in text or "e" in text else text + ".0").bits64 == int.from_bytes(
            struct.pack("<d", abs(number)), "little"
        )


@given(st.integers(0, 0xFFFFFFFF))
def test_single_patterns_survive(bits):
    found = value(f"0f{bits:08X}")
    assert found.bits32 == bits and found.single
    assert narrow(widen(bits)) == bits or (bits & 0x7F800000 == 0x7F800000 and bits & 0x7FFFFF)


@given(st.integers(0, MASK))
def test_double_patterns_survive(bits):
    found = value(f"0d{bits:016x}")
    assert found.bits64 == bits and not found.single


def test_signalling_nan_becomes_quiet_when_narrowed():
    assert narrow(0x7FF0000000000001) & 0x7FC00000 == 0x7FC00000


def test_float_arithmetic():
    assert value("1.5 * 2.0 + 0.25").bits64 == int.from_bytes(struct.pack("<d", 3.25), "little")
    assert value("(0f3F800000)").bits32 == 0x3F800000
    assert value("-1.5").bits64 == int.from_bytes(struct.pack("<d", -1.5), "little")


@pytest.mark.parametrize(
    "text",
    [
        "1 / 0",
        "1 % 0",
        "1.0 / 0.0",
        "~1.5",
        "1.5 & 1",
        "0x10000000000000000",
        "1 +",
        "(1",
        "",
        "089",
        "0f12",
        "1.5 + 2",
        "1.5 ? 2 : 3",
        "1 ? 2.5 : 3",
        "1 ? 2 : 3.5",
        "!1.5",
        "(.s64) 2.75",
        "1e400",
        "1e-400",
        "-0f3F800000",
        "1.0 + 0f3F800000",
        "1.5 < 2",
    ],
)
def test_errors(text):
    with pytest.raises(PtxError):
        value(text)
