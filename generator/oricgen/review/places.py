"""On which targets a row matters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..tables import _line
from .compare import RowChange
from .side import Side

TABLE = "targets"
ALL = "all targets"
_MODEL = "isa "  # in front of the name of a model, in the table of the formats


@dataclass(frozen=True)
class Targets:
    """The targets that code can be made for, of both sides, with their resolved columns."""

    columns: Mapping[str, Mapping[str, Any]]
    known: frozenset[str] = frozenset()  # and those that no code can be made for
    line: Mapping[str, _line.Place] = field(default_factory=dict)  # of all of them: which is older
    level: Mapping[str, int] = field(default_factory=dict)  # what a number of PTX is compared with

    @classmethod
    def of_sides(cls, old: Side, new: Side) -> Targets:
        """The targets of both; where a column differs, that of the new one."""
        rows = {row.key: row.values for side in (old, new) for row in side.tables.get(TABLE, ())}
        line: dict[str, _line.Place] = {}
        for side in (old, new):
            models = [row.key.removeprefix(_MODEL) for row in side.tables.get("formats", ()) if row.key.startswith(_MODEL)]
            line |= _line.in_line(models, {row.key: str(row.values.get("isa", "")) for row in side.tables.get(TABLE, ())})
        coded = {key: values for key, values in rows.items() if values.get("isa") and values.get("code", True)}
        parents = {key: str(values["inherits"]) for key, values in rows.items() if "inherits" in values}
        return cls(coded, frozenset(rows), line, {key: _line.level(key, parents) for key in coded})

    def of(self, table: str, change: RowChange) -> set[str]:
        """The targets on which a row that differs matters, in its old or its new version."""
        if table == TABLE and change.row.key not in self.columns:
            return set()  # nothing is compiled for it
        if table == TABLE:
            return {change.row.key}
        return {name for row in (change.old, change.new) if row for name in self.columns if self._meets(name, row.values)}

    def _meets(self, name: str, values: Mapping[str, Any]) -> bool:
        """Whether a row says nothing that keeps it from a target."""
        columns = self.columns[name]
        isas = values.get("isa")
        if isas and columns["isa"] not in ([isas] if isinstance(isas, str) else isas):
            return False
        if isinstance(values.get("sm"), int) and self.level.get(name, values["sm"]) < values["sm"]:
            return False
        oldest = self.line.get(str(values.get("since", "")))
        if oldest and name in self.line and self.line[name] < oldest:
            return False
        target = values.get("target")
        if isinstance(target, str) and target in self.known and target != name:
            return False
        if values.get("arch") and name not in values["arch"]:
            return False
        features = set(columns.get("features", ()))
        wanted = str(values.get("when", "")).split()
        return all((word[1:] not in features) if word.startswith("!") else word in features for word in wanted)

    def text(self, names: Iterable[str]) -> str:
        """The targets as a list, in the order of the table; "" when there are none."""
        found = set(names)
        if self.columns and found >= set(self.columns):
            return ALL
        known = [name for name in self.columns if name in found]
        return ", ".join([*known, *sorted(found - set(known))])
