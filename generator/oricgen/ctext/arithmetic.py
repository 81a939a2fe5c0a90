"""What operators make of values, and what C compilers warn of."""

from __future__ import annotations

from ..names import did_you_mean
from .types import (
    DOUBLE,
    FLOAT,
    INTEGER,
    POINTER,
    SINGLE,
    TRUTH,
    TextError,
    Value,
    described,
    may_be_negative,
    promoted,
    unfit,
)

_LEVELS = ("||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %")
BINDS = {mark: level for level, marks in enumerate(_LEVELS, 1) for mark in marks.split()}
_EQUALITY = frozenset({"==", "!="})
_ORDER = frozenset({"<", ">", "<=", ">="})
_COMPARISONS = _EQUALITY | _ORDER
_SUMS = frozenset({"+", "-"})
# Operators inside which others need brackets to be read as they are meant (-Wparentheses).
_UNCLEAR = {
    "||": frozenset({"&&"}), "<<": _SUMS, ">>": _SUMS, "|": _COMPARISONS | _SUMS | {"&", "^", "!"},
    "^": _COMPARISONS | _SUMS | {"&"}, "&": _COMPARISONS | _SUMS | {"!"}, **{mark: _COMPARISONS | {"!"} for mark in _EQUALITY},
    **{mark: _ORDER | {"!"} for mark in _ORDER},
}  # fmt: skip
_OF_INTEGERS = frozenset({"|", "^", "&", "<<", ">>", "%"})


def clear(mark: str, left: str, right: str, offset: int) -> None:
    """Refuse operators inside one another that need brackets: ``left`` and ``right`` are those that made the two values.

    Raises:
        TextError: they do.
    """
    unclear = _UNCLEAR.get(mark)
    if unclear is not None and (left in unclear or (right in unclear and right != "!")):
        inner = left if left in unclear else right
        raise TextError(offset, f"'{inner}' beside '{mark}' needs brackets")


def combined(mark: str, left: Value, right: Value, offset: int) -> Value:
    """The value of ``left MARK right``.

    Raises:
        TextError: values that the operator does not take.
    """
    for value in (left, right):
        if value.kind not in {INTEGER, FLOAT} or (value.kind == FLOAT and (mark in _OF_INTEGERS or BINDS[mark] <= 2)):
            raise TextError(offset, f"'{mark}' of {described(value)}")
    if left.kind != right.kind and not _mixes(left, right):
        raise TextError(offset, f"'{mark}' of {described(left)} and {described(right)}: cast one of them")
    if BINDS[mark] <= 2:
        return TRUTH
    if mark in _COMPARISONS:
        return _compared(mark, left, right, offset)
    if FLOAT in {left.kind, right.kind}:
        return DOUBLE if 64 in {v.width for v in (left, right) if v.kind == FLOAT} else SINGLE
    if mark in {"<<", ">>"}:
        return _shifted(mark, left, right, offset)
    if mark in {"/", "%"} and right.number == 0:
        raise TextError(offset, f"'{mark}' by zero")
    return _of_integers(mark, left, right)


def _of_integers(mark: str, left: Value, right: Value) -> Value:
    """Bits and arithmetic of integers."""
    out = promoted(left, right)
    if mark == "&":
        sure = [v.bits for v in (left, right) if v.constant]
        return out._replace(bits=min(sure)) if sure else out
    if mark in {"|", "^"} and not (may_be_negative(left) or may_be_negative(right)):
        return out._replace(bits=max(left.bits, right.bits))
    return out


def _shifted(mark: str, left: Value, right: Value, offset: int) -> Value:
    """A shift has the type of its left side."""
    width = max(32, left.width)
    if right.number is not None and right.number >= width:
        raise TextError(offset, f"'{mark}' by {right.number} of {width} bits")
    return Value(INTEGER, width, left.signed or left.width < width, width)


def _compared(mark: str, left: Value, right: Value, offset: int) -> Value:
    """0 or 1."""
    if left.kind == right.kind == INTEGER:
        _same_signs(mark, left, right, offset)
    return TRUTH


def _same_signs(mark: str, left: Value, right: Value, offset: int) -> None:
    """Refuse a signed number where C makes it an unsigned one (-Wsign-compare)."""
    for one, other in ((left, right), (right, left)):
        if may_be_negative(one) and not other.signed and other.width >= max(32, one.width):
            raise TextError(offset, f"'{mark}' of {described(one)} and {described(other)}: -1 would be the greatest number")


def _mixes(left: Value, right: Value) -> bool:
    """Whether values of two kinds can be in one sum: a float and an integer that is written as a number."""
    return {left.kind, right.kind} == {INTEGER, FLOAT} and all(v.constant for v in (left, right) if v.kind == INTEGER)


def known_values(mark: str, left: Value, right: Value, values: dict[str, list[str]], offset: int) -> None:
    """Refuse the comparison of a modifier with a value that it never has.

    Raises:
        TextError: it is one.
    """
    for one, other in ((left, right), (right, left)) if mark in _EQUALITY else ():
        known = values.get(one.name)
        if known is not None and other.name.startswith("V_") and other.name not in known:
            words = f"the modifier '{one.name}' has no value {other.name}"
            raise TextError(offset, f"'{mark}' is always the same: {words}{did_you_mean(other.name, known)}")


def either(yes: Value, no: Value, offset: int) -> Value:
    """The value of ``c ? yes : no``.

    Raises:
        TextError: they are of different kinds.
    """
    if yes.kind == no.kind == INTEGER:
        _same_signs("?", yes, no, offset)
        out = promoted(yes, no)
        negative = may_be_negative(yes) or may_be_negative(no)
        return out if negative else out._replace(bits=max(yes.bits, no.bits))
    if yes.kind == no.kind == FLOAT:
        return DOUBLE if 64 in {yes.width, no.width} else SINGLE
    if yes.kind == POINTER and not unfit(yes, no):
        return yes
    if yes.kind != no.kind and _mixes(yes, no):
        return yes if yes.kind == FLOAT else no
    raise TextError(offset, f"the two sides of '?' are {described(yes)} and {described(no)}")


def applied(mark: str, value: Value, wanted: Value, offset: int) -> Value:
    """The value of a sign or a cast (``()``, to ``wanted``) before a value.

    Raises:
        TextError: a value that has none.
    """
    if value.kind not in {INTEGER, FLOAT} or (value.kind == FLOAT and mark in {"!", "~"}):
        what = "a cast" if mark == "()" else f"'{mark}'"
        raise TextError(offset, f"{what} of {described(value)}")
    if mark == "~" and value.bits == 1 and not value.constant:
        raise TextError(offset, "'~' of 0 or 1 is never 0: '!' is the other one")
    if mark == "()":
        keeps = wanted.kind == value.kind == INTEGER and not may_be_negative(value)
        return wanted._replace(bits=min(value.bits, wanted.width)) if keeps else wanted
    if mark == "!":
        return TRUTH
    if value.kind == FLOAT or (mark == "+" and value.constant):
        return value
    return promoted(value, value)
