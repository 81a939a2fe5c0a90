"""On which targets a row matters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .compare import RowChange
from .side import Side

TABLE = "targets"
ALL = "all targets"


@dataclass(frozen=True)
class Targets:
    """The targets that code can be made for, of both sides, with their resolved columns."""

    columns: Mapping[str, Mapping[str, Any]]
    known: frozenset[str] = frozenset()  # and those that no code can be made for

    @classmethod
    def of_sides(cls, old: Side, new: Side) -> Targets:
        """The targets of both; where a column differs, that of the new one."""
        rows = [row for side in (old, new) for row in side.tables.get(TABLE, ())]
        return cls(
            {row.key: row.values for row in rows if row.values.get("isa") and row.values.get("code", True)},
            frozenset(r.key for r in rows),
        )

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
        oldest = values.get("sm") or _number(str(values.get("since", "")))
        if isinstance(oldest, int) and _number(name) < oldest:
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


def _number(name: str) -> int:
    """sm_90a -> 90; 0 for what is no target."""
    match = re.match(r"sm_(\d+)", name)
    return int(match[1]) if match else 0
