"""The phase list: ``spec/phases.yaml``."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from .. import handlers
from ..errors import SpecError
from ..rows import Row, plain
from ..spec import Spec

NAME = "phases"
FILES = ("phases.yaml",)
COUNT = 159
UNDOCUMENTED = "undocumented"


def load(spec: Spec) -> Any:
    """The rows as they stand in the file, checked."""
    check(spec)
    return spec.load(FILES[0])["phases"]


def analyses(spec: Spec) -> Any:
    """The analyses that phases may need and keep, in their order, checked."""
    check(spec)
    return spec.load(FILES[0])["analyses"]


def recipes(spec: Spec) -> Any:
    """The recipes of NvOpt levels, checked."""
    check(spec)
    return spec.load(FILES[0])["recipes"]


def rows(spec: Spec) -> list[Row]:
    """One row a phase; an undocumented one is called by its number."""
    out = []
    table = load(spec)
    for number, row in enumerate(table):
        named = row["name"] != UNDOCUMENTED
        out.append(Row(row["name"] if named else f"phase {number}", plain(row), f"spec/{FILES[0]}", table.line_of(number)))
    return out


def counts(spec: Spec) -> dict[str, int]:
    """Phases, and those that do something."""
    rows = load(spec)
    return {"phases": len(rows), "phases with a function": sum(1 for row in rows if row["function"])}


def check(spec: Spec) -> None:
    """Numbering, gates and order.

    Raises:
        SpecError: the first row that breaks one of them.
    """
    data = spec.load(FILES[0])
    path = spec.path(FILES[0])
    rows = data["phases"]
    known = _check_analyses(path, data)
    contracts: dict[str, tuple[int, tuple[set[str], set[str]]]] = {}
    if len(rows) != COUNT:
        raise SpecError(path, data.line_of("phases"), f"phases: there are {len(rows)} rows, not {COUNT}")
    places: dict[str, list[int]] = {}
    names: set[str] = set()
    for number, row in enumerate(rows):
        line = rows.line_of(number)
        if row["index"] != number:
            raise SpecError(path, line, f"{row['name']}: index {row['index']} stands where {number} is expected")
        if row["name"] != UNDOCUMENTED and row["name"] in names:
            raise SpecError(path, line, f"{row['name']}: another phase has this name")
        names.add(row["name"])
        if row["name"] != UNDOCUMENTED:
            places[row["name"]] = [number]
        if (row["name"] != UNDOCUMENTED or row["function"]) and not ("source" in row and "doc" in row):
            raise SpecError(path, line, f"{row['name']}: phase {number} needs a source and a doc")
        if row["required"] and (row["min_level"] or not row["function"]):
            raise SpecError(path, line, f"{row['name']}: phase {number} is required but does not run at every level")
        if row["function"]:
            if row["function"] not in handlers.passes():
                message = f"{row['name']}: phase {number}: no registry of passes has the function '{row['function']}'"
                raise SpecError(path, line, message)
            places.setdefault(row["function"], []).append(number)
        _check_contract(path, rows, number, known, contracts)
    _check_ssa(path, data)
    _check_recipes(spec, path, data)
    for number, rule in enumerate(data["constraints"]):
        line = data["constraints"].line_of(number)
        for side in ("before", "after"):
            if rule[side] not in places:
                raise SpecError(path, line, f"constraints: no phase runs '{rule[side]}' or is called that")
        if max(places[rule["before"]]) >= min(places[rule["after"]]):
            raise SpecError(path, line, f"constraints: {rule['before']} must come before {rule['after']}: {rule['reason']}")


def _check_analyses(path: PurePosixPath, data: Any) -> dict[str, set[str]]:
    """The analyses and what each is made from, itself among them."""
    known: dict[str, set[str]] = {}
    for number, row in enumerate(data["analyses"]):
        line = data["analyses"].line_of(number)
        name = row["name"]
        if name in known:
            raise SpecError(path, line, f"analyses: '{name}' is listed twice")
        if name not in handlers.analyses():
            raise SpecError(path, line, f"analyses: {handlers.CONTRACTS} does not know '{name}'")
        for other in row["from"]:
            if other not in known:
                raise SpecError(path, line, f"analyses: '{name}' is made from '{other}', which is not listed before it")
        known[name] = {name}.union(*(known[other] for other in row["from"]))
    for name in sorted(handlers.analyses() - known.keys()):
        raise SpecError(path, data.line_of("analyses"), f"analyses: there is no row for '{name}' of {handlers.CONTRACTS}")
    return known


def _check_ssa(path: PurePosixPath, data: Any) -> None:
    """One phase opens partial SSA form, a later one closes it, and what runs between says that it is in it."""
    rows = data["phases"]
    places: dict[str, list[int]] = {"opens": [], "closes": []}
    for number, row in enumerate(rows):
        if row.get("ssa") in places:
            places[row["ssa"]].append(number)
    opens, closes = places["opens"], places["closes"]
    if len(opens) != 1 or len(closes) != 1 or opens[0] > closes[0] or not rows[closes[0]]["required"]:
        message = "phases: one phase opens partial SSA form, and a later one, which is required, closes it"
        raise SpecError(path, data.line_of("phases"), message)
    for number, row in enumerate(rows):
        between = opens[0] < number < closes[0]
        if between != (row.get("ssa") == "window") and (not between or row["function"]) and number not in (opens[0], closes[0]):
            what = "stands in partial SSA form and does not say so" if between else "does not stand in partial SSA form"
            raise SpecError(path, rows.line_of(number), f"{row['name']}: phase {number} {what} (`ssa`)")


def _check_recipes(spec: Spec, path: PurePosixPath, data: Any) -> None:
    """Recipes are in order, of phases that may be switched off, and have a number for every level."""
    levels = len(spec.load("knobs.yaml")["nvopt"])
    last = -1
    for number, row in enumerate(data["recipes"]):
        line, index = data["recipes"].line_of(number), row["phase"]
        if index <= last:
            raise SpecError(path, line, f"recipes: phase {index} stands behind phase {last}")
        last = index
        if index >= COUNT or not data["phases"][index]["function"] or data["phases"][index]["required"]:
            raise SpecError(path, line, f"recipes: phase {index} is none that can be switched off")
        if len(row["levels"]) != levels:
            raise SpecError(
                path, line, f"recipes: phase {index} has {len(row['levels'])} levels, not {levels} (knobs.yaml: nvopt)"
            )


def _check_contract(
    path: PurePosixPath,
    rows: Any,
    number: int,
    known: dict[str, set[str]],
    contracts: dict[str, tuple[int, tuple[set[str], set[str]]]],
) -> None:
    """``needs`` and ``keeps`` of a row: known names, what is kept whole, the same for the same function."""
    row, line = rows[number], rows.line_of(number)
    function = row["function"]
    for column in ("needs", "keeps"):
        if (column in row) != bool(function):
            raise SpecError(path, line, f"{row['name']}: phase {number}: `{column}` goes with a function")
        for name in row.get(column, ()):
            if name not in known:
                message = f"{row['name']}: phase {number}: {column}: there is no analysis '{name}' ({', '.join(known)})"
                raise SpecError(path, line, message)
    if not function:
        return
    needs, keeps = set(row["needs"]), set(row["keeps"])
    for name in row["keeps"]:
        for other in sorted(known[name] - keeps):
            raise SpecError(
                path, line, f"{row['name']}: phase {number}: it keeps '{name}', but not '{other}', which that is made from"
            )
    first, contract = contracts.setdefault(function, (number, (needs, keeps)))
    if contract != (needs, keeps):
        raise SpecError(
            path, line, f"{row['name']}: phase {number}: '{function}' needs and keeps something else in phase {first}"
        )
