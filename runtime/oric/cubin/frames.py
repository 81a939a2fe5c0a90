"""``.debug_frame`` of code for a debugger: where the caller's frame, its registers and the place to return to are, everywhere.

Source: DWARF 3, "Call Frame Information"; observed (ptxas 13.0.88 -g): a common entry for each function that says what functions
keep and what they do not, the return address in R20, registers that are saved by their places below the frame address.
"""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING, Final

from oric_tables import cubin_layout as tables
from oric_tables.registers import KEPT, RETURN_ADDRESS, STACK_REGISTER, UNTOUCHED_UNIFORM

from oric.ir.calls import CFA, LEFT, RESTORED, SAVED

from .records import advance, frame_unit, uleb

if TYPE_CHECKING:
    from oric_tables.targets import Target

    from .records import KernelFacts

_UNDEFINED: Final = b"\x07"
_SAME_VALUE: Final = b"\x08"
_DEF_CFA: Final = b"\x0c"
_OFFSET: Final = b"\x05"
_RESTORE: Final = b"\x06"
_DATA_ALIGN: Final = 4  # bytes, downwards
_HEAD: Final = b"\x03\0" + bytes((tables.CODE_ALIGN, -_DATA_ALIGN & 0x7F))  # version, no augmentation, units
_NOWHERE: Final = 0xFFFFFFFF  # the column of the return address of an entry
_ZERO_REGISTER: Final = 255
_GENERAL: Final = 255
_ENTRY_KEEPS: Final = frozenset((STACK_REGISTER,))
_FUNCTION_KEEPS: Final = KEPT | {STACK_REGISTER, RETURN_ADDRESS, RETURN_ADDRESS + 1}


def register(kind: str, number: int) -> int:
    """The number that debuggers have for a register."""
    return tables.REGISTER_CLASSES[kind] << 24 | number


def frame_entry(offset: int, facts: KernelFacts) -> tuple[bytes, tuple[int, int, int]]:
    """CIE and FDE of a function or an entry, placed at ``offset`` of ``.debug_frame``.

    Returns the bytes and the offsets within the section of three 8-byte fields that may need relocations: the place of the CIE,
    the address of the code and its size.
    """
    end = len(facts.encoded.words)
    cie = frame_unit(b"\xff" * 8 + _common(facts.target, facts.is_entry))
    moves = _moves(facts, end)
    fde = frame_unit(pack("<QQQ", offset, 0, end) + moves + bytes(-len(moves) % 8))
    place = offset + len(cie) + len(fde) - len(moves) - -len(moves) % 8 - 16
    return cie + fde, (place - 8, place, place + 8)


def _common(target: Target, is_entry: bool) -> bytes:
    """What holds where a function begins: the rules of all registers."""
    column = _NOWHERE if is_entry else register("R", RETURN_ADDRESS)
    out = _HEAD + uleb(column) + _DEF_CFA + uleb(tables.STACK_REGISTER) + uleb(0)
    general, uniform = (_ENTRY_KEEPS, frozenset[int]()) if is_entry else (_FUNCTION_KEEPS, UNTOUCHED_UNIFORM)
    for kind, count, kept in (
        ("UP", target.uniform_predicates, frozenset[int]()),
        ("UR", target.uniform_regs, uniform),
        ("P", target.predicates, frozenset[int]()),
        ("R", _GENERAL, general),
    ):
        out += b"".join((_SAME_VALUE if n in kept else _UNDEFINED) + uleb(register(kind, n)) for n in range(count))
    out += _SAME_VALUE + uleb(register("R", _ZERO_REGISTER))
    return out + bytes(-len(out) % 4)


def _moves(facts: KernelFacts, end: int) -> bytes:
    """What changes, place by place; behind a way out of the function it is as it was in front of it."""
    out = bytearray()
    at = 0
    saved: dict[int, bytes] = {}
    for place, move in facts.encoded.frame:
        rules = b""
        if move.kind == CFA:
            rules = _DEF_CFA + uleb(register("R", move.register)) + uleb(move.bytes)
        elif move.kind == SAVED:
            rules = saved[move.register] = _OFFSET + uleb(register("R", move.register)) + uleb(move.bytes // _DATA_ALIGN)
        elif move.kind == RESTORED:
            rules = _RESTORE + uleb(register("R", move.register))
        elif move.kind == LEFT:
            rules = b"".join(saved.values())
        if rules and place < end:
            out += (advance(place - at) if place > at else b"") + rules
            at = place
    return bytes(out)
