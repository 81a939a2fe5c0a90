"""Selection of rows: the conditions, columns and formats of ``oricgen query``.

A column is a name of the uniform view (:class:`oricgen.rows.Row`); a dot goes into a mapping, and into every item of a list:
``limits.max_regs``, ``forms.shape``. Two columns are there always: ``key``, and ``place`` (file and line). ``#COLUMN`` is how
many values COLUMN has; columns from other tables are in :mod:`oricgen.derived`.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .errors import UsageError
from .isa import ranges
from .names import did_you_mean
from .rows import Row

KEY, PLACE = "key", "place"
CELL = 64  # a cell of an overview is cut here; columns that are asked for are shown whole
MISSING = ""
JOINED, COUNTED = "@", "#"  # in front of the name of a column: of another table; how many values
SIGNS = ("=", "!=", "~", "<", "<=", ">", ">=", "==", "in")
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_CONDITION = re.compile(
    r"(?P<column>[^=!~<>\s]+(?:\s[^=!~<>\s]+)*?)(?P<sign>\s+in\s+|\s*(?:==|!=|<=|>=|=|~|<|>)\s*)(?P<value>.*)\Z", re.DOTALL
)
_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+)+\Z")
_NUMBER = re.compile(r"-?(?:0x[0-9a-fA-F]+|[0-9]+)\Z")


@dataclass(frozen=True)
class Order:
    """What the specification puts in an order: encoding models, and targets and models by their place in the line."""

    isas: Sequence[str] = ()
    places: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Condition:
    """A column, a sign and what stands behind it; ``values`` are its items where the sign takes several."""

    column: str
    sign: str
    value: str
    values: tuple[str, ...] = ()
    order: Order = Order()

    def holds(self, row: Row) -> bool:
        """Whether the row has it. A list has what one of its items has; a column that a row lacks has no value at all."""
        found = list(members(cells(row, self.column)))
        if self.sign == "~":
            return any(re.search(self.value, text(v)) for v in found)
        if self.sign in _COMPARE:
            return any(_compared(v, self.sign, self.value, self.order) for v in found)
        if self.sign in ("==", "in"):
            inside = all(any(_equal(v, w) for w in self.values) for v in found)
            return inside and bool(found) and (self.sign == "in" or all(any(_equal(v, w) for v in found) for w in self.values))
        return any(_equal(v, self.value) for v in found) == (self.sign == "=")


def parse(word: str, order: Order = Order()) -> Condition:
    """Read a condition; ``order`` is what ranges and comparisons of names go by.

    Raises:
        UsageError: it is none, its regular expression is broken, its range is none, or it compares with what has no order.
    """
    match = _CONDITION.match(word)
    if not match:
        raise UsageError(f"'{word}' is no condition: write COLUMN and a value with one of {', '.join(SIGNS)} between them")
    column, sign, value = match["column"], match["sign"].strip(), match["value"]
    if sign == "~":
        try:
            re.compile(value)
        except re.error as error:
            raise UsageError(f"'{word}': '{value}' is no regular expression: {error}") from error
    if sign in _COMPARE and _rank(value, order) is None:
        raise UsageError(f"'{word}': '{value}' has no order: it is no number, no version, and no target or model")
    return Condition(column, sign, value, _items(word, value, order) if sign in ("==", "in") else (), order)


def _items(word: str, value: str, order: Order) -> tuple[str, ...]:
    """``A,B`` with ranges of models written out."""
    out: list[str] = []
    for item in (part.strip() for part in value.split(",")):
        try:
            out += ranges.expand(item, order.isas) if ranges.BETWEEN in item else [item]
        except ValueError as error:
            raise UsageError(f"'{word}': {error}") from error
    return tuple(out)


def _compared(value: Any, sign: str, wanted: str, order: Order) -> bool:
    one, two = _rank(value, order), _rank(wanted, order)
    return one is not None and two is not None and one[0] == two[0] and bool(_COMPARE[sign](one[1], two[1]))


def _rank(value: Any, order: Order) -> tuple[str, Any] | None:
    """What a value is compared by, with its kind: numbers and versions as numbers, names by their place in the line."""
    if isinstance(value, bool) or value is None:
        return None
    words = str(value)
    if words in order.places:
        return "name", order.places[words]
    if isinstance(value, int) or _NUMBER.match(words):
        return "number", (int(words, 0),)
    return ("number", tuple(map(int, words.split(".")))) if _VERSION.match(words) else None


def select(rows: list[Row], conditions: list[Condition], table: str) -> list[Row]:
    """The rows for which every condition holds, in their order.

    Raises:
        UsageError: a condition names a column that no row has.
    """
    for condition in conditions:
        require(rows, condition.column, table)
    return [row for row in rows if all(c.holds(row) for c in conditions)]


def require(rows: list[Row], column: str, table: str) -> None:
    """Refuse a column that no row has.

    Raises:
        UsageError: naming the columns that are most like it.
    """
    column = column.removeprefix(COUNTED)
    if rows and not any(_has(row, column) for row in rows):
        known = all_columns(rows)
        level = [name for name in known if name.count(".") == column.count(".")]
        inner = [name for name in known if name.endswith(f".{column}")]
        hint = f"; did you mean {', '.join(inner)}?" if inner else did_you_mean(column, level)
        hint = hint or f"; it has {', '.join(columns(rows))}"
        raise UsageError(f"table '{table}' has no column '{column}'{hint}")


def columns(rows: list[Row]) -> list[str]:
    """The columns of the first level, in order of first appearance."""
    return list(dict.fromkeys(str(name) for row in rows for name in row.values))


def all_columns(rows: list[Row]) -> list[str]:
    """All names that a condition may use."""
    out = dict.fromkeys([KEY, PLACE])
    for row in rows:
        out.update(dict.fromkeys(_paths(row.values, "")))
    return list(out)


def _paths(value: Any, prefix: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield f"{prefix}{name}"
            yield from _paths(item, f"{prefix}{name}.")
    elif isinstance(value, list | tuple):
        for item in value:
            if isinstance(item, dict):
                yield from _paths(item, prefix)


def cells(row: Row, column: str) -> Iterator[Any]:
    """What a row has under a column: nothing, one value, or one for each item of the lists on the way."""
    if column.startswith(COUNTED):
        yield len(list(members(cells(row, column.removeprefix(COUNTED)))))
    elif column == PLACE:
        yield f"{row.path}:{row.line}"
    elif column == KEY and KEY not in row.values:
        yield row.key
    else:
        yield from _walk(row.values, column.split("."))


def _walk(value: Any, parts: list[str]) -> Iterator[Any]:
    if not parts:
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _walk(item, parts)
    elif hasattr(value, "items"):
        for count in range(1, len(parts) + 1):  # a name may have dots in it
            name = ".".join(parts[:count])
            for key, item in value.items():
                if str(key) == name:
                    yield from _walk(item, parts[count:])


def _has(row: Row, column: str) -> bool:
    return next(cells(row, column), _has) is not _has


def members(found: Iterable[Any]) -> Iterator[Any]:
    """Lists opened: membership is what one asks of them. Of a mapping the keys are its members."""
    for value in found:
        if isinstance(value, list | tuple):
            yield from members(value)
        elif isinstance(value, dict):
            yield from value
        else:
            yield value


def _equal(value: Any, wanted: str) -> bool:
    if isinstance(value, int) and not isinstance(value, bool) and _NUMBER.match(wanted):
        return value == int(wanted, 0)
    return text(value) == wanted


def text(value: Any) -> str:
    """A value as it is written in YAML, on one line; a string as it is."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {text(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(text(v) for v in value) + "]"
    return " ".join(str(value).split())


def shown(row: Row, column: str) -> str:
    """The cell of an aligned table."""
    found = list(cells(row, column))
    if not found:
        return MISSING
    return text(found[0]) if len(found) == 1 else ", ".join(text(v) for v in found)


def render(rows: list[Row], names: list[str], how: str) -> str:
    """The rows as ``table``, ``yaml``, ``json`` or ``tsv``; ``names`` are the columns asked for (none: all).

    Aligned tables show the key first; without a choice of columns they leave out what every row lacks and cut long cells.
    """
    if how == "json":
        return json.dumps([_data(row, names) for row in rows], indent=1, ensure_ascii=False, default=str) + "\n"
    if how == "yaml":
        return _yaml(rows, names)
    wanted = names or [KEY, *(c for c in columns(rows) if c != KEY)]
    if names and KEY not in names:
        wanted = [KEY, *names]
    body = [[shown(row, column) for column in wanted] for row in rows]
    if how == "tsv":
        return "".join("\t".join(line) + "\n" for line in [wanted, *body])
    if not names:
        body = [[cell if len(cell) <= CELL else cell[: CELL - 3] + "..." for cell in line] for line in body]
    return aligned([wanted, *body])


def aligned(lines: list[list[str]]) -> str:
    """Columns padded to the widest cell, two spaces apart."""
    if not lines:
        return ""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "".join("  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() + "\n" for line in lines)


def _data(row: Row, names: list[str]) -> dict[str, Any]:
    if not names:
        return {KEY: row.key, **row.values}
    out: dict[str, Any] = {KEY: row.key}
    for name in names:
        found = list(cells(row, name))
        if found:
            out[name] = found[0] if len(found) == 1 else found
    return out


def _yaml(rows: list[Row], names: list[str]) -> str:
    import yaml

    data = {}
    for row in rows:
        values = _data(row, names)
        if KEY not in row.values:
            del values[KEY]
        data[row.key] = json.loads(json.dumps(values, default=str))  # tuples become lists
    options: dict[str, Any] = {"sort_keys": False, "width": 130, "allow_unicode": True, "default_flow_style": None}
    return str(yaml.dump(data, Dumper=yaml.CSafeDumper, **options)) if data else ""
