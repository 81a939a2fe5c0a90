"""The specification as a whole: which files there are, loaded strictly and checked against their schemas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar, cast

from . import schema, strictyaml
from .strictyaml import Map

T = TypeVar("T")


@dataclass
class Spec:
    """Access to ``spec/``: every file is loaded once, validated by ``schema/NAME.schema.json``."""

    root: Path
    _cache: dict[str, Map] = field(default_factory=dict)
    _models: dict[str, object] = field(default_factory=dict)

    def load(self, name: str, schema_name: str | None = None) -> Map:
        """Load ``spec/NAME`` (for example ``sm_targets.yaml`` or ``ptx/arith.yaml``).

        The schema is ``schema/SCHEMA_NAME.schema.json``; by default the folder's name for files in a folder,
        the file's stem otherwise.

        Raises:
            SpecError: unreadable file, broken YAML, schema violation.
        """
        if name not in self._cache:
            path = self.root / name
            data = strictyaml.load(path)
            stem = schema_name or (name.split("/", maxsplit=1)[0] if "/" in name else Path(name).stem)
            schema.validate(data, path, self.root / "schema" / f"{stem}.schema.json")
            self._cache[name] = data
        return self._cache[name]

    def family(self, folder: str) -> dict[str, Map]:
        """All YAML files of ``spec/FOLDER``, sorted by name: relative name -> content."""
        names = sorted(p.name for p in (self.root / folder).glob("*.yaml"))
        return {f"{folder}/{n}": self.load(f"{folder}/{n}") for n in names}

    def path(self, name: str) -> Path:
        """The path of ``spec/NAME``, for messages."""
        return self.root / name

    def memo(self, name: str, make: Callable[[], T]) -> T:
        """The model ``name``, made once: several outputs and checks read the same tables."""
        if name not in self._models:
            self._models[name] = make()
        return cast(T, self._models[name])
