"""Relations between numbers, as ``spec/checks.yaml`` writes them: ``1 <= limits.blocks_per_sm <= limits.warps_per_sm``."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

Number = int | float
Values = Mapping[str, Any]  # columns by name: "limits.max_regs", "value[0]"

_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Number]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip
_DISJOINT = "disjoint"


class Unknown(Exception):
    """A value that nobody knows: whether the relation holds cannot be told."""


@dataclass(frozen=True, eq=False)
class Relation:
    """A relation that was read: its text, and the columns that it names, in the order of the text."""

    text: str
    columns: tuple[str, ...]
    tree: ast.expr

    def involved(self, values: Values) -> tuple[str, ...]:
        """The columns to show where it does not hold: of ranges that overlap only the first two that do."""
        if isinstance(self.tree, ast.Call):
            one, two = next(pair for pair in pairwise(_spans(self.tree.args, values)) if pair[0][1] > pair[1][0])
            return tuple(name for name in self.columns if name in (*one[2], *two[2]))
        return self.columns

    def holds(self, values: Values) -> bool:
        """Whether it holds; also where that cannot be told, as a value is no number."""
        try:
            return bool(_truth(self.tree, values))
        except (Unknown, ZeroDivisionError):  # a unit of 0 breaks a relation of its own
            return True


def parse(text: str) -> Relation:
    """Read a relation.

    Raises:
        ValueError: what cannot be read.
    """
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"cannot be read: {getattr(error, 'msg', error)}") from error
    columns: dict[str, None] = {}
    if not isinstance(tree, ast.Compare) and not _is_disjoint(tree):
        raise ValueError("it compares nothing")
    _check(tree, columns)
    return Relation(text, tuple(columns), tree)


def _check(node: ast.expr, columns: dict[str, None]) -> None:
    """Only what :func:`_number` and :func:`_truth` know; notes the columns."""
    match node:
        case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _COMPARISONS for op in ops):
            parts: Sequence[ast.expr] = [left, *others]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            parts = [left, right]
        case ast.Call(args=args) if _is_disjoint(node):
            parts = args
        case ast.Constant(value=int() | float()):
            return
        case ast.Name() | ast.Attribute() | ast.Subscript():
            columns[ast.unparse(node)] = None
            return
        case _:
            raise ValueError(f"'{ast.unparse(node)}' is not known here")
    for part in parts:
        _check(part, columns)


def _is_disjoint(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == _DISJOINT
        and not node.keywords
        and len(node.args) % 2 == 0
    )


def _truth(node: ast.expr, values: Values) -> bool:
    if isinstance(node, ast.Call):
        return _disjoint(node.args, values)
    assert isinstance(node, ast.Compare)
    numbers = [_number(part, values) for part in (node.left, *node.comparators)]
    return all(_COMPARISONS[type(op)](*numbers[at : at + 2]) for at, op in enumerate(node.ops))


def _number(node: ast.expr, values: Values) -> Number:
    """The value of a part.

    Raises:
        Unknown: it is no number.
    """
    if isinstance(node, ast.Constant):
        assert isinstance(node.value, (int, float))
        return node.value
    if isinstance(node, ast.BinOp):
        return _ARITHMETIC[type(node.op)](_number(node.left, values), _number(node.right, values))
    found = values.get(_name(node))
    if not isinstance(found, (int, float)):
        raise Unknown
    return found


Span = tuple[Number, Number, tuple[str, ...]]  # its first and last value plus 1, the columns that say so


def _disjoint(arguments: Sequence[ast.expr], values: Values) -> bool:
    """Whether ranges (start, length) share nothing; what is unknown is left out."""
    return all(one[1] <= two[0] for one, two in pairwise(_spans(arguments, values)))


def _spans(arguments: Sequence[ast.expr], values: Values) -> list[Span]:
    spans: list[Span] = []
    for start, length in zip(arguments[::2], arguments[1::2], strict=True):
        try:
            first = _number(start, values)
            spans.append((first, first + _number(length, values), (_name(start), _name(length))))
        except Unknown:
            continue
    return sorted(spans)


@cache
def _name(node: ast.expr) -> str:
    return ast.unparse(node)
