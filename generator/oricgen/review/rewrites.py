"""Rewrite rules that come or go, with those that fit what they fit: the first rule that fits is applied."""

from __future__ import annotations

from collections.abc import Sequence

from ..rewriting import checks, resolve
from ..rewriting.model import Rule, Rules
from ..spec import Spec
from ..tables import rewrites
from .compare import ADDED, CHANGED, REMOVED, Change, RowChange, TableChange

TABLE = rewrites.NAME


def overlaps(changes: Sequence[TableChange], old: Spec, new: Spec) -> list[RowChange]:
    """What rules that were added take from others, and which ones those that were removed leave their instructions to."""
    rows = [r for c in changes if c.name == TABLE for r in c.rows if r.kind in (ADDED, REMOVED)]
    out = []
    for row in rows:
        spec = new if row.kind == ADDED else old
        rules = resolve.load(spec)
        place = {(r.path, r.line): n for n, r in enumerate(rules.rules)}.get((row.row.path, row.row.line))
        if place is not None:
            resolver = resolve.Resolver(spec)
            found = tuple(rule.text() for rule in _wider(rules, place, resolver))
            if found:
                column = "before" if row.kind == ADDED else "instructions go to"
                out.append(RowChange(CHANGED, row.row, row.row, (Change(column, None, found),)))
    return out


def _wider(rules: Rules, place: int, resolver: resolve.Resolver) -> list[Rule]:
    """The rules behind one whose patterns fit all that it fits."""
    one = rules.rules[place]
    return [rule for rule in rules.rules[place + 1 :] if checks.covers(rule, one, rules.commute, resolver)]
