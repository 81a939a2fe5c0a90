"""The rows and outputs of a specification, taken over from another one where the files that they depend on are the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from ..errors import SpecError
from ..outputs import all_outputs
from ..rows import Row
from ..spec import Spec
from ..tables import all_tables


@dataclass
class Reading:
    """``tables`` by name, ``outputs`` by path below ``build/``."""

    spec: Spec
    tables: dict[str, list[Row]] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)
    _steps: dict[str, tuple[Any, frozenset[str]]] = field(default_factory=dict)


def read(folder: Path, base: Reading | None = None) -> Reading:
    """Check, render and list ``FOLDER/spec``; what ``base`` knows of files that are the same is not read again.

    Raises:
        SpecError: the first mistake.
    """
    edited = _edits(base.spec.root, folder / "spec") if base else None
    if base is None or edited is None:
        return _all(Reading(Spec(folder / "spec")), {}, set())
    new = {f"{PurePosixPath(name).parent}/" for name in edited if not (base.spec.root / name).exists()}
    return _all(Reading(base.spec.edited(edited)), base._steps, {*edited, *new})


def _all(reading: Reading, known: dict[str, tuple[Any, frozenset[str]]], touched: set[str]) -> Reading:
    def step(name: str, do: Callable[[Spec], Any]) -> Any:
        if name in known and not known[name][1] & touched:
            reading._steps[name] = known[name]
        else:
            with reading.spec.reading() as used:
                value = do(reading.spec)
            reading._steps[name] = value, frozenset(used)
        return reading._steps[name][0]

    for table in all_tables():
        step(f"check {table.NAME}", table.check)
    for output in all_outputs():
        reading.outputs |= step(f"render {output.__name__}", output.render)
    for table in all_tables():
        reading.tables[table.NAME] = step(f"rows {table.NAME}", table.rows)
    return reading


def _edits(old: Path, new: Path) -> dict[str, str] | None:
    """Name -> text of the files that differ; None when that is not all: a file is gone, a schema or an encoding differs."""
    before, after = files(old), files(new)
    schemas = {name for name in {*before, *after} if name.endswith(".json") and before.get(name) != after.get(name)}
    if schemas or not before.keys() <= after.keys():
        return None
    try:
        return {name: data.decode() for name, data in after.items() if before.get(name) != data}
    except UnicodeDecodeError:
        return None


def files(folder: Path) -> dict[str, bytes]:
    """Name below ``folder`` -> content of the specification's files.

    Raises:
        SpecError: a file that cannot be read.
    """
    found = sorted(path for kind in ("*.yaml", "*.json") for path in folder.rglob(kind) if not path.name.startswith("."))
    return {(name := path.relative_to(folder).as_posix()): _content(path, name) for path in found}


def _content(path: Path, name: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SpecError(Spec.path(name), 0, f"the file cannot be read: {error.strerror}") from error
