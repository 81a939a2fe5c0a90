"""Rewrite rules, constant folding and commuting sources: ``spec/rewrites``."""

from __future__ import annotations

from ..rewriting import checks, resolve
from ..rewriting.show import show
from ..rows import Row, plain
from ..spec import Spec
from ._shared import numbered

NAME = "rewrites"
FILES = (resolve.FOLDER,)


def rows(spec: Spec) -> list[Row]:
    """A rule is called by what it looks for.

    ``fold IADD3``, ``commute IADD3``, ``contract FADD``, ``function reachable``, ``rank`` are rows too.
    """
    out = []
    for rule in resolve.load(spec).rules:
        values = {
            "match": show(rule.match), "make": show(rule.make), "if": " and ".join(rule.conditions) or "always",
            "within": ", ".join(rule.within.text()) if rule.within is not None else "", "rule": rule.text(),
        }  # fmt: skip
        out.append(Row(show(rule.match), values, rule.path, rule.line))
    for name, data in spec.family(FILES[0]).items():
        path = f"spec/{name}"
        fold, commute, functions = data.get("fold", []), data.get("commute", {}), data.get("functions", {})
        contract = data.get("contract", {})
        out += [Row(f"fold {op}", {}, path, fold.line_of(number)) for number, op in enumerate(fold)]
        out += [Row(f"commute {op}", plain(row), path, commute.line_of(op)) for op, row in commute.items()]
        out += [Row(f"contract {op}", plain(row), path, contract.line_of(op)) for op, row in contract.items()]
        out += [Row(f"function {key}", plain(row), path, functions.line_of(key)) for key, row in functions.items()]
        out += [Row(f"rank {op}", {"place": place}, path, data.line_of("rank")) for place, op in enumerate(data.get("rank", ()))]
    return numbered(out)


def counts(spec: Spec) -> dict[str, int]:
    """Rules, foldable and commutative operations."""
    found = resolve.load(spec)
    return {
        "rewrite rules": len(found.rules),
        "operations that fold": sum(len(data.get("fold", [])) for data in spec.family(FILES[0]).values()),
        "operations that commute": len(found.commute),
        "sums that are contracted": len(found.contract),
    }


def check(spec: Spec) -> None:
    """Names, reachability, measure.

    Raises:
        SpecError: the first rule that is refused.
    """
    checks.check(resolve.load(spec), resolve.Resolver(spec))
