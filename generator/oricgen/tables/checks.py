"""Relations that numbers of other tables must keep, and files that may lie in the folder: ``spec/checks.yaml``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .. import relation
from ..errors import Mistakes, SpecError
from ..names import did_you_mean
from ..relation import Relation
from ..rows import Row
from ..spec import Spec
from ..strictyaml import Map, Seq
from . import _rows

NAME = "checks"
FILES = ("checks.yaml",)
_FILE = FILES[0]
_KEYS = {"tables": "table {table} {name}", "relations": "{table}: {holds}", "passing_files": "file {pattern}"}


def counts(spec: Spec) -> dict[str, int]:
    """Relations, patterns of file names."""
    found = load(spec)
    return {"relations of numbers": len(found["relations"]), "files of editors": len(found["passing_files"])}


def passing(spec: Spec) -> dict[str, str]:
    """Patterns of the names of files that editors leave for a while -> who does."""
    return {row.values["pattern"]: row.values["doc"] for row in load(spec)["passing_files"]}


def check(spec: Spec) -> None:
    """The relations can be read, name what there is, and hold.

    Raises:
        SpecError: the first that does not.
    """
    from . import all_tables  # this table is one of them

    sections, tables = load(spec), {table.NAME: table for table in all_tables() if table.NAME != NAME}
    with Mistakes() as each:
        for row in (*sections["tables"], *sections["relations"]):
            with each:
                if row.values["table"] not in tables:
                    hint = did_you_mean(row.values["table"], tables)
                    raise _error(row, f"'{row.values['table']}' is no table{hint}")
    wanted = dict.fromkeys(row.values["table"] for row in (*sections["tables"], *sections["relations"]))
    rows: dict[str, list[Row]] = {}
    with Mistakes() as each:
        for name in wanted:
            with each:
                rows[name] = tables[name].rows(spec)
        with each:
            wholes = _wholes([view for view in sections["tables"] if view.values["table"] in rows], rows)
            shared = {f"{table}.{name}": number for table, whole in wholes.items() for name, (_, number) in whole.items()}
            views = {name: _view(found, wholes.get(name), shared) for name, found in rows.items()}
            for row in sections["relations"]:
                with each:
                    rule, table = _parsed(row), row.values["table"]
                    if not (wanted.keys() - rows.keys()) & {table, *(name.partition(".")[0] for name in rule.columns)}:
                        _check_relation(spec, row, rule, views[table])


def _error(row: Row, message: str) -> SpecError:
    return SpecError(row.path, row.line, f"{row.key}: {message}")


def _parsed(row: Row) -> Relation:
    try:
        return relation.parse(row.values["holds"])
    except ValueError as error:
        raise _error(row, str(error)) from error


Whole = dict[str, tuple[Row, Any]]  # name -> its row, its number


@dataclass(frozen=True)
class View:
    """What relations see of a table: each row with its numbers and those of whole tables, or the table as a whole."""

    rows: list[tuple[Row, dict[str, Any]]]
    known: dict[str, Any]
    whole: Whole | None


def _wholes(sections: Iterable[Row], rows: Mapping[str, list[Row]]) -> dict[str, Whole]:
    """Table -> the numbers of all its rows by name.

    Raises:
        SpecError: no row has the columns.
    """
    out: dict[str, Whole] = {}
    for view in sections:
        names = view.values
        try:
            found = {
                names["name"].format_map(r.values): r for r in rows[names["table"]] if _has(r, names["name"], names["number"])
            }
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise _error(view, f"the name '{names['name']}' cannot be read") from error
        if not found:
            raise _error(view, f"no row of {names['table']} has these columns")
        whole = out.setdefault(names["table"], {})
        for name, row in found.items():
            whole |= {key: (row, number) for key, number in _flat(row.values[names["number"]], name)}
    return out


def _has(row: Row, name: str, number: str) -> bool:
    try:
        name.format_map(row.values)
    except KeyError:
        return False
    return number in row.values


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The values inside a value by their names: ``limits.max_regs``, ``value[0]``."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _flat(inner, f"{name}[{at}]")
    else:
        yield name, value


def _view(rows: list[Row], whole: Whole | None, shared: Mapping[str, Any]) -> View:
    if whole is not None:
        return View([], {**shared, **{name: number for name, (_, number) in whole.items()}}, whole)
    each = [(row, {**shared, **dict(_flat(row.values))}) for row in rows]
    return View(each, {name: 0 for _, numbers in each for name in numbers}, None)


def _check_relation(spec: Spec, row: Row, rule: Relation, view: View) -> None:
    """The relation names what there is, and holds.

    Raises:
        SpecError: the first row where it does not; the others are its others.
    """
    for name in rule.columns:
        if name not in view.known:
            raise _error(row, f"'{name}' is no column of {row.values['table']}{did_you_mean(name, view.known)}")
    if view.whole is not None:
        if not rule.holds(view.known):
            named = [view.whole[name][0] for name in rule.columns if name in view.whole]
            last = max(named, key=lambda one: one.line, default=row)
            raise SpecError(last.path, last.line, f"{last.key}: {_said(row, rule, view.known)}")
        return
    with Mistakes() as each:
        for one, numbers in view.rows:
            with each:
                if not rule.holds(numbers):
                    line = _stated(spec, one, rule.involved(numbers))
                    if line:
                        raise SpecError(one.path, line, f"{one.key}: {_said(row, rule, numbers)}")


def _said(row: Row, rule: Relation, numbers: Mapping[str, Any]) -> str:
    """What the values are, and what must hold."""
    values = " and ".join(f"{name} is {numbers[name]}" for name in rule.involved(numbers))
    return f"{values}, but {rule.text} must hold: {row.values['why']}"


def _stated(spec: Spec, row: Row, columns: Iterable[str]) -> int:
    """The line on which the row itself states the first of the columns that it does; 0 if it inherits them all."""
    raw = _raw(spec.load(row.path.removeprefix("spec/")), row)
    if raw is None:
        return row.line
    for name in columns:
        at, parts = raw, name.split(".")
        for part in parts[:-1]:
            at = at.get(part) if isinstance(at, Map) else None
        if isinstance(at, Map) and parts[-1] in at:
            return at.line_of(parts[-1])
    return 0


def _raw(data: Any, row: Row) -> Any:
    """The mapping that the row was read from, found by its name and line; None if the file has no such."""
    if isinstance(data, Map):
        if row.key in data and data.line_of(row.key) == row.line:
            return data[row.key]
        return next((found for inner in data.values() if (found := _raw(inner, row)) is not None), None)
    if isinstance(data, Seq):
        return next((found for inner in data if (found := _raw(inner, row)) is not None), None)
    return None


def _check(spec: Spec, found: _rows.Sections) -> None:
    """What the rows say of other tables is checked by :func:`check`, which reads them."""


load, rows, _ = _rows.section_table(NAME, _FILE, _KEYS, {}, _check)
