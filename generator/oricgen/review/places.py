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

    @classmethod
    def of_sides(cls, old: Side, new: Side) -> Targets:
        """The targets of both; where a column differs, that of the new one."""
        rows = [row for side in (old, new) for row in side.tables.get(TABLE, ())]
        return cls({row.key: row.values for row in rows if row.values.get("isa") and row.values.get("code", True)})

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
        if isinstance(values.get("sm"), int) and int(re.sub(r"\D", "", name)) < values["sm"]:
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
