"""What a value of the language is, and what may be put where: C's rules, without the conversions that lose something silently."""

from __future__ import annotations

from typing import NamedTuple

INTEGER, FLOAT, POINTER, STRUCT, VOID = "integer", "float", "pointer", "struct", "void"


class TextError(Exception):
    """A mistake at a place of a text: ``offset`` counts characters from its beginning."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message


class Value(NamedTuple):
    """What is known of a value.

    ``width`` is that of the C type. ``bits`` bounds the bits that may be set: a signed number of fewer bits than its type has
    is not negative. Of a pointer ``bits`` is its depth (``uint8_t **``: 2) and ``name`` what it points to in the end; of a
    number ``name`` is the modifier or the modifier value that it is, for what compares them.
    """

    kind: str
    width: int = 32
    signed: bool = False
    bits: int = 32
    name: str = ""
    constant: bool = False  # a number written as such
    number: int | None = None  # which one, of an integer


INT = Value(INTEGER, 32, True, 32)
UNSIGNED = Value(INTEGER, 32, False, 32)
TRUTH = Value(INTEGER, 32, True, 1)  # of a comparison
ENUMERATOR = Value(INTEGER, 32, True, 31)
SINGLE, DOUBLE = Value(FLOAT, 32, True, 32), Value(FLOAT, 64, True, 64)
NOTHING = Value(VOID)

NUMBERS: dict[str, Value] = {
    **{f"{'' if signed else 'u'}int{n}_t": Value(INTEGER, n, signed, n) for n in (8, 16, 32, 64) for signed in (True, False)},
    "char": Value(INTEGER, 8, True, 8), "short": Value(INTEGER, 16, True, 16), "int": INT, "long": Value(INTEGER, 64, True, 64),
    "long long": Value(INTEGER, 64, True, 64), "unsigned": UNSIGNED, "unsigned int": UNSIGNED,
    "unsigned char": Value(INTEGER, 8, False, 8), "unsigned long": Value(INTEGER, 64, False, 64),
    "unsigned long long": Value(INTEGER, 64, False, 64), "size_t": Value(INTEGER, 64, False, 64),
    "float": SINGLE, "double": DOUBLE, "void": NOTHING,
}  # fmt: skip


_EXACT = {32: 24, 64: 53}  # bits of an integer that a float has


def pointer(name: str, depth: int = 1) -> Value:
    """A pointer to what is called ``name``."""
    return Value(POINTER, 64, False, depth, name)


def described(value: Value) -> str:
    """How messages call a value."""
    if value.kind == POINTER:
        return f"a pointer ({value.name} {'*' * value.bits})"
    if value.kind == INTEGER:
        return f"{'a signed' if value.signed else 'an unsigned'} integer of {value.width} bits"
    if value.kind == FLOAT:
        return "a float" if value.width == 32 else "a double"
    return f"a struct ({value.name})" if value.kind == STRUCT else "nothing"


def unfit(value: Value, wanted: Value) -> str:
    """Why a value cannot be put where ``wanted`` is; nothing when it can."""
    if value.kind != wanted.kind:
        zero = value.number == 0 and wanted.kind == POINTER and wanted.name in NUMBERS
        exact = value.constant and wanted.kind == FLOAT and value.bits <= _EXACT[wanted.width]
        return "" if zero or exact else _other_kind(value, wanted)
    if value.kind in {POINTER, STRUCT}:
        fits = wanted.name == "void" or (value.name, value.bits) in {(wanted.name, wanted.bits), ("void", 1)}
        return "" if fits else f"{described(value)} where {described(wanted)} is needed"
    if value.width <= wanted.width or (value.constant and value.kind == FLOAT) or value.bits <= wanted.width:
        return ""
    return f"{described(value)} where {described(wanted)} is needed: a cast says that the rest may go"


def _other_kind(value: Value, wanted: Value) -> str:
    """Why a value of one kind cannot stand where one of another kind does."""
    words = f"{described(value)} where {described(wanted)} is needed"
    if (value.kind, wanted.kind) == (FLOAT, INTEGER):
        bits = "arith_bits32" if value.width == 32 else "arith_bits64"
        return f"{words}: {bits}(x) has its bits, a cast truncates it"
    if (value.kind, wanted.kind) == (INTEGER, FLOAT):
        return f"{words}: {'arith_f32' if wanted.width == 32 else 'arith_f64'}(x) has these bits, a cast converts the number"
    return words


def promoted(left: Value, right: Value) -> Value:
    """The C type that two integers are computed in, with no bound on the bits."""
    width = max(32, left.width, right.width)
    signed = all(v.signed or v.width < width for v in (left, right))
    return Value(INTEGER, width, signed, width)


def may_be_negative(value: Value) -> bool:
    """Whether an integer may be below zero."""
    return value.signed and value.bits >= value.width
