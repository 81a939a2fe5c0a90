"""SM targets: inheritance resolved, references checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from .errors import SpecError
from .spec import Spec
from .strictyaml import Map

_GROUPS = ("limits", "bank0", "elf")
_REQUIRED = ("number", "isa", "encoded_arch", "shared_base", "limits", "bank0", "elf")


@dataclass(frozen=True)
class Target:
    """One resolved target: all columns filled."""

    name: str
    number: int
    variant: str
    isa: str
    encoded_arch: int
    features: tuple[str, ...]
    shared_base: int
    limits: dict[str, int]
    bank0: dict[str, int]
    elf: dict[str, Any]


def resolve(spec: Spec) -> list[Target]:
    """All targets in file order.

    Raises:
        SpecError: unknown or circular `inherits`, a missing column, two targets with the same number and variant.
    """
    data = spec.load("sm_targets.yaml")["targets"]
    path = spec.path("sm_targets.yaml")
    out = [_target(name, data, path) for name in data]
    seen: dict[tuple[int, str], str] = {}
    for target in out:
        key = (target.number, target.variant)
        if key in seen:
            raise SpecError(
                path, data.line_of(target.name), f"{target.name}: number {target.number}{target.variant} is that of {seen[key]}"
            )
        seen[key] = target.name
    return out


def isa_names(spec: Spec) -> list[str]:
    """Names of the encoding models that targets use, in order of first use: the index is the C `isa` number."""
    return list(dict.fromkeys(t.isa for t in resolve(spec)))


def _target(name: str, data: Map, path: PurePath) -> Target:
    columns = _inherited(name, data, path, ())
    for key in _REQUIRED:
        if key not in columns:
            raise SpecError(path, data.line_of(name), f"{name}: column '{key}' is missing")
    return Target(
        name=name,
        number=columns["number"],
        variant=columns.get("variant", ""),
        isa=columns["isa"],
        encoded_arch=columns["encoded_arch"],
        features=tuple(sorted(columns.get("features", ()))),
        shared_base=columns["shared_base"],
        limits=dict(columns["limits"]),
        bank0=dict(columns["bank0"]),
        elf=dict(columns["elf"]),
    )


def _inherited(name: str, data: Map, path: PurePath, chain: tuple[str, ...]) -> dict[str, Any]:
    row = data[name]
    base: dict[str, Any] = {}
    parent = row.get("inherits")
    if parent is not None:
        line = row.line_of("inherits")
        if parent not in data:
            raise SpecError(path, line, f"{name}: inherits from '{parent}', which is no target")
        if parent in (*chain, name):
            raise SpecError(path, line, f"{name}: circular inheritance: {' -> '.join((*chain, name, parent))}")
        base = _inherited(parent, data, path, (*chain, name))
    for key, value in row.items():
        if key in _GROUPS:
            base[key] = {**base.get(key, {}), **value}
        elif key == "features":
            base[key] = set(base.get(key, ())) | set(value)
        elif key != "inherits":
            base[key] = value
    return base
