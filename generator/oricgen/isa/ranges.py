"""Sets of encoding models: ``NAME``, ``FIRST..LAST``, ``FIRST..``, ``..LAST``, in the order of ``isas`` in formats.yaml."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

BETWEEN = ".."


def expand(text: str, isas: Sequence[str]) -> tuple[str, ...]:
    """The models that one item names.

    Raises:
        ValueError: a name that formats.yaml does not have, or a range that ends before it begins.
    """
    first, between, last = text.partition(BETWEEN)
    for name in [n for n in (first, last) if n] if between else [first]:
        if name not in isas:
            raise ValueError(f"there is no encoding model '{name}' in formats.yaml")
    if not between:
        return (first,)
    start = isas.index(first) if first else 0
    end = isas.index(last) if last else len(isas) - 1
    if end < start:
        raise ValueError(f"the encoding models '{text}' end before they begin")
    return tuple(isas[start : end + 1])


def holds(items: Iterable[str], isa: str, isas: Sequence[str]) -> bool:
    """Whether one of the items names ``isa``.

    Raises:
        ValueError: as :func:`expand`.
    """
    return any(isa in expand(item, isas) for item in items)


def pick(by_range: Mapping[str, Any], isa: str, isas: Sequence[str], default: Any = None) -> Any:
    """The value of the last key that names ``isa``.

    Raises:
        ValueError: as :func:`expand`.
    """
    found = default
    for key, value in by_range.items():
        if isa in expand(key, isas):
            found = value
    return found
