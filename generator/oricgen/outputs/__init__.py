"""One module per group of generated files; each has ``render(spec) -> {path below build/: text}``.

A module raises :class:`oricgen.errors.SpecError` for anything wrong in the tables that it reads, so that
``oricgen check`` is a build that writes nothing.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

from ..spec import Spec


def render_all(spec: Spec) -> dict[str, str]:
    """Render every output module, in order of name; two modules may not write the same file."""
    files: dict[str, str] = {}
    for name in _module_names():
        module = importlib.import_module(f"{__name__}.{name}")
        for path, text in module.render(spec).items():
            if path in files:
                raise ValueError(f"two generators write {path}")
            files[path] = text
    return files


def _module_names() -> Iterator[str]:
    return iter(sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")))
