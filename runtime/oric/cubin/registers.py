"""``.nv_debug_info_reg_sass`` and ``.nv_debug_info_reg_type``: in which registers those of the PTX are, and what they are.

For each function its name and the number of entries; an entry is the number of the word, the name, the register with its class,
the first and the last place where it is so, and in the other section the type.

Source: observed (ptxas 13.0.88 -g); cuda-gdb counts both places in.
"""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING, Final

from oric_tables import cubin_layout as tables

from .frames import register

if TYPE_CHECKING:
    from oric.ir.encoded import EncodedFunction, RegisterRange

_HALF: Final = frozenset(("b8", "u8", "s8", "b16", "u16", "s16", "f16"))  # types whose values are the low half of a register


def register_sections(functions: list[EncodedFunction]) -> tuple[bytes, bytes]:
    """The contents of both sections."""
    places, types = bytearray(), bytearray()
    for function in functions:
        rows = [(_number(row), row) for row in function.registers if row.type in tables.REGISTER_TYPES]
        rows.sort(key=lambda pair: (pair[0], pair[1].start, pair[1].name, pair[1].word))
        head = function.name.encode() + b"\0" + pack("<I", len(rows))
        places += head
        types += head
        for number, row in rows:
            places += pack("<I", row.word) + row.name.encode() + b"\0" + pack("<III", number, row.start, row.end)
            types.append(tables.REGISTER_TYPES[row.type])
    return bytes(places), bytes(types)


def _number(row: RegisterRange) -> int:
    return register("half", 2 * row.number) if row.type in _HALF else register(row.file, row.number)
