"""What no row of a table shows: other content of a file, and the order of rules where it decides."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
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
ROWS = "in rows"  # words of rows whose columns are the same
PROSE = ("source", "sources", "note", "doc", "about")
Rows = Mapping[str, Sequence[Row]]


def unlisted(
    old: Path, new: Path, changes: Sequence[TableChange], before: Rows, after: Rows, ordered: bool = False
) -> TableChange:
    """What the files of two folders say differently and no row that differs shows.

    ``before`` and ``after``: the rows of all tables. Content of a file that belongs to no row (sources, constraints, sets of
    values, macros) is told as it stands; a row with the same columns but other words in the file is told by those.
    ``ordered``: the order of lists is content too.
    """
    shown = tuple(
        _places(row for c in changes for r in c.rows if (row := getattr(r, side)) is not None) for side in ("old", "new")
    )
    known = _places(r for rows in before.values() for r in rows), _places(r for rows in after.values() for r in rows)
    names = renames_of(changes)
    texts = files(old / "spec"), files(new / "spec")
    out = []
    for name in sorted({*texts[0], *texts[1]}):
        if not name.endswith(".yaml") or texts[0].get(name) == texts[1].get(name):
            continue
        key = f"spec/{name}"
        one, two = (
            _rest(strictyaml.loads(text[name].decode(), name), rows.get(key, {}), set(seen.get(key, {}))) if name in text else {}
            for text, rows, seen in zip(texts, known, shown, strict=True)
        )
        one = renamed(one, names)
        _drop_equal(one, two)
        if one != two and (ordered or _canonical(one) != _canonical(two)):
            rows = [Row(name, values, key, 1) for values in (one, two)]
            out.append(RowChange(CHANGED, rows[0], rows[1], differences(one if ordered else _in_order(one, two), two)))
    return TableChange(FILES, tuple(out))


def _places(rows: Iterable[Row]) -> dict[str, dict[int, set[str]]]:
    """File -> lines at which rows stand, with the names of their columns."""
    out: dict[str, dict[int, set[str]]] = {}
    for row in rows:
        out.setdefault(row.path, {}).setdefault(row.line, set()).update(row.values)
    return out


def _rest(value: Any, rows: Mapping[int, set[str]], shown: set[int]) -> dict[str, Any]:
    """Content without the rows that the page shows, but for prose that no column of theirs has. Other rows stay under ``ROWS``,
    so that their words can be compared."""
    out: dict[str, Any] = {}
    kept: dict[str, list[Any]] = {}

    def keep(item: Any, line: int, path: str) -> None:
        if line not in shown and not any(line <= other <= _last(item) for other in shown):
            kept.setdefault(path, []).append(plain(item))
        elif isinstance(item, strictyaml.Map):
            said = {key: plain(item[key]) for key in PROSE if key in item and key not in rows[line]}
            kept.setdefault(path, []).extend([said] if said else [])

    def walk(value: Any, path: tuple[str, ...]) -> None:
        named = isinstance(value, strictyaml.Map)
        items: Iterable[tuple[Any, Any]] = value.items() if named else enumerate(value)
        for key, item in items:
            line = value.line_of(key)
            here = (*path, str(key)) if named else path
            if line in rows and path:
                keep(item, line, ".".join(here))
            elif isinstance(item, strictyaml.Map | strictyaml.Seq) and any(line <= row <= _last(item) for row in rows):
                walk(item, here)
            elif named:
                out[".".join(here)] = plain(item)
            else:
                out.setdefault(".".join(path), []).append(plain(item))

    walk(value, ())
    return out | ({ROWS: kept} if kept else {})


def _last(value: Any) -> int:
    """The last line that something of a value stands on."""
    if isinstance(value, strictyaml.Map):
        return max([value.line, *value.lines.values(), *map(_last, value.values())])
    if isinstance(value, strictyaml.Seq):
        return max([value.line, *value.lines, *map(_last, value)])
    return 0


def _drop_equal(one: dict[str, Any], two: dict[str, Any]) -> None:
    """Of the rows that are kept, only those stay that the other side does not have in the same words.

    A row that stays on one side only is one that the page shows under the other side's line, or as added or removed.
    """
    mine, theirs = one.get(ROWS, {}), two.get(ROWS, {})
    for key in {*mine, *theirs}:
        have = [Counter(map(_canonical, side.get(key, ()))) for side in (mine, theirs)]
        for side, other in ((mine, have[1]), (theirs, have[0])):
            side[key] = [item for item in side.get(key, ()) if not other[_canonical(item)]]
        if not mine[key] or not theirs[key]:
            mine.pop(key), theirs.pop(key)
    for side in (one, two):
        if not side.get(ROWS):
            side.pop(ROWS, None)


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


def orders(before: Rows, after: Rows, changed: Collection[str]) -> list[RowChange]:
    """Tables of the files ``changed`` whose rows, those that both versions have, stand in another order."""
    out = []
    for name, rows in after.items():
        was, now = [r.key for r in before.get(name, ())], [r.key for r in rows]
        both = set(was) & set(now)
        one, two = ([key for key in keys if key in both] for keys in (was, now))
        paths = {row.path for row in rows} & set(changed)
        if one != two and paths:
            path = sorted(paths)[0]
            changes = tuple(Change(f"place of {key}", _behind(one, key), _behind(two, key)) for key in moved(one, two))
            out.append(RowChange(CHANGED, Row(name, {}, path, 1), Row(name, {}, path, 1), changes))
    return out


def moved(one: Sequence[str], two: Sequence[str]) -> list[str]:
    """The fewest names that must be moved to make the order ``two`` of the order ``one``."""
    place = {name: n for n, name in enumerate(one)}
    tails: list[int] = []  # the smallest last place of a rising row of each length
    ends: list[str] = []  # and the name there
    before: dict[str, str | None] = {}
    for name in two:
        at = bisect_left(tails, place[name])
        before[name] = ends[at - 1] if at else None
        tails[at:], ends[at:] = [place[name], *tails[at + 1 :]], [name, *ends[at + 1 :]]
    kept, name_ = set(), ends[-1] if ends else None
    while name_ is not None:
        kept.add(name_)
        name_ = before[name_]
    return [name for name in two if name not in kept]


def _behind(names: Sequence[str], key: str) -> str:
    place = names.index(key)
    return f"behind {names[place - 1]}" if place else "first"


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


def with_overlaps(changes: Sequence[TableChange], before: Sequence[Row], after: Sequence[Row], spec: Spec) -> list[TableChange]:
    """The changes with notes at lowering rules that were added, removed or renamed: the rules that fit some of the same
    instructions. Those before such a rule leave it the rest only, those behind it lose what it fits.

    ``spec`` is the new specification.
    """

    def noted(change: RowChange) -> RowChange:
        rows = after if change.new is not None else before
        return replace(change, notes=tuple(_overlap(change, rows, spec)))

    return [replace(c, rows=tuple(map(noted, c.rows))) if c.name == lowering.NAME else c for c in changes]


def _overlap(change: RowChange, rows: Sequence[Row], spec: Spec) -> Iterator[Change]:
    """The rules before and behind one that came or went which fit some of the same instructions."""
    row = change.row
    if change.kind == CHANGED or "instruction" not in row.values:
        return
    others = [r for r in rows if r.values.get("instruction") == row.values["instruction"]]
    place = next(n for n, r in enumerate(others) if r.key == row.key)
    met = [(n, r) for n, r in enumerate(others) if n != place and _meet(_slots(r.key, spec), _slots(row.key, spec))]
    sides = (("behind", True), ("before", False)) if change.new is not None else (("instructions go to", False),)
    for column, first in sides:
        if keys := tuple(r.key for n, r in met if (n < place) == first):
            yield Change(column, None, keys)


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
