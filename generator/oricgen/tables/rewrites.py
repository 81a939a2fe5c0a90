"""Algebraic rules, constant folding and commuting sources: ``spec/rewrites``."""

from __future__ import annotations

from ..rows import Row, plain
from ..spec import Spec
from ..strictyaml import Map
from ._shared import numbered

NAME = "rewrites"
FILES = ("rewrites",)


def load(spec: Spec) -> dict[str, Map]:
    """The files of the folder as they stand."""
    return spec.family(FILES[0])


def rows(spec: Spec) -> list[Row]:
    """A rule is called by what it looks for (``IADD3 x RZ RZ``); ``fold IADD3`` and ``commute IADD3`` are rows too."""
    out = []
    for name, data in load(spec).items():
        path = f"spec/{name}"
        rules = data["rules"]
        for number, rule in enumerate(rules):
            key = " ".join([rule["op"], *map(str, rule["search"])])
            out.append(Row(key, plain(rule), path, rules.line_of(number)))
        fold, commute = data["fold"], data["commute"]
        out += [Row(f"fold {op}", {"value": text}, path, fold.line_of(op)) for op, text in fold.items()]
        out += [Row(f"commute {op}", plain(row), path, commute.line_of(op)) for op, row in commute.items()]
    return numbered(out)


def counts(spec: Spec) -> dict[str, int]:
    """Rules, foldable and commutative operations."""
    found = load(spec).values()
    return {
        "algebraic rules": sum(len(data["rules"]) for data in found),
        "operations that fold": sum(len(data["fold"]) for data in found),
        "operations that commute": sum(len(data["commute"]) for data in found),
    }


def check(spec: Spec) -> None:
    """The output that compiles the rules checks them."""
