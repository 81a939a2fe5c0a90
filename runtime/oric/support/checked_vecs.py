"""Checked stand-ins of ``librt.vecs`` for interpreted runs.

An array that :func:`append` returns is a new object, and the one that it was made of must not be used any more: whoever
still holds it would lose writes in a compiled run as soon as the array moves. Numbers that do not fit the element type are
refused, where compiled code would wrap them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import Any

from mypy_extensions import i16, i32, i64, u8

_CODES = {i64: "q", i32: "i", i16: "h", u8: "B"}


class Outgrown(Exception):
    """An array was used after it had been appended to."""


class Vec:
    """An array of native integers; ``buffer`` is what C may be lent."""

    __slots__ = ("_buffer",)

    def __init__(self, buffer: array[int]) -> None:
        self._buffer: array[int] | None = buffer

    @property
    def buffer(self) -> array[int]:
        """The elements.

        Raises:
            Outgrown: the array has been appended to.
        """
        if self._buffer is None:
            raise Outgrown("an array was used after it had grown: only its owner may hold it")
        return self._buffer

    def grown(self, value: int) -> Vec:
        """The array with one more element; this one is no more."""
        buffer = self.buffer
        buffer.append(value)
        self._buffer = None
        return Vec(buffer)

    def __len__(self) -> int:
        return len(self.buffer)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return Vec(self.buffer[at])
        return self.buffer[_checked(at, len(self.buffer))]

    def __setitem__(self, at: int, value: int) -> None:
        self.buffer[_checked(at, len(self.buffer))] = value

    def __iter__(self) -> Iterator[int]:
        return iter(self.buffer)

    def __contains__(self, value: object) -> bool:
        return value in self.buffer

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vec) and self.buffer == other.buffer

    __hash__ = None  # type: ignore[assignment]


def _checked(at: int, count: int) -> int:
    """The index of an element; negative ones count from the end, as in librt.

    Raises:
        IndexError: there is no such element.
    """
    if not -count <= at < count:
        raise IndexError("index out of range")
    return at


class _Maker:
    """``vec[i64]``: makes arrays of one element type."""

    __slots__ = ("_code",)

    def __init__(self, code: str) -> None:
        self._code = code

    def __call__(self, items: Iterable[int] = (), /, *, capacity: int = 0) -> Vec:
        buffer = array(self._code)
        buffer.extend(int(item) for item in items)
        return Vec(buffer)


class vec:
    """The type constructor of librt: ``vec[i64](items)``."""

    def __class_getitem__(cls, element: type) -> _Maker:
        return _Maker(_CODES[element])


def append(v: Vec, value: int, /) -> Vec:
    """The array with one more element."""
    return v.grown(value)


def extend(v: Vec, items: Iterable[int], /) -> Vec:
    """The array with more elements."""
    added = list(items)
    buffer = v.buffer
    v._buffer = None
    buffer.extend(added)
    return Vec(buffer)
