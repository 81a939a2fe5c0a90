"""Names of targets in other files of the specification: each must be a row of sm_targets.yaml."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

from ..errors import SpecError
from ..names import did_you_mean
from ..spec import Spec
from ..strictyaml import Map, Seq

_FILES = ("opcodes.yaml", "memory_spaces.yaml", "registers.yaml", "backends.yaml")
_FOLDER = "ptx"  # where `sm` is the number of a target
_NAMES = ("arch", "since", "first")  # columns that hold a name, or a list of names
_SETS = "target_sets"  # names of lists of names
_SCHEMAS = ("types", "special_registers", "directives", "declarations")  # files of ptx/ with a schema of their own


def check(spec: Spec, known: dict[str, Any]) -> None:
    """Every name, and every number of a PTX gate.

    Raises:
        SpecError: the first that no target has.
    """
    for file in _FILES:
        _check(spec, file, spec.load(file), known, numbers=False)
    for file in spec.names(_FOLDER):
        stem = file.removeprefix(f"{_FOLDER}/").removesuffix(".yaml")
        data = spec.load(file, f"{_FOLDER}_{stem}" if stem in _SCHEMAS else None)
        _check(spec, file, data, known, numbers=True)


def _check(spec: Spec, file: str, data: Map, known: dict[str, Any], *, numbers: bool) -> None:
    for line, column, name in _named(data, ("sm", *_NAMES) if numbers else _NAMES):
        if name not in known:
            message = f"column '{column}': '{name}' is no target of sm_targets.yaml{did_you_mean(name, known)}"
            raise SpecError(spec.path(file), line, message)


def _named(data: Any, columns: Container[str]) -> Iterator[tuple[int, str, str]]:
    """(line, column, name) of every name in the columns; a number N stands for sm_N."""
    if isinstance(data, Map):
        for key, value in data.items():
            if key == _SETS:
                yield from _named(value, value)
            elif key in columns:
                for one in value if isinstance(value, Seq) else (value,):
                    name = f"sm_{one}" if isinstance(one, int) else str(one)
                    if name.startswith("sm_"):
                        yield data.line_of(key), key, name
            else:
                yield from _named(value, columns)
    elif isinstance(data, Seq):
        for item in data:
            yield from _named(item, columns)
