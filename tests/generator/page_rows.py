"""The tables of a page proved: counts, entries, columns, and the targets on which rows matter.

The comparison of rows is written anew here, plainly: rows by key, values flattened to their leaves.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from oricgen.rows import Row

from .page_reading import Column, Entry, Page

Rows = Mapping[str, list[Row]]
OTHER = "other content of files"
KINDS = ("added", "removed", "renamed", "changed")
MAKING = frozenset(
    ("lowering", "macros", "rewrites", "phases", "thresholds", "knobs", "helpers", "numbers")
)  # tables that say how code is made
SETS = frozenset(("features", "attributes", "operations", "isa", "reads", "flags", "capabilities", "effects"))
# Columns that say again what other columns, or the key, say.
NOTES = ("behind", "before", "instructions go to")  # of rules: others that fit the same instructions
DERIVED = {"forms": ("operation", "isa", "mask", "value", "ones"), "latency": ("class", "isa"), "distances": ("isa",)}
MODEL = re.compile(r"(?:^|/|^isa )(sm_\d+\w?)(?=/|$)")


def prove(old: Rows, new: Rows, page: Page) -> list[str]:
    """False or missing statements about rows."""
    names = renames(old, new, page)
    plain = {t: [_called(r, names) for r in rows] for t, rows in old.items()}
    wrong: list[str] = []
    columns = Places(old, new)
    for table in sorted({*old, *new}):
        wrong += [f"{table}: {w}" for w in Table(table, plain.get(table, []), new.get(table, []), page, names, columns).wrong()]
    known = {*old, *new, OTHER}
    return wrong + [f"there is no table {t}" for t in {*page.tables, *page.counts} - known]


# --- new names


def renames(old: Rows, new: Rows, page: Page) -> dict[str, str]:
    """Old name -> new name, as the page says it, where the rows are really gone and come."""
    out = {}
    for table, entries in page.tables.items():
        gone = {r.key for r in old.get(table, [])} - {r.key for r in new.get(table, [])}
        come = {r.key for r in new.get(table, [])} - {r.key for r in old.get(table, [])}
        for entry in entries:
            if entry.kind == "renamed" and entry.keys[0] in gone and entry.new_name in come:
                out[entry.keys[0]] = str(entry.new_name)
    return out


def _called(row: Row, names: dict[str, str]) -> Row:
    """A row of the old version with the new names put in."""
    if not names:
        return row
    return Row(_text(row.key, names), _value(row.values, names), row.path, row.line)


def _text(text: str, names: dict[str, str]) -> str:
    for old, new in names.items():
        for a, b in ((old, new), (codecs.encode(old, "rot13"), codecs.encode(new, "rot13"))):
            text = re.sub(rf"(?<!\w){re.escape(a)}(?!\w)", lambda _, b=b: b, text)
    return text


def _value(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {_text(str(k), names): _value(v, names) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_value(v, names) for v in value]
    return _text(value, names) if isinstance(value, str) else value


# --- values


def leaves(value: Any, prefix: str = "") -> dict[str, Any]:
    """Column -> value: mappings to their leaves, lists of named mappings by name, other lists whole."""
    if isinstance(value, Mapping) and (value or not prefix):
        return dict(chain.from_iterable(leaves(v, f"{prefix}.{k}" if prefix else str(k)).items() for k, v in value.items()))
    names = [v.get("name") for v in value if isinstance(v, Mapping)] if isinstance(value, list | tuple) else []
    if names and len(names) == len(value) and None not in names and len(set(names)) == len(names):
        pairs = ((f"{prefix}[{n}]", v) for n, v in zip(names, value, strict=True))
        return dict(chain.from_iterable(leaves(v, p).items() for p, v in pairs))
    return {prefix: value}


def shown(value: Any) -> str:
    """A value as the pages write it."""
    if value is None:
        return "nothing"
    if value == "":
        return "(empty)"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k}: {shown(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(shown, value)) + "]"
    return str(value)


def loose(text: str) -> str:
    """A text for comparison: blanks, and the order of what stands in braces, do not matter."""
    return " ".join(sorted(re.sub(r"[\s,]+", " ", re.sub(r"[{}\[\]]", " ", text)).split()))


def _same(column: str, one: Any, two: Any) -> bool:
    if isinstance(one, list | tuple) and isinstance(two, list | tuple) and column.rpartition(".")[2] in SETS:
        return Counter(map(shown, one)) == Counter(map(shown, two))
    return loose(shown(one)) == loose(shown(two)) if isinstance(one, Mapping | list) and _unordered(one) else one == two


def _unordered(value: Any) -> bool:
    return isinstance(value, Mapping)


def differing(old: Row, new: Row) -> dict[str, tuple[Any, Any]]:
    """Columns in which two rows differ."""
    one, two = leaves(old.values), leaves(new.values)
    names = dict.fromkeys([*one, *two])
    return {n: (one.get(n), two.get(n)) for n in names if (n in one) != (n in two) or not _same(n, one.get(n), two.get(n))}


# --- one table


class Table:
    """One table of a page and its rows in both versions."""

    def __init__(self, name: str, old: list[Row], new: list[Row], page: Page, names: dict[str, str], places: Places) -> None:
        self.name, self.page, self.names, self.places = name, page, names, places
        self.old, self.new = {r.key: r for r in old}, {r.key: r for r in new}
        self.entries = page.tables.get(name, [])
        self.renamed = {str(e.new_name) for e in self.entries if e.kind == "renamed" and e.keys[0] in names}

    def wrong(self) -> Iterator[str]:
        """False or missing statements."""
        sets = self._sets()
        yield from self._counts(sets)
        covered: dict[str, Counter[str]] = {k: Counter() for k in KINDS}
        for entry in self.entries:
            if entry.kind not in sets:
                yield f"unknown kind {entry.kind}"
                continue
            moved = self._keys(entry, sets[entry.kind])
            if self._moves(entry) and not moved:
                continue
            keys = [str(entry.new_name)] if entry.kind == "renamed" else self._keys(entry, sets[entry.kind])
            if not keys:
                yield f"{entry.kind} {entry.keys}: no such rows"
            if entry.number not in (None, len(keys)):
                yield f"{entry.kind} {entry.keys[:3]}: {entry.number} rows, but {len(keys)} fit"
            covered[entry.kind].update(keys)
            for key in keys:
                yield from (f"{entry.kind} {key}: {w}" for w in self._row(entry, key))
            yield from (f"{entry.kind} {keys[:3]}: {w}" for w in self._matters(entry, keys))
        for kind, keys in sets.items():
            lost = [k for k in keys if not covered[kind][k]]
            if lost and self.name not in self.page.cut:
                yield f"{kind}, but not told: {lost[:5]}"
            yield from (f"{kind} {k} is told {n} times" for k, n in covered[kind].items() if n > 1)

    def _sets(self) -> dict[str, list[str]]:
        changed = [k for k, row in self.new.items() if k in self.old and k not in self.renamed and differing(self.old[k], row)]
        return {
            "added": [k for k in self.new if k not in self.old],
            "removed": [k for k in self.old if k not in self.new],
            "renamed": [k for k in self.new if k in self.renamed],
            "changed": changed,
        }

    def _counts(self, sets: dict[str, list[str]]) -> Iterator[str]:
        said = self.page.counts.get(self.name, {})
        moved = sum(len(e.keys) for e in self.entries if self._moves(e))
        for kind, keys in sets.items():
            number = int(said.get(kind) or 0)
            extra = moved if kind == "changed" else 0
            if not len(keys) <= number <= len(keys) + extra:
                yield f"{number} {kind} on the page, {len(keys)} in the rows"
        if bool(said) != bool(self.entries):
            yield "counted, but not shown" if said else "shown, but not counted"
        for entry in self.entries:
            if entry.matters is None and not said.get("matters on"):
                yield f"{entry.kind} {entry.keys[:3]}: it does not say where it matters"

    @staticmethod
    def _moves(entry: Entry) -> bool:
        """Entries about the order of rows say nothing of their columns."""
        names = ("place", *NOTES)
        return (
            entry.kind == "changed"
            and bool(entry.columns)
            and all(c.name in names or c.name.startswith("place of ") for c in entry.columns)
        )

    def _keys(self, entry: Entry, possible: list[str]) -> list[str]:
        patterns = [_expansion(k) for k in entry.keys]
        return [k for k in possible if k in entry.keys or any(p.fullmatch(k) for p in patterns)]

    def _row(self, entry: Entry, key: str) -> Iterator[str]:
        if entry.kind in ("changed", "renamed"):
            yield from self._columns(entry.columns, self.old.get(key), self.new[key])
        elif entry.like:
            base = self.new.get(entry.like) or self.old.get(entry.like)
            if base is None:
                yield f"there is no row {entry.like}"
                return
            yield from self._columns(entry.columns, base, self.new[key])
        else:
            yield from self._columns(entry.columns, None, (self.new if entry.kind == "added" else self.old)[key])

    def _matters(self, entry: Entry, keys: list[str]) -> Iterator[str]:
        """An entry, or the cell of the table where the entry says nothing."""
        said = entry.matters or self.page.counts.get(self.name, {}).get("matters on", "")
        want = self.places.of(self.name, [side[k] for k in keys for side in (self.old, self.new) if k in side])
        if want is None:
            return
        got = self.places.read(said)
        if entry.matters is None and len(self.entries) > 1 and want <= got:
            return  # the table's own cell holds for all of its entries
        if got != want:
            yield f"matters on {said}, not on {', '.join(sorted(want)) or 'none'}"

    def _columns(self, columns: list[Column], old: Row | None, new: Row) -> Iterator[str]:
        """Whether the columns of an entry are those in which rows differ, with their values."""
        found = differing(old, new) if old is not None else {k: (None, v) for k, v in leaves(new.values).items()}
        told: set[str] = set()
        for column in columns:
            if column.name in NOTES and column.name not in found:
                yield from self._note(column, new)
                continue
            covers = [c for c in found if c == column.name or c.startswith((f"{column.name}.", f"{column.name}["))]
            covers += [c for c in found if column.before and (c == column.before or c.startswith(f"{column.before}."))]
            told.update(covers)
            if not covers:
                yield f"{column.name} does not differ"
            elif not column.before:
                yield from _cell(column, found, old, new)
        empty = (None, [], {}, "")
        lost = [c for c in found if c not in told and c not in DERIVED.get(self.name, ())]
        if lost and (old is not None or any(found[c][1] not in empty for c in lost)):
            yield f"columns that are not told: {[(c, found[c]) for c in lost[:3]]}"

    def _note(self, column: Column, row: Row) -> Iterator[str]:
        """Rules that are named stand on the side that the page says, and are of the same instruction."""
        rows = list((self.old if column.name == "instructions go to" else self.new).values())
        keys = [r.key for r in rows]
        listed = column.lines or [column.new or ""]
        named = [r for r in rows if any(re.search(rf"(?:^|[\s\[]){re.escape(r.key)}(?:$|[\s,\]])", x) for x in listed)]
        if not named:
            yield f"{column.name}: {listed} are no rules"
        for other in named:
            first = keys.index(other.key) < keys.index(row.key)
            if first != (column.name == "behind") or other.values["instruction"] != row.values["instruction"]:
                yield f"{column.name}: {other.key} is not"


def _expansion(key: str) -> re.Pattern[str]:
    """A key with braces as a shell would expand them; braces may be the key's own as well."""
    out, at = "", 0
    for found in re.finditer(r"\{([^{}]*)\}", key):
        out += re.escape(key[at : found.start()])
        inner = "|".join(re.escape(x) for x in found[1].split(","))
        out += f"(?:{re.escape(found[0])}|{inner})"
        at = found.end()
    return re.compile(out + re.escape(key[at:]))


def _cell(column: Column, found: dict[str, tuple[Any, Any]], old: Row | None, new: Row) -> Iterator[str]:
    one = _at(old.values, column.name) if old is not None else None
    two = _at(new.values, column.name)
    if column.name in found:
        one, two = found[column.name]
    if column.lines:
        yield from _block(column, one, two)
        return
    for said, value in ((column.old, one), (column.new, two)):
        if said is not None and loose(said) != loose(shown(value)) and not _cut(said, shown(value)):
            yield f"{column.name} is {shown(value)}, the page says {said}"


def _cut(said: str, value: str) -> bool:
    """A long value may be shown in part, around what differs, with three dots for the rest."""
    parts = [p.strip() for p in re.split(r"\.\.\.|…", said)]
    at = 0
    for part in parts:
        at = value.find(part, at)
        if at < 0:
            return False
    return len(parts) > 1


def _block(column: Column, one: Any, two: Any) -> Iterator[str]:
    """A diff block turns the old list into the new one."""
    before, after = Counter(map(shown, one or ())), Counter(map(shown, two or ()))
    minus = Counter(x[1:].strip() for x in column.lines if x.startswith("-"))
    plus = Counter(x[1:].strip() for x in column.lines if x.startswith("+"))
    if {loose(x): n for x, n in (before + plus - minus).items()} != {loose(x): n for x, n in after.items()}:
        yield f"{column.name}: the lines do not make {shown(two)} of {shown(one)}"


def _at(values: Any, name: str) -> Any:
    """The value under a column that may be no leaf."""
    if name in values:
        return values[name]
    for cut in range(len(name)):
        if name[cut] == "." and isinstance(inner := values.get(name[:cut]), Mapping):
            found = _at(inner, name[cut + 1 :])
            if found is not None:
                return found
    return None


# --- where rows matter


class Places:
    """The targets of both versions, in order, and where a row matters."""

    def __init__(self, old: Rows, new: Rows) -> None:
        rows = [r for r in (*new.get("targets", ()), *old.get("targets", ())) if r.key.startswith("sm_")]
        self.order = list(dict.fromkeys(r.key for r in rows))
        self.models = {r.key: str(r.values.get("isa")) for r in reversed(rows) if r.values.get("isa")}
        self.features = {f for r in rows for f in r.values.get("features") or ()}
        self.code = {r.key for r in rows if r.values.get("code") is True}

    def read(self, text: str) -> set[str]:
        """The targets of ``sm_80, sm_86 to sm_89``, ``all targets``, ``all targets with code``."""
        if text == "all targets":
            return set(self.models)
        if text == "all targets with code":
            return set(self.code)
        out: set[str] = set()
        known = [t for t in self.order if t in self.models]
        for part in filter(None, text.split(", ")):
            first, _, last = part.partition(" to ")
            order = known if first in known and (last or first) in known else self.order
            if first in order:
                out.update(order[order.index(first) : order.index(last or first) + 1])
        return out

    def _limited(self, row: Row) -> bool:
        """Whether a row has columns that keep it from targets; conditions in words do not."""
        if "when" in row.values and all(w.removeprefix("!") in self.features for w in str(row.values["when"]).split()):
            return True
        return any(k in row.values for k in ("since", "sm", "arch", "target"))

    def of(self, table: str, rows: list[Row]) -> set[str] | None:
        """Where rows of a table matter; None where the documentation does not say."""
        if table == "targets":
            return {r.key for r in rows} if all(r.key.startswith("sm_") for r in rows) else None
        everywhere = self.code if table in MAKING else set(self.models)
        out: set[str] = set()
        for row in rows:
            names = _models(row)
            if names is None and self._limited(row):
                return None
            fitting = everywhere if names is None else {t for t in everywhere if self.models.get(t) in names}
            out |= fitting
        return out


def _models(row: Row) -> set[str] | None:
    """The encoding models that a row names: in its column, or in its key."""
    isa = row.values.get("isa")
    if isa:
        return {isa} if isinstance(isa, str) else set(map(str, isa))
    found = set(MODEL.findall(row.key))
    return found or None
