"""One module per documented table, or group of tables, of the specification.

A module has

``NAME``          the table's name in ``oricgen stats`` and in messages
``FILES``         the files below ``spec/`` (names, or folders) that it owns
``load(spec)``    the resolved model: frozen data that remembers file and line of each row (cache it with ``spec.memo``)
``rows(spec)``    the uniform view of that model, for ``oricgen query``, ``explain`` and ``diff``: a list of ``Row``
``check(spec)``   what JSON Schema cannot say: references, uniqueness, reachability; raises ``SpecError`` at the first mistake
``counts(spec)``  what is counted -> number, for ``oricgen stats``
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any, Protocol, cast

from ..rows import Row
from ..spec import Spec


class Table(Protocol):
    """What a table module has."""

    NAME: str
    FILES: tuple[str, ...]

    @staticmethod
    def load(spec: Spec) -> Any:
        """The resolved rows."""

    @staticmethod
    def rows(spec: Spec) -> list[Row]:
        """The uniform view."""

    @staticmethod
    def check(spec: Spec) -> None:
        """Raise ``SpecError`` for the first mistake."""

    @staticmethod
    def counts(spec: Spec) -> dict[str, int]:
        """What is counted -> number."""


def all_tables() -> list[Table]:
    """The table modules, in order of name."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    return [cast(Table, importlib.import_module(f"{__name__}.{name}")) for name in names]


def check_all(spec: Spec) -> None:
    """Run the checks of every table.

    Raises:
        SpecError: the first mistake found.
    """
    for table in all_tables():
        table.check(spec)
