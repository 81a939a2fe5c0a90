"""Which rules make an operation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..lowering import template
from ..lowering.compiler import Compiler
from ..outputs.lowering import compiler_of
from ..rows import Row
from .index import Index

_OPERATION = re.compile(r"[A-Z][A-Z0-9_]*(?:\.[A-Za-z0-9_]+)*")  # in the text of a rewrite rule


def alternatives(row: Row) -> list[Mapping[str, Any]]:
    """The alternatives of a row of the table ``lowering``: its cases, or the row itself."""
    cases = [value for name, value in row.values.items() if str(name).startswith("case ")]
    return cases or [row.values]


def operations_of(row: Row, compiler: Compiler) -> list[str]:
    """The operations that a lowering rule or template makes, in order of first use."""
    return list(dict.fromkeys(_operations(row, compiler)))


def _operations(row: Row, compiler: Compiler) -> Iterator[str]:
    for alternative in alternatives(row):
        for text in alternative.get("emit", ()):
            line = template.parse(text, row.path, row.line)
            if not line.label:
                yield compiler.operation_of(line, row.line)[0].name


def lowering_rules(index: Index) -> list[tuple[Row, list[str]]]:
    """Every rule and template of spec/lowering with the operations that it makes; made once."""
    return index.spec.memo("operations that rules make", lambda: _lowering_rules(index))


def _lowering_rules(index: Index) -> list[tuple[Row, list[str]]]:
    compilers: dict[str, Compiler] = {}
    out = []
    for row in index.rows("lowering"):
        if not row.key.startswith(("set ", "macro ")):
            if row.path not in compilers:
                compilers[row.path] = compiler_of(index.spec, row.path.removeprefix("spec/"))
            out.append((row, operations_of(row, compilers[row.path])))
    return out


def rewrites(index: Index, operation: str) -> list[Row]:
    """The rewrite rules, folds and commutations that look for an operation or put it in."""
    keys = (f"fold {operation}", f"commute {operation}")
    rows = index.rows("rewrites")
    return [row for row in rows if row.key in keys or operation in _OPERATION.findall(row.values.get("rule", ""))]
