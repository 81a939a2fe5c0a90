"""On which targets a row matters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .compare import RowChange
from .side import Side

TABLE = "targets"
ALL, ALL_WITH_CODE = "all targets", "all targets with code"
RUN = 3  # so many names in a row of the table are written as the first and the last one
# Tables that say how code is made: they matter on targets that code is made for. Others say what the machine is.
OF_THE_COMPILER = frozenset({"lowering", "macros", "rewrites", "phases", "thresholds", "helpers", "numbers"})


@dataclass(frozen=True)
class Targets:
    """The targets whose machine code is known, of both sides, with their resolved columns.

    ``known``: those and the others of the table; ``coded``: those that code can be made for.
    """

    columns: Mapping[str, Mapping[str, Any]]
    known: frozenset[str] = frozenset()
    coded: frozenset[str] = frozenset()

    @classmethod
    def of_sides(cls, old: Side, new: Side) -> Targets:
        """The targets of both; where a column differs, that of the new one."""
        rows = [row for side in (old, new) for row in side.tables.get(TABLE, ())]
        return cls(
            {row.key: row.values for row in rows if row.values.get("isa")},
            frozenset(r.key for r in rows),
            frozenset(row.key for row in rows if row.values.get("isa") and row.values.get("code", True)),
        )

    def of(self, table: str, change: RowChange) -> set[str]:
        """The targets on which a row that differs matters, in its old or its new version."""
        if table == TABLE:
            return {change.row.key}
        names = [name for name in self.columns if table not in OF_THE_COMPILER or name in self.coded]
        return {name for row in (change.old, change.new) if row for name in names if self._meets(name, row.values)}

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


def _number(name: str) -> int:
    """sm_90a -> 90; 0 for what is no target."""
    match = re.match(r"sm_(\d+)", name)
    return int(match[1]) if match else 0
