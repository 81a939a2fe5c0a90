"""The memory image of a function as text, for ``oric dump --image``."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from oric_tables import structs

from oric.ir.image import Image
from oric.ir.text import format_instruction

_PARTS: Final = (
    ("oric_instruction", "instruction"),
    ("oric_block", "block"),
    ("oric_register", "register"),
)
_HEXADECIMAL: Final = "QI"  # codes of fields that are shown in hexadecimal
_SIGNED: Final = "qi"


def image_lines(image: Image) -> Iterator[str]:
    """Every struct with its offset in the file and its fields that are not empty, each with its offset; then the lists.

    Empty is -1 in signed fields, which hold places and registers, and 0 in others.
    """
    data = image.data()
    head = structs.FIELDS["oric_image"]

    def entry(name: str) -> int:
        offset, code = head[name]
        value: int = struct.unpack_from("<" + code, data, offset)[0]
        return value

    yield f"// {image.f.name} for {image.f.target}: {len(data)} bytes"
    yield f"head at 0x0: {_fields('oric_image', data, 0)}"
    for name, title in _PARTS:
        start, count = entry(f"{title}s"), entry(f"{title}_count")
        for number in range(count):
            at = start + number * structs.SIZES[name]
            text = f"  // {format_instruction(image.f, image.order[number])}" if title == "instruction" else ""
            yield f"{title} {number} at {at:#x}: {_fields(name, data, at)}{text}"
    for name, numbers in (("succs", image.succs), ("immediates", image.immediates), ("overflow", image.overflow)):
        if numbers:
            shown = " ".join(f"{number:#x}" if numbers.typecode == "Q" else str(number) for number in numbers)
            yield f"{name} at {entry(name):#x}: {shown}"
    yield ""


def _fields(name: str, data: bytes, at: int) -> str:
    out = []
    for field, (offset, code) in structs.FIELDS[name].items():
        values = struct.unpack_from("<" + code, data, at + offset)
        shown = [f"{value:#x}" if code[-1] in _HEXADECIMAL else f"{value}" for value in values]
        while len(shown) > 1 and not values[len(shown) - 1]:
            shown.pop()
        empty = -1 if code in _SIGNED else 0
        if any(value != empty for value in values):
            out.append(f"+{offset} {field}={','.join(shown)}")
    return " ".join(out)
