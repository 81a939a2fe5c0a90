"""Backend objects and the operations that a target may override: ``spec/backends.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .. import handlers
from ..errors import SpecError
from ..names import did_you_mean
from ..rows import Row
from ..spec import Spec
from ..strictyaml import Map
from . import _rows, phases

NAME = "backends"
FILES = ("backends.yaml",)
COUNT = 7
_FILE = FILES[0]
_KEYS = {
    "bases": "base {name}",
    "backends": "case {case}",
    "documented": "operation {name}",
    "values": "operation {name}",
}


@dataclass(frozen=True)
class Operation:
    """An operation of a backend.

    ``phases`` are the indices of the phases that it is (none for a value), ``function`` what they run where nothing overrides
    it ("" for nothing), ``columns`` the columns of a target that answer a value (none for phases), ``line`` that
    of backends.yaml (0: only phases.yaml lists it).
    """

    name: str
    slot: int | None
    phases: tuple[int, ...]
    function: str
    columns: tuple[str, ...]
    line: int


@dataclass(frozen=True)
class Backend:
    """One case: size of the object in bytes, name of its base, overrides with those of the base."""

    case: int
    size: int
    base: str
    about: str
    overrides: Mapping[str, str | None]


@dataclass(frozen=True)
class Backends:
    """The tables: backends by case, operations by name."""

    by_case: dict[int, Backend]
    operations: dict[str, Operation]


def load(spec: Spec) -> Backends:
    """The resolved tables, checked."""
    return spec.memo(NAME, lambda: _load(spec))


def rows(spec: Spec) -> list[Row]:
    """One row a base, a case and an operation of the file; those that only phases.yaml lists are rows there."""
    load(spec)
    return _rows.flat(_rows.read(spec, _FILE, _KEYS))


def counts(spec: Spec) -> dict[str, int]:
    """Rows of the backend table, operations, those with a documented slot."""
    table = load(spec)
    found = table.operations.values()
    return {
        "backends": len(table.by_case),
        "operations of backends": len(found),
        "operations that are phases": sum(bool(o.phases) for o in found),
        "operations with a documented slot": sum(o.slot is not None for o in found),
    }


def check(spec: Spec) -> None:
    """Numbering, references to bases and phases, overrides.

    Raises:
        SpecError: the first row that breaks one of them.
    """
    load(spec)


def check_overrides(spec: Spec, overrides: Map, operations: Mapping[str, Operation], who: str, file: str) -> None:
    """Every override names an operation that is a phase, and leaves a required phase something to run.

    Raises:
        SpecError: the first that does not.
    """
    table = phases.load(spec)
    for name, function in overrides.items():
        line = overrides.line_of(name)
        operation = operations.get(name)
        if operation is None:
            hint = did_you_mean(name, operations)
            raise SpecError(spec.path(file), line, f"{who}: overrides '{name}', which is no operation of a backend{hint}")
        if not operation.phases:
            wanted = f"its answer is what the target has in {', '.join(operation.columns)}"
            raise SpecError(spec.path(file), line, f"{who}: overrides '{name}', which runs nothing: {wanted}")
        if function is not None and function not in handlers.passes():
            hint = did_you_mean(function, handlers.passes())
            raise SpecError(spec.path(file), line, f"{who}: '{name}' is to run '{function}', which is no pass{hint}")
        for phase in operation.phases:
            if function is None and table[phase]["required"]:
                raise SpecError(spec.path(file), line, f"{who}: switches off '{name}', but phase {phase} is required")


def _load(spec: Spec) -> Backends:
    data = spec.load(_FILE)
    sections = _rows.read(spec, _FILE, _KEYS)
    _rows.check_count(spec, _FILE, sections, {"backends": COUNT})
    operations = _operations(spec, sections)
    own: dict[str, Mapping[str, str | None]] = {}
    for index, row in enumerate(data["bases"]):
        check_overrides(spec, row.get("overrides", Map()), operations, f"base {row['name']}", _FILE)
        own[row["name"]] = data["bases"][index].get("overrides", {})
    out: dict[int, Backend] = {}
    last = 0
    for row, raw in zip(sections["backends"], data["backends"], strict=True):
        values = row.values
        if values["base"] not in own:
            raise SpecError(
                spec.path(_FILE),
                row.line,
                f"{row.key}: base '{values['base']}' is not listed in 'bases'{did_you_mean(values['base'], own)}",
            )
        if values["case"] < last:
            raise SpecError(spec.path(_FILE), row.line, f"{row.key}: stands behind case {last}; cases are in order")
        last = values["case"]
        check_overrides(spec, raw.get("overrides", Map()), operations, row.key, _FILE)
        overrides = {**own[values["base"]], **values.get("overrides", {})}
        out[last] = Backend(last, values["size"], values["base"], values["about"], overrides)
    return Backends(out, operations)


def _operations(spec: Spec, sections: _rows.Sections) -> dict[str, Operation]:
    table = phases.load(spec)
    path = spec.path(_FILE)
    out: dict[str, Operation] = {}
    slots: dict[int, str] = {}
    for row in (*sections["documented"], *sections["values"]):
        name, phase, slot = row.values["name"], row.values.get("phase"), row.values.get("slot")
        if name in out:
            raise SpecError(path, row.line, f"{row.key}: listed twice (first on line {out[name].line})")
        if slot in slots:
            raise SpecError(path, row.line, f"{row.key}: slot {slot} is that of {slots[slot]}")
        if slot is not None:
            slots[slot] = name
        if phase is not None and table[phase]["name"] != name:
            raise SpecError(path, row.line, f"{row.key}: phase {phase} of phases.yaml is called {table[phase]['name']}")
        function = "" if phase is None else table[phase]["function"] or ""
        places = () if phase is None else (phase,)
        out[name] = Operation(name, slot, places, function, tuple(row.values.get("columns", ())), row.line)
    for row in phases.rows(spec):
        ours = row.values["name"] == phases.UNDOCUMENTED
        name, index, function = row.values["name"], row.values["index"], row.values["function"] or ""
        name = function if ours else name
        if name and (name not in out or ours):
            places = (*out[name].phases, index) if name in out else (index,)
            out[name] = Operation(name, None, places, function, (), 0)
    return out
