"""All rows of all tables by name, and which rows name another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
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
    """The tables of a specification; each is read when it is first needed."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self._modules = {table.NAME: table for table in all_tables()}
        self._rows: dict[str, list[Row]] = {}

    @classmethod
    def of(cls, spec: Spec) -> Index:
        """The index of a specification, made once and as a whole, so that it is made anew after an edit of any table."""

        def make() -> Index:
            index = cls(spec)
            index.by_key  # noqa: B018  reads all tables
            return index

        return spec.memo("index of all rows", make)

    def rows(self, table: str) -> list[Row]:
        """The rows of a table, none when there is no such table."""
        if table not in self._rows:
            self._rows[table] = self._modules[table].rows(self.spec) if table in self._modules else []
        return self._rows[table]

    def row(self, table: str, key: str) -> Row | None:
        """A row by its key."""
        return next((row for row in self.rows(table) if row.key == key), None)

    @cached_property
    def by_key(self) -> Mapping[str, list[Found]]:
        """Rows of all tables by key."""
        out: dict[str, list[Found]] = {}
        for table in self._modules:
            for row in self.rows(table):
                out.setdefault(row.key, []).append(Found(table, row))
        return out

    def naming(self, name: str, besides: tuple[str, ...] = WOVEN) -> list[Found]:
        """Rows of other tables that have ``name`` as a value somewhere, or as the name of a column."""
        return [found for found, words in self._named if name in words and found.table not in besides and found.row.key != name]

    @cached_property
    def _named(self) -> list[tuple[Found, frozenset[Any]]]:
        """All rows with the values and names of columns that they have."""
        return [(Found(table, row), frozenset(_words(row.values))) for table in self._modules for row in self.rows(table)]


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
