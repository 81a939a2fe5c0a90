"""How the compiler line may touch a function: cursors make instructions, no local names an array, operands have accessors."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2] / "runtime/oric"
PACKAGES = ("ir", "lower", "phases", "regalloc", "sched", "encode", "driver")
OWNERS = {"function.py", "cursor.py"}  # of oric.ir: what the rules are about
ARRAYS = frozenset(
    node.targets[0].attr
    for node in ast.walk(ast.parse((ROOT / "ir/function.py").read_text(encoding="utf-8")))
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute) and ast.unparse(node.value) == "vec[i64]()"
)
# What tells other code that an analysis is outdated stands in setters and cursors, so nothing else writes these.
KEPT = ARRAYS & {"op", "mods", "guard", "first", "count", "room", "operand", "prev", "next", "head", "tail", "succ"}


def mistakes(tree: ast.AST) -> Iterator[str]:
    """Lines of a module that break a rule."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            yield from _in_function(function)


def _in_function(function: ast.FunctionDef) -> Iterator[str]:
    operands = set()
    for node in ast.walk(function):
        for target, value in _assignments(node):
            if isinstance(target, ast.Name) and _is_array(value, ARRAYS):
                yield f"{node.lineno}: '{target.id}' names an array of a function"
            if isinstance(target, ast.Name) and _is_operand(value):
                operands.add(target.id)
            if _is_array(target, ARRAYS) and not _is_new(value):
                yield f"{node.lineno}: '{ast.unparse(target)}' is made anew; cursors append"
            if isinstance(target, ast.Subscript) and _is_array(target.value, KEPT):
                yield f"{node.lineno}: '{ast.unparse(target)}' is written; functions have setters, cursors rewrite"
    for node in ast.walk(function):
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.LShift, ast.RShift)) and _shifts_one(node.left, operands):
            yield f"{node.lineno}: '{ast.unparse(node)}': oric.ir.operand has accessors for the fields of operands"


def _shifts_one(node: ast.expr, operands: set[str]) -> bool:
    return _is_operand(node) or (isinstance(node, ast.Name) and node.id in operands)


def _assignments(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """(target, value) of an assignment; of those of tuples each pair."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                yield from zip(target.elts, node.value.elts, strict=True)
            else:
                yield target, node.value
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign)) and node.value is not None:
        yield node.target, node.value


def _is_array(node: ast.expr, names: frozenset[str]) -> bool:
    """``f.op``, ``self.code.op``."""
    return isinstance(node, ast.Attribute) and node.attr in names and ast.unparse(node.value).split(".")[-1] in {"f", "code"}


def _is_new(value: ast.expr) -> bool:
    """An array of another size that a phase or a kernel fills, not one more element."""
    return not (isinstance(value, ast.Call) and ast.unparse(value.func) == "append")


def _is_operand(node: ast.expr) -> bool:
    """``f.get(i, at)``, ``f.operand[k]``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        return ast.unparse(node.func.value).split(".")[-1] in {"f", "code"}
    return isinstance(node, ast.Subscript) and _is_array(node.value, frozenset({"operand"}))


@pytest.mark.parametrize("package", PACKAGES)
def test_the_compiler_line_keeps_to_them(package: str) -> None:
    found = []
    for path in sorted((ROOT / package).glob("**/*.py")):
        if package == "ir" and path.name in OWNERS:
            continue
        found += [f"{path.relative_to(ROOT)}:{text}" for text in mistakes(ast.parse(path.read_text(encoding="utf-8")))]
    assert found == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ops = f.op", "1: 'ops' names an array"),
        ("a, ops = 1, self.code.op", "1: 'ops' names an array"),
        ("f.op = append(f.op, 3)", "1: 'f.op' is made anew"),
        ("f.op[i] = 3", "1: 'f.op[i]' is written"),
        ("f.guard[i] ^= 3", "1: 'f.guard[i]' is written"),
        ("f.next[i] = f.prev[i]", "1: 'f.next[i]' is written"),
        ("x = f.get(i, 0) >> 24", "oric.ir.operand has accessors"),
        ("o = f.operand[k]; return o << 3", "oric.ir.operand has accessors"),
    ],
)
def test_what_is_refused(line: str, message: str) -> None:
    (found, *_) = mistakes(ast.parse(f"def function(f): {line}"))
    assert message in found


def test_what_is_allowed() -> None:
    for line in ("op = f.op[i]", "f.set(i, 0, f.get(i, 1))", "f.line[i] = 3", "x = f.mods[i] >> 3", "n = len(f.op)"):
        assert not list(mistakes(ast.parse(f"def function(f): {line}")))
