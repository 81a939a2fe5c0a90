"""Two versions of a table: which rows were added, removed, renamed, changed, and in which columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

from ..rows import Row

ADDED, REMOVED, RENAMED, CHANGED = "added", "removed", "renamed", "changed"
KINDS = (ADDED, REMOVED, RENAMED, CHANGED)
# Columns whose lists are sets: their order says nothing.
UNORDERED = frozenset({"operations", "features", "effects", "flags", "memory", "does", "isa", "capabilities", "fields"})
SAME = 0.5  # rows that agree in this share of their content are one row under two names
NAMES = ("name", "attribute", "code", "field")  # what tells the items of a list of mappings apart
LONG, ALIKE = 16, 0.75  # an added row of so many columns is told by one that has this share of them
_MOST_PAIRS = 50_000


@dataclass(frozen=True)
class Change:
    """One column (``modifiers.rnd``) with its values; None where it is not there."""

    column: str
    old: Any
    new: Any
    was: str = ""  # the column's old name, when it was renamed


@dataclass(frozen=True)
class RowChange:
    """One row that differs; ``like`` is the row of the new version that an added one resembles, ``changes`` then says how.

    ``notes`` say what the row means to others: they are no columns of it.
    """

    kind: str
    old: Row | None
    new: Row | None
    changes: tuple[Change, ...] = ()
    like: Row | None = None
    notes: tuple[Change, ...] = ()

    @property
    def row(self) -> Row:
        """The new row, or the old one of a removed row."""
        row = self.new or self.old
        assert row is not None
        return row


@dataclass(frozen=True)
class TableChange:
    """All rows of a table that differ, in the order added, removed, renamed, changed, each in the order of the table."""

    name: str
    rows: tuple[RowChange, ...]

    def count(self, kind: str) -> int:
        """How many rows of that kind."""
        return sum(1 for row in self.rows if row.kind == kind)


def tables(old: Mapping[str, Sequence[Row]], new: Mapping[str, Sequence[Row]], order: Sequence[str]) -> list[TableChange]:
    """The tables that both versions have and that differ; those of ``order`` first.

    A row that was renamed in a table that is compared earlier has its new name in all that are compared later.
    """
    both = [name for name in new if name in old]
    names = [name for name in order if name in both] + [name for name in both if name not in order]
    renames: dict[str, str] = {}
    out = []
    for name in names:
        rows = (
            [replace(r, key=renamed(r.key, renames), values=renamed(r.values, renames)) for r in old[name]]
            if renames
            else old[name]
        )
        found = table(name, rows, new[name])
        if found.rows:
            out.append(found)
        renames |= renames_of([found])
    return out


def joined(changes: Sequence[TableChange], more: TableChange, order: Sequence[str]) -> list[TableChange]:
    """``changes`` with further rows of one table; tables of ``order`` stay first."""
    if not more.rows:
        return list(changes)
    by_name = {change.name: change for change in changes}
    mine = by_name.get(more.name, TableChange(more.name, ()))
    by_name[more.name] = TableChange(more.name, mine.rows + more.rows)
    names = [name for name in order if name in by_name]
    return [by_name[name] for name in [*names, *(n for n in by_name if n not in names)]]


def renames_of(changes: Iterable[TableChange]) -> dict[str, str]:
    """Old name -> new name of the rows that were renamed."""
    return {r.old.key: r.new.key for c in changes for r in c.rows if r.kind == RENAMED and r.old and r.new}


def renamed(value: Any, renames: Mapping[str, str]) -> Any:
    """A value with old names replaced wherever they stand as words, in keys too, and in front of the modifiers of an instruction;
    a name with a point alone is another name.
    """
    if not renames:
        return value
    pattern = re.compile(r"(?<![\w.])(" + "|".join(re.escape(name) for name in renames) + r")(?!\w|\.[\w.]*$)")

    def put(value: Any) -> Any:
        if isinstance(value, str):
            return pattern.sub(lambda m: renames[m[1]], value)
        if isinstance(value, Mapping):
            return {put(key): put(item) for key, item in value.items()}
        return [put(item) for item in value] if isinstance(value, list | tuple) else value

    return put(value)


def table(name: str, old: Sequence[Row], new: Sequence[Row]) -> TableChange:
    """What differs between two versions of one table."""
    before = {row.key: row for row in old}
    after = {row.key: row for row in new}
    removed = [row for row in old if row.key not in after]
    added = [row for row in new if row.key not in before]
    pairs = _renames(removed, added, old, new)
    changed = []
    for row in new:
        if row.key in before and (found := differences(before[row.key].values, row.values)):
            changed.append(RowChange(CHANGED, before[row.key], row, found))
    taken = {a.key for _, a in pairs}
    gone = {r.key for r, _ in pairs}
    rows = [_added(row, [r for r in new if r.key in before]) for row in added if row.key not in taken]
    rows += [RowChange(REMOVED, row, None) for row in removed if row.key not in gone]
    rows += [RowChange(RENAMED, r, a, differences(_own_name(r, a), a.values)) for r, a in pairs]
    return TableChange(name, tuple(rows + changed))


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[Change, ...]:
    """The columns that differ, in the order of the new row; a column whose name alone changed is one change."""
    if old == new:
        return ()
    before, after = dict(leaves(old)), dict(leaves(new))
    out = [Change(key, before.get(key), value) for key, value in after.items() if key not in before or before[key] != value]
    out += [Change(key, value, None) for key, value in before.items() if key not in after]
    return tuple(_moved_names(out, before, after))


def _moved_names(changes: list[Change], before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    """Joins a column that came and one that went, side by side and with one value."""
    gone = [c for c in changes if c.column not in after]
    joined: set[str] = set()
    for change in changes:
        if change.column in before and change.column in after:
            yield change
        elif change.column in after:
            parent = change.column.rpartition(".")[0]
            twin = next(
                (
                    g
                    for g in gone
                    if parent and g.column.rpartition(".")[0] == parent and g.old == change.new and g.column not in joined
                ),
                None,
            )
            if twin is not None:
                joined.add(twin.column)
                yield Change(change.column, twin.old, change.new, twin.column)
            else:
                yield change
        elif change.column not in joined:
            yield change


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Columns of columns by dotted names; a list of plain values is one value, of mappings one column an item."""
    if isinstance(value, Mapping) and (value or not path):
        for key, item in value.items():
            yield from leaves(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
        for label, item in zip(_labels(value), value, strict=True):
            yield from leaves(item, f"{path}[{label}]")
    elif isinstance(value, list | tuple | set | frozenset):
        items = [_plain(item) for item in value]
        loose = isinstance(value, set | frozenset) or path.rpartition(".")[2] in UNORDERED
        yield path, tuple(sorted(items, key=str) if loose else items)
    else:
        yield path, _plain(value)


def _labels(items: Sequence[Any]) -> list[str]:
    """What to call the items of a list: by the column that is different in all of them, else by their number."""
    for name in NAMES:
        found = [str(item.get(name)) if isinstance(item, Mapping) else "None" for item in items]
        if "None" not in found and len(set(found)) == len(found):
            return found
    return [str(number) for number in range(1, len(items) + 1)]


def _plain(value: Any) -> Any:
    """The value in hashable form: a mapping that stands in a list of a list is its text, in the order of its keys."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_plain(value[key])}" for key in sorted(value, key=str)) + "}"
    return tuple(_plain(item) for item in value) if isinstance(value, list | tuple) else value


def _own_name(row: Row, other: Row) -> dict[str, Any]:
    """The columns of ``row`` with its name, in every spelling that rows derive from it, replaced by that of ``other``."""
    spellings = [(row.key, other.key), (_rot13(row.key), _rot13(other.key)), (row.key.lower(), other.key.lower())]

    return dict(renamed(row.values, {mine: theirs for mine, theirs in spellings if mine}))


def _rot13(name: str) -> str:
    return "".join(chr((ord(c) - 65 + 13) % 26 + 65) if c.isupper() else c for c in name)


def _renames(removed: list[Row], added: list[Row], old: Sequence[Row], new: Sequence[Row]) -> list[tuple[Row, Row]]:
    """Rows that went and rows that came which are one another's best match, in the order of the new ones."""
    if not removed or not added or len(removed) * len(added) > _MOST_PAIRS:
        return []
    common = Counter(leaf for rows in (old, new) for row in rows for leaf in leaves(row.values))
    scores = {(r.key, a.key): likeness(_own_name(r, a), a.values, common) for r in removed for a in added}
    best_old = {a.key: max(removed, key=lambda r: scores[r.key, a.key]) for a in added}
    best_new = {r.key: max(added, key=lambda a: scores[r.key, a.key]) for r in removed}
    out = []
    for a in added:
        r = best_old[a.key]
        if best_new[r.key].key == a.key and scores[r.key, a.key] >= SAME:
            out.append((r, a))
    return out


def likeness(one: Mapping[str, Any], two: Mapping[str, Any], common: Mapping[Any, int]) -> float:
    """Share of the content that is the same, 0 to 1; what many rows of the table have counts little."""
    mine, theirs = set(leaves(one)), set(leaves(two))

    def weight(found: Iterable[Any]) -> float:
        return fsum(1 / max(common[leaf], 1) for leaf in found)  # the same in any order

    both, all_ = weight(mine & theirs), weight(mine | theirs)
    # What is the same in both was counted in the old and the new version: it is as telling as what only one has.
    return 2 * both / (all_ + both) if all_ else 0.0


def _added(row: Row, known: Sequence[Row]) -> RowChange:
    """An added row; a long one is told by the row that it inherits from, or resembles most, when they have most in common."""
    mine = set(leaves(row.values))
    if len(mine) < LONG:
        return RowChange(ADDED, None, row)
    parents = [other for other in known if other.key == row.values.get("inherits")]
    best, most = None, 0
    for other in parents or known:
        shared = len(mine & set(leaves(other.values)))
        if shared > most:
            best, most = other, shared
    if best is None or most < ALIKE * len(mine):
        return RowChange(ADDED, None, row)
    return RowChange(ADDED, None, row, differences(best.values, row.values), best)
