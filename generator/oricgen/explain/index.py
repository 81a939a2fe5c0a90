"""All rows of all tables by name, and which rows name another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..rows import Row
from ..spec import Spec
from ..tables import all_tables

# Tables that the pages of opcodes, instructions and targets read column by column; their rows are no mere references.
WOVEN = ("forms", "latency", "distances", "operations", "lowering", "rewrites", "ptx")


@dataclass(frozen=True)
class Found:
    """A row and the table that it is in."""

    table: str
    row: Row


class Index:
    """The tables of a specification, read as a whole."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self._rows = {table.NAME: table.rows(spec) for table in all_tables()}
        self.by_key: dict[str, list[Found]] = {}
        for table, rows in self._rows.items():
            for row in rows:
                self.by_key.setdefault(row.key, []).append(Found(table, row))
        self._naming = self._named()

    @classmethod
    def of(cls, spec: Spec) -> Index:
        """The index of a specification, made once."""
        return spec.memo("index of all rows", lambda: cls(spec))

    def rows(self, table: str) -> list[Row]:
        """The rows of a table, none when there is no such table."""
        return self._rows.get(table, [])

    def row(self, table: str, key: str) -> Row | None:
        """A row by its key."""
        return next((row for row in self.rows(table) if row.key == key), None)

    def naming(self, name: str, besides: tuple[str, ...] = WOVEN) -> list[Found]:
        """Rows of other tables that have ``name``, a key or an instruction, as a value somewhere, or as the name of a column."""
        return [f for f in self._naming.get(name, ()) if f.table not in besides and f.row.key != name]

    def _named(self) -> dict[str, list[Found]]:
        """Names that pages are about -> the rows that have them."""
        names = {*self.by_key, *(str(row.values.get("instruction", "")) for row in self.rows("ptx"))}
        out: dict[str, list[Found]] = {}
        for table, rows in self._rows.items():
            for row in rows:
                found = Found(table, row)
                for name in names.intersection(_words(row.values)):
                    out.setdefault(name, []).append(found)
        return out


def _words(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield from _words(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _words(item)
    else:
        yield value
