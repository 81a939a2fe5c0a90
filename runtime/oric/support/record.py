"""Classes of plain data without the standard library's ``dataclasses``, whose import costs a process more than a small kernel."""

from __future__ import annotations

from typing import ClassVar


class Record:
    """Equal to another one of its class with the same attributes; ``__slots__`` names them."""

    __slots__: ClassVar[tuple[str, ...]] = ()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self.__slots__)})"
