"""One module per group of generated files; each has ``render(spec) -> {path below build/: text}``.

A module raises :class:`oricgen.errors.SpecError` for anything wrong in the tables that it reads, so that
``oricgen check`` is a build that writes nothing.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Protocol, cast

from ..spec import Spec


class Output(Protocol):
    """What an output module has."""

    __name__: str

    @staticmethod
    def render(spec: Spec) -> dict[str, str]:
        """Path below ``build/`` -> text."""


def all_outputs() -> list[Output]:
    """The output modules, in order of name."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    return [cast(Output, importlib.import_module(f"{__name__}.{name}")) for name in names]


def render_all(spec: Spec) -> dict[str, str]:
    """Render every output module, in order of name; two modules may not write the same file."""
    files: dict[str, str] = {}
    for module in all_outputs():
        for path, text in module.render(spec).items():
            if path in files:
                raise ValueError(f"two generators write {path}")
            files[path] = text
    return files
