"""The expressions of ``spec/ocg``: read, checked, and made Python of the generated tables."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

# What an expression may name of a call (oric.lower.ocg.Call): values, and functions with the arguments that they take.
VALUES = frozenset({"n", "results", "args", "count", "i"})
FUNCTIONS = {
    "has": None, "sub": 1, "type": 1, "bits": 1, "is_const": 1, "value": 1, "opt": None, "last": None, "feature": 1,
    "number": None, "rest": 1, "all_words": 2, "min": None, "max": None, "len": 1,
}  # fmt: skip
_BUILTIN = frozenset({"min", "max", "len"})
_WORDS = frozenset({"has", "opt", "last", "number"})  # functions of sub-operations
_NODES = (
    ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE,
    ast.Gt, ast.GtE, ast.In, ast.NotIn, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.IfExp, ast.Constant,
    ast.Tuple, ast.Call, ast.Name, ast.Load, ast.JoinedStr, ast.FormattedValue, ast.Dict, ast.Subscript,
)  # fmt: skip
_RANGE = re.compile(r"\{(.+)\.\.(.+)\}")

Fail = Callable[[str], Exception]


@dataclass(frozen=True)
class Language:
    """What the words of an operation's expressions are checked against."""

    subops: Collection[str]
    features: Collection[str]
    fail: Fail
    names: Mapping[str, str] = field(default_factory=dict)  # expressions that stand for their names

    def expression(self, text: str, loop: bool = False) -> str:
        """An expression as Python of a function of ``c``.

        Raises:
            SpecError: it is none, or names what does not exist.
        """
        return ast.unparse(self._made(self._parsed(text), loop))

    def text(self, pattern: str) -> str:
        """A text with expressions in braces as Python."""
        return ast.unparse(self._made(self._parsed(f"f{pattern!r}"), False))

    def operand(self, word: str) -> str:
        """An operand of an instruction as Python: a tuple of what it is and its numbers."""
        if word.startswith("="):
            return f"('number', {self.expression(word[1:])})"
        if word.startswith("["):
            inner = word[1:-1]
            return f"('address', {self.expression(inner.removesuffix(':64'))}, {inner.endswith(':64')})"
        if word.endswith(":64"):
            return f"('wide', {self.expression(word[:-3])})"
        between = _RANGE.fullmatch(word)
        if between:
            return f"('vector', {self.expression(between[1])}, {self.expression(between[2])})"
        if "|" in word:
            first, second = word.split("|")
            return f"('pair', {self.expression(first)}, {self.expression(second)})"
        return f"('param', {self.expression(word)})"

    def _parsed(self, text: str) -> ast.Expression:
        try:
            tree: ast.Expression = _Named(self.names).visit(ast.parse(text, mode="eval"))
        except SyntaxError as error:
            raise self.fail(f"'{text}' is no expression: {error.msg}") from error
        return tree

    def _made(self, tree: ast.Expression, loop: bool) -> ast.Expression:
        for node in ast.walk(tree):
            if not isinstance(node, _NODES):
                raise self.fail(f"'{ast.unparse(tree)}': no expression may have {type(node).__name__}")
            if isinstance(node, ast.Call):
                self._check_call(node)
        return ast.fix_missing_locations(_Names(self.fail, loop).visit(tree))  # type: ignore[no-any-return]

    def _check_call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name not in FUNCTIONS or node.keywords:
            raise self.fail(f"'{ast.unparse(node)}': there is no such function")
        if FUNCTIONS[name] not in (None, len(node.args)):
            raise self.fail(f"'{ast.unparse(node)}' takes {FUNCTIONS[name]} argument{'' if FUNCTIONS[name] == 1 else 's'}")
        for word in node.args:
            known = self.subops if name in _WORDS else self.features if name == "feature" else None
            if known is not None and not (isinstance(word, ast.Constant) and word.value in known):
                raise self.fail(f"'{ast.unparse(node)}': {ast.unparse(word)} does not exist")


class _Named(ast.NodeTransformer):
    """Names of expressions become these."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """An expression, whose names are looked at as well."""
        text = self.names.get(node.id)
        return node if text is None else self.visit(ast.parse(text, mode="eval").body)


class _Names(ast.NodeTransformer):
    """Names of a call become its attributes."""

    def __init__(self, fail: Fail, loop: bool) -> None:
        self.fail = fail
        self.loop = loop

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """A value, or a function behind which a call stands."""
        if node.id in _BUILTIN or (node.id == "i" and self.loop):
            return node
        if (node.id not in VALUES and node.id not in FUNCTIONS) or node.id == "i":
            raise self.fail(f"there is no value '{node.id}'")
        return ast.Attribute(ast.Name("c", ast.Load()), node.id, ast.Load())
