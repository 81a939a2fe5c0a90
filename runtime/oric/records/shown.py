"""What the documented sections of one Code Object are made from, and what they come to."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from oric_tables.named import NamedTuple
from oric_tables.record_tags import TAGS

from oric.ir.function import Function
from oric.ir.image import Image
from oric.ir.module import Module

from .container import Section
from .view import View

if TYPE_CHECKING:
    from oric_tables.targets import Target

ROWS: Final = {tag.name: tag for tag in TAGS}


class Shown:
    """A Code Object, its module, its target, the level of optimization, and its sections as far as they are made."""

    def __init__(self, f: Function, module: Module, target: Target, level: int) -> None:
        self.f = f
        self.module = module
        self.target = target
        self.level = level
        self.view = View(f)
        self.done: list[Section] = []

    @cached_property
    def image(self) -> Image:
        """The documented memory image."""
        return Image(self.f, self.target.isa)


class Content(NamedTuple):
    """Payload, number of elements, and the two fields behind it."""

    payload: bytes
    elements: int
    aux: int = 0
    aux_2: int = 0


Projection = Callable[[Shown], Content]


def packed(name: str, rows: Iterable[tuple[Any, ...]], aux: int = 0, aux_2: int = 0) -> Content:
    """Elements of a section by its layout."""
    code = struct.Struct(ROWS[name].code)
    found = [code.pack(*row) for row in rows]
    return Content(b"".join(found), len(found), aux, aux_2)


def in_bits(values: Iterable[int], width: int) -> tuple[bytes, int]:
    """Small numbers, so many bits each, the first lowest; and how many they are."""
    number = count = 0
    chunks = bytearray()
    for value in values:
        number |= value << (count * width % 8)
        count += 1
        if count * width % 8 == 0:
            chunks.append(number)
            number = 0
    if count * width % 8:
        chunks.append(number)
    return bytes(chunks), count
