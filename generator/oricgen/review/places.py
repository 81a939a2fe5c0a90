"""On which targets a row matters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..tables import _line
from .compare import RowChange
from .side import Side

TABLE = "targets"
ALL, ALL_WITH_CODE = "all targets", "all targets with code"
RUN = 3  # so many names in a row of the table are written as the first and the last one
# Tables that say how code is made: they matter on targets that code is made for. Others say what the machine is.
OF_THE_COMPILER = frozenset({"lowering", "macros", "rewrites", "phases", "thresholds", "knobs", "helpers", "numbers"})
_MODEL = "isa "  # in front of the name of a model, in the table of the formats


@dataclass(frozen=True)
class Targets:
    """The targets whose machine code is known, of both sides, with their resolved columns.

    ``known``: those and the others of the table; ``coded``: those that code can be made for.
    """

    columns: Mapping[str, Mapping[str, Any]]
    known: frozenset[str] = frozenset()
    coded: frozenset[str] = frozenset()
    line: Mapping[str, _line.Place] = field(default_factory=dict)  # of all of them: which is older
    level: Mapping[str, int] = field(default_factory=dict)  # what a number of PTX is compared with

    @cached_property
    def features(self) -> frozenset[str]:
        """All features that some target has."""
        return frozenset(name for values in self.columns.values() for name in values.get("features", ()))

    @classmethod
    def of_sides(cls, old: Side, new: Side) -> Targets:
        """The targets of both; where a column differs, that of the new one."""
        rows = {row.key: row.values for side in (old, new) for row in side.tables.get(TABLE, ())}
        line: dict[str, _line.Place] = {}
        for side in (old, new):
            models = [row.key.removeprefix(_MODEL) for row in side.tables.get("formats", ()) if row.key.startswith(_MODEL)]
            line |= _line.in_line(models, {row.key: str(row.values.get("isa", "")) for row in side.tables.get(TABLE, ())})
        columns = {key: values for key, values in rows.items() if values.get("isa")}
        coded = frozenset(key for key, values in columns.items() if values.get("code", True))
        parents = {key: str(values["inherits"]) for key, values in rows.items() if "inherits" in values}
        return cls(columns, frozenset(rows), coded, line, {key: _line.level(key, parents) for key in columns})

    def of(self, table: str, change: RowChange) -> set[str]:
        """The targets on which a row that differs matters, in its old or its new version."""
        if table == TABLE:
            return {change.row.key}
        names = [name for name in self.columns if table not in OF_THE_COMPILER or name in self.coded]
        model = change.row.key.removeprefix("isa ") if change.row.key.startswith("isa ") else ""  # of formats
        names = [name for name in names if not model or self.columns[name]["isa"] == model]
        return {name for row in (change.old, change.new) if row for name in names if self._meets(name, row.values)}

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
        if any(word.removeprefix("!") not in self.features for word in wanted):
            return True  # a condition of another kind, in words
        return all((word[1:] not in features) if word.startswith("!") else word in features for word in wanted)

    def text(self, names: Iterable[str]) -> str:
        """The targets as a list, in the order of the table; "" when there are none."""
        found = set(names)
        if self.columns and found >= set(self.columns):
            return ALL
        if self.coded and found == self.coded:
            return ALL_WITH_CODE
        order = [*self.columns, *sorted(found - set(self.columns))]
        runs: list[list[str]] = []
        for place, name in enumerate(order):
            if name not in found:
                continue
            if runs and order[place - 1] == runs[-1][-1]:
                runs[-1].append(name)
            else:
                runs.append([name])
        return ", ".join(f"{run[0]} to {run[-1]}" if len(run) >= RUN else ", ".join(run) for run in runs)
