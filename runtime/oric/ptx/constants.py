"""Constant expressions: 64-bit integers with C's precedence and signedness, floating-point literals and arithmetic."""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from typing import Final

from .lexer import DOT_WORD, IDENT, NUMBER, WARP_SIZE, Lexer, PtxError, integer_value

MAX_DEPTH: Final = 100
_MASK: Final = (1 << 64) - 1


class Constant:
    """A value: an integer (``unsigned`` tells its type, .u64 or .s64), or a float with its two bit patterns.

    ``single`` is True for ``0f`` literals, whose own type is .f32; all other floats are .f64.
    """

    __slots__ = ("bits32", "bits64", "is_float", "single", "unsigned", "value")

    def __init__(self, value: int, unsigned: bool = False) -> None:
        self.value = value
        self.unsigned = unsigned
        self.is_float = False
        self.single = False
        self.bits32 = 0
        self.bits64 = 0


def float_constant(bits64: int) -> Constant:
    """A .f64 constant from its bit pattern."""
    constant = Constant(0)
    constant.is_float = True
    constant.bits64 = bits64
    constant.bits32 = narrow(bits64)
    return constant


def single_constant(bits32: int) -> Constant:
    """A .f32 constant from its bit pattern."""
    constant = Constant(0)
    constant.is_float = True
    constant.single = True
    constant.bits32 = bits32
    constant.bits64 = widen(bits32)
    return constant


def narrow(bits64: int) -> int:
    """The .f32 pattern nearest to a .f64 pattern; NaN payloads keep their high bits."""
    value: float = struct.unpack("<d", bits64.to_bytes(8, "little"))[0]
    if math.isnan(value):
        return bits64 >> 32 & 0x80000000 | 0x7FC00000 | bits64 >> 29 & 0x3FFFFF
    try:
        return int.from_bytes(struct.pack("<f", value), "little")
    except OverflowError:
        return 0x7F800000 if value > 0 else 0xFF800000


def widen(bits32: int) -> int:
    """The .f64 pattern of a .f32 pattern; NaN payloads are kept."""
    value: float = struct.unpack("<f", bits32.to_bytes(4, "little"))[0]
    if math.isnan(value):
        return (bits32 >> 31) << 63 | 0x7FF << 52 | (bits32 & 0x7FFFFF) << 29
    return int.from_bytes(struct.pack("<d", value), "little")


def _double(constant: Constant) -> float:
    value: float = struct.unpack("<d", constant.bits64.to_bytes(8, "little"))[0]
    return value


def _from_double(value: float) -> Constant:
    return float_constant(int.from_bytes(struct.pack("<d", value), "little"))


def literal(text: str, at: int) -> Constant:
    """A number token.

    Raises:
        PtxError: wrong number of hexadecimal digits, does not fit.
    """
    head = text[:2].lower()
    if head == "0f":
        if len(text) != 10:
            raise PtxError(at, f"'{_short(text)}': 0f takes 8 hexadecimal digits, found {len(text) - 2}")
        return single_constant(int(text[2:], 16))
    if head == "0d":
        if len(text) != 18:
            raise PtxError(at, f"'{_short(text)}': 0d takes 16 hexadecimal digits, found {len(text) - 2}")
        return float_constant(int(text[2:], 16))
    value = integer_value(text, at)
    if value is None:
        number = float(text)
        if math.isinf(number) or (number == 0 and any(digit in "123456789" for digit in text.lower().partition("e")[0])):
            raise PtxError(at, f"floating-point constant '{_short(text)}' does not fit 64 bits")
        return _from_double(number)
    return Constant(value, text.endswith("U") or value >> 63 != 0)


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


_BINARY: Final[tuple[tuple[str, ...], ...]] = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"), ("+", "-"), ("*", "/", "%"),
)  # fmt: skip
_LEVEL: Final = {op: level for level, ops in enumerate(_BINARY) for op in ops}
_COMPARE: Final[dict[str, Callable[[float, float], bool]]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def expression(lexer: Lexer, depth: int = 0) -> Constant:
    """Read a constant expression with ``?:``.

    Raises:
        PtxError: no constant, nested too deeply, division by zero.
    """
    if depth > MAX_DEPTH:
        raise PtxError(lexer.at, "constant expression is nested too deeply")
    at = lexer.at
    condition = _binary(lexer, 0, depth)
    if not lexer.is_punct("?"):
        return condition
    _need_integer("?:", condition, at)
    lexer.advance()
    at = lexer.at
    first = expression(lexer, depth + 1)
    _need_integer("?:", first, at)
    lexer.expect(":")
    at = lexer.at
    second = expression(lexer, depth + 1)
    _need_integer("?:", second, at)
    return first if condition.value else second


def _need_integer(what: str, constant: Constant, at: int) -> None:
    if constant.is_float:
        raise PtxError(at, f"'{what}' takes integer constants, found a floating-point one")


def _binary(lexer: Lexer, level: int, depth: int) -> Constant:
    left = _unary(lexer, depth)
    while True:
        op = lexer.value
        found = _LEVEL.get(op, -1) if lexer.kind not in (NUMBER, IDENT) or op == "%" else -1
        if found < level:
            return left
        if depth > MAX_DEPTH:
            raise PtxError(lexer.at, "constant expression is nested too deeply")
        at = lexer.at
        lexer.advance()
        right = _binary(lexer, found + 1, depth + 1)
        left = _apply(op, left, right, at)


def _unary(lexer: Lexer, depth: int) -> Constant:
    signs: list[tuple[str, int]] = []
    while lexer.value in ("-", "+", "~", "!") and lexer.kind not in (NUMBER, IDENT):
        if len(signs) > MAX_DEPTH:
            raise PtxError(lexer.at, "constant expression is nested too deeply")
        signs.append((lexer.value, lexer.at))
        lexer.advance()
    value = _primary(lexer, depth)
    for sign, at in reversed(signs):
        value = _signed(sign, value, at)
    return value


def _primary(lexer: Lexer, depth: int) -> Constant:
    if lexer.kind == NUMBER:
        value = literal(lexer.value, lexer.at)
        lexer.advance()
        return value
    if lexer.kind == IDENT and lexer.value == "WARP_SZ":
        lexer.advance()
        return Constant(WARP_SIZE)
    if lexer.is_punct("("):
        lexer.advance()
        if lexer.kind == DOT_WORD and lexer.value in (".s64", ".u64"):
            unsigned = lexer.value == ".u64"
            lexer.advance()
            lexer.expect(")")
            if depth > MAX_DEPTH:
                raise PtxError(lexer.at, "constant expression is nested too deeply")
            at = lexer.at
            inner = _unary(lexer, depth + 1)
            _need_integer("(.u64)" if unsigned else "(.s64)", inner, at)
            return _wrap(inner.value, unsigned)
        inner = expression(lexer, depth + 1)
        lexer.expect(")")
        return inner
    raise lexer.expected("a constant")


def _wrap(value: int, unsigned: bool) -> Constant:
    value &= _MASK
    return Constant(value if unsigned or value < 1 << 63 else value - (1 << 64), unsigned)


def _signed(sign: str, constant: Constant, at: int) -> Constant:
    if constant.single:
        raise PtxError(at, f"'{sign}' takes no 0f constant; write it in decimal or as 0d")
    if sign == "+":
        return constant
    if constant.is_float:
        if sign != "-":
            _need_integer(sign, constant, at)
        return float_constant(constant.bits64 ^ 1 << 63)
    if sign == "!":
        return Constant(int(constant.value == 0))
    return _wrap(-constant.value if sign == "-" else ~constant.value, constant.unsigned or sign == "~")


def _apply(op: str, a: Constant, b: Constant, at: int) -> Constant:
    if a.single or b.single:
        raise PtxError(at, f"'{op}' takes no 0f constants; write them in decimal or as 0d")
    if a.is_float != b.is_float:
        raise PtxError(at, f"'{op}' takes two integers or two floating-point constants, found one of each")
    if a.is_float:
        return _apply_float(op, _double(a), _double(b), at)
    unsigned = a.unsigned or b.unsigned or op == "%"  # a remainder is one of .u64, as is what ~ gives
    x, y = (a.value & _MASK, b.value & _MASK) if unsigned else (a.value, b.value)
    if op in _COMPARE:
        return Constant(int(_COMPARE[op](x, y)))
    if op == "&&":
        return Constant(int(bool(x) and bool(y)))
    if op == "||":
        return Constant(int(bool(x) or bool(y)))
    if op in ("/", "%"):
        if y == 0:
            raise PtxError(at, "division by zero in a constant expression")
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        return _wrap(quotient if op == "/" else x - quotient * y, unsigned)
    if op in ("<<", ">>"):
        count = b.value & 63
        x = a.value & _MASK if a.unsigned else a.value
        return _wrap(x << count if op == "<<" else x >> count, a.unsigned)
    return _wrap(_INTEGER[op](x, y), unsigned)


_INTEGER: Final[dict[str, Callable[[int, int], int]]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_, "|": operator.or_, "^": operator.xor,
}  # fmt: skip


def _apply_float(op: str, x: float, y: float, at: int) -> Constant:
    if op in _COMPARE:
        return Constant(int(_COMPARE[op](x, y)))
    if op == "+":
        return _from_double(x + y)
    if op == "-":
        return _from_double(x - y)
    if op == "*":
        return _from_double(x * y)
    if op == "/":
        if y == 0:
            raise PtxError(at, "division by zero in a constant expression")
        return _from_double(x / y)
    raise PtxError(at, f"'{op}' takes integer constants")
