"""``flat/rewrites.txt`` and ``flat/lowering.txt``: the rules to read, kept in git so that a review sees what a change means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..render import header
from ..rows import Row
from ..spec import Spec
from ..tables import lowering, rewrites


def render(spec: Spec) -> dict[str, str]:
    """Render both listings."""
    return {
        "flat/lowering.txt": _text(spec, lowering.FILES[0], (line for row in lowering.rows(spec) for line in _lowering(row))),
        "flat/rewrites.txt": _text(spec, rewrites.FILES[0], (_rewrite(row) for row in rewrites.rows(spec))),
    }


def _text(spec: Spec, folder: str, lines: Iterator[str]) -> str:
    head = header("#", "oricgen.outputs.rule_views", [f"spec/{name}" for name in spec.names(folder)])
    return head + "".join(f"{line}\n" for line in lines)


def _rewrite(row: Row) -> str:
    """A rule as it is applied; what else stands there by its columns."""
    if "rule" in row.values:
        return str(row.values["rule"])
    return row.key + "".join(f"  {name}: {_value(value)}" for name, value in row.values.items())


def _lowering(row: Row) -> Iterator[str]:
    """A rule's pattern, then its columns and the lines of each of its cases, macros written out."""
    yield row.key
    yield from _columns(row.values, "  ")


def _columns(values: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, value in values.items():
        if name == "emit":
            yield from (f"{indent}{line}" for line in value)
        elif name.startswith("case "):
            yield f"{indent}{name}"
            yield from _columns(value, indent + "  ")
        elif name not in ("sets", "source", "instruction"):  # sets have lines of their own
            yield f"{indent}{name}: {_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_value(item)}".rstrip() for name, item in value.items())
    return ", ".join(map(_value, value)) if isinstance(value, list) else str(value)
