"""What no row of a table shows: other content of a file, and the order of rules where it decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .. import strictyaml
from ..lowering import patterns
from ..rows import Row, plain
from ..spec import Spec
from ..tables import lowering
from .compare import CHANGED, Change, RowChange, TableChange, differences, renamed, renames_of
from .reading import files

FILES = "other content of files"


def unlisted(old: Path, new: Path, changes: Sequence[TableChange]) -> TableChange:
    """Files of two folders with other content, order aside, of which no row differs."""
    listed = {row.path for change in changes for r in change.rows for row in (r.old, r.new) if row}
    before, after = files(old / "spec"), files(new / "spec")
    names = renames_of(changes)
    out = []
    for name, data in after.items():
        if name.endswith(".yaml") and f"spec/{name}" not in listed and before.get(name, data) != data:
            one, two = (plain(strictyaml.loads(text.decode(), name)) for text in (before[name], data))
            one = renamed(one, names)
            if _canonical(one) != _canonical(two):
                rows = [Row(name, values, f"spec/{name}", 1) for values in (one, two)]
                out.append(RowChange(CHANGED, rows[0], rows[1], differences(_in_order(one, two), two)))
    return TableChange(FILES, tuple(out))


def _in_order(one: Any, two: Any) -> Any:
    """``one`` with its lists in the order that they have in ``two``, where they have the same items."""
    if isinstance(one, dict) and isinstance(two, dict):
        return {key: _in_order(value, two.get(key)) for key, value in one.items()}
    return two if isinstance(one, list) and isinstance(two, list) and _canonical(one) == _canonical(two) else one


def _canonical(value: Any) -> str:
    """The value as text, keys and lists in one order."""
    if isinstance(value, dict):
        return "{" + ",".join(sorted(f"{key}:{_canonical(item)}" for key, item in value.items())) + "}"
    return "[" + ",".join(sorted(map(_canonical, value))) + "]" if isinstance(value, list) else repr(value)


def reordered(before: Sequence[Row], after: Sequence[Row], spec: Spec) -> list[RowChange]:
    """Lowering rules that changed places with another one that fits the same instruction: the first that fits is taken.

    ``spec`` is the new specification.
    """
    was = {row.key: (place, row) for place, row in enumerate(before) if "instruction" in row.values}
    kept: dict[str, list[Row]] = {}
    for row in after:
        if row.key in was and "instruction" in row.values:
            kept.setdefault(row.values["instruction"], []).append(row)
    out = []
    for rows in kept.values():
        places = [was[row.key][0] for row in rows]
        if places != sorted(places):
            for first, second in _inverted(rows, places):
                if _meet(_slots(first.key, spec), _slots(second.key, spec)):
                    change = Change("place", f"behind {second.key}", f"before {second.key}, which fits the same instructions")
                    out.append(RowChange(CHANGED, was[first.key][1], first, (change,)))
    return out


def _inverted(rows: Sequence[Row], places: Sequence[int]) -> Iterator[tuple[Row, Row]]:
    """Pairs that stood the other way round."""
    for i, first in enumerate(rows):
        for j in range(i + 1, len(rows)):
            if places[j] < places[i]:
                yield first, rows[j]


def _slots(key: str, spec: Spec) -> tuple[patterns.Slot, ...]:
    return patterns.parse(key.partition(" ")[0], lowering.load(spec).sets, "", 0).slots


def _meet(one: tuple[patterns.Slot, ...], two: tuple[patterns.Slot, ...]) -> bool:
    """Whether some sequence of qualifiers fits both."""
    if not one and not two:
        return True
    if one and one[0].optional and _meet(one[1:], two):
        return True
    if two and two[0].optional and _meet(one, two[1:]):
        return True
    return bool(one and two and set(one[0].tokens) & set(two[0].tokens)) and _meet(one[1:], two[1:])
