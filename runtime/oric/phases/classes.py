"""What phases ask about the timing of operations of the machine: their classes, as the tables of spec/latency have them."""

from __future__ import annotations

from typing import Any, Final

from librt.vecs import append, vec
from mypy_extensions import i64
from oric_tables._native import lib

_WAITS: Final[dict[int, vec[i64]]] = {}  # by encoding model


def class_of(isa: int, number: int) -> Any:
    """The class of an operation of the machine (``oric_class`` of latency.h)."""
    return lib.oric_classes[isa][lib.oric_op_schedules[number].klass]


def waits(isa: int) -> vec[i64]:
    """By operation the cycles that a result is expected to take whose time nobody knows, 0 for one of known time."""
    if isa not in _WAITS:
        found = vec[i64]()
        for number in range(len(lib.oric_op_schedules)):  # those behind are no instructions of the machine
            found = append(found, class_of(isa, number).estimate)
        _WAITS[isa] = found
    return _WAITS[isa]
