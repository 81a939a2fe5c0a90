"""Which registers of the PTX debug data name, and where their values are wanted.

A register is the operand of ``DW_OP_regx``: its name, the first letter highest, as a number. In ``.debug_loc`` a location holds
between two labels of the code; in ``.debug_info`` in all of the function whose label stands in front.

Source: DWARF 2, "Location Lists"; PTX that nvcc 13.0 makes with -G.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from .dwarf import Data, sections_of

if TYPE_CHECKING:
    from oric.ir.lineinfo import Text
    from oric.ir.module import Module

_LISTS: Final = ".debug_loc"
_INFO: Final = ".debug_info"
_PREDICATE: Final = "pred"  # debuggers read no predicates, and calls keep none
_REGX: Final = 0x90
_ADDRESS: Final = 8
_HEAD: Final = 2 * _ADDRESS + 2  # bytes in front of an expression: two addresses and its size
_MOST: Final = 16  # letters of a name
_NO_END: Final = 1 << 32

Wanted = dict[str, list[tuple[str, int, int]]]  # by function: name of a register, first line, the line that is behind


def watch_registers(module: Module) -> None:
    """Tell each function which of its registers are wanted where."""
    info = module.line_info
    if info is None:
        return
    wanted = {id(text): _wanted(text) for text in info.texts}
    for f in module.functions:
        operands = {register.name: register.operand for register in f.ptx_registers if register.type != _PREDICATE}
        rows = wanted[id(info.of_kernel[f.name])].get(f.name, [])
        f.watched = sorted({(operands[name], first, end) for name, first, end in rows if name in operands})


def _wanted(text: Text) -> Wanted:
    found: Wanted = {}
    for data in sections_of(text):
        if data.name == _LISTS:
            _add_lists(data, text, found)
        elif data.name == _INFO:
            _add_places(data, text, found)
    return found


def _add_lists(data: Data, text: Text, found: Wanted) -> None:
    """What location lists say: an expression between two labels."""
    lines = text.code_labels
    names = {reference.at: reference.name for reference in data.references if reference.size == _ADDRESS}
    for at, name in names.items():
        other = names.get(at + _ADDRESS, "")
        if name in lines and other in lines:
            size = int.from_bytes(data.bytes[at + _HEAD - 2 : at + _HEAD], "little")
            for register in _registers(bytes(data.bytes[at + _HEAD : at + _HEAD + size])):
                function = _function_at(text, lines[name])
                found.setdefault(function, []).append((register, lines[name], lines[other]))


def _add_places(data: Data, text: Text, found: Wanted) -> None:
    """What has one place in all of its function."""
    labels = [(r.at, text.code_labels[r.name]) for r in data.references if r.name in text.code_labels]
    places = [at for at, _ in labels]
    content = bytes(data.bytes)
    for at in (n for n, byte in enumerate(content) if byte == _REGX):
        label = bisect_right(places, at) - 1
        for register in _registers(content[at : at + 1 + 2 * _MOST])[:1]:
            if label >= 0:
                found.setdefault(_function_at(text, labels[label][1]), []).append((register, 0, _NO_END))


def _function_at(text: Text, line: int) -> str:
    """The function that a line of the PTX is in, "" for none."""
    body = bisect_right(text.bodies, line) - 1
    return text.names[body] if body >= 0 else ""


def _registers(expression: bytes) -> list[str]:
    """The registers that an expression names."""
    out: list[str] = []
    for at, byte in enumerate(expression):
        if byte == _REGX:
            value = shift = 0
            for part in expression[at + 1 :]:
                value |= (part & 0x7F) << shift
                shift += 7
                if not part & 0x80:
                    break
            name = value.to_bytes(-(-value.bit_length() // 8), "big")
            if name[:1] == b"%" and name.isascii():
                out.append(name.decode())
    return out
