"""The documented records of calls of intrinsics: the slots of the table of operations, and the operand buffer of a call.

They are projections: what they hold the compiler knows in its own form. Source: OCG intrinsics, OCG Builtin Name Table; OCG
Intrinsic Lowering Pipeline, "Operand buffer layout" and "6. Build control words". Where the documents are silent,
spec/intrinsics_records.yaml says so.
"""

from __future__ import annotations

import struct
from typing import Final

from oric_tables import ocg_records as tables
from oric_tables.intrinsics import OPERATIONS

from oric.ir import operand as opd
from oric.ir.lineinfo import line_of

from .ocg import Call, Matched

_POINTER: Final = struct.Struct("<Q")
_MASK64: Final = (1 << 64) - 1
_LAST_MODIFIER: Final = 28  # bits from here on belong to the base of the control words


class Record:
    """The record of a call.

    Attributes:
        function, line, name: where the call stands and what it calls.
        slot, offset: of the operation in the table.
        subops: numbers of the sub-operations, in the order of the name.
        range, key: where its descriptor lies and how it is routed; -1: no key.
        code: the instruction that it becomes, as the lowering rules know it; "" for a call that is collected.
        buffer: the 39 quadwords.
    """

    def __init__(self, function: str, found: Matched) -> None:
        seen = found.seen
        operation = OPERATIONS[seen.operation]
        self.function = function
        self.line = line_of(found.call.line)
        self.name = found.call.name
        self.slot = operation.slot
        self.offset = tables.FIRST_OFFSET + tables.SLOT_BYTES * operation.slot
        self.subops = [operation.subops.index(word) for word in seen.words]
        self.range = tables.RANGE_OF.get(seen.operation, tables.DEFAULT)
        self.key = tables.KEYS[self.range](seen) if self.range in tables.KEYS else -1
        self.code = found.lowered[0] if found.lowered is not None else ""
        self.buffer = _buffer(found, seen, self.range, self.subops)

    def data(self) -> bytes:
        """The buffer as it lies in memory: 312 bytes."""
        return b"".join(_POINTER.pack(word & _MASK64) for word in self.buffer)

    def lines(self) -> list[str]:
        """The record as text."""
        key = f"key {self.key}" if self.key >= 0 else "no key"
        first, last = tables.RANGES[self.range]
        opcodes = f" ({first}..{last})" if first >= 0 else ""
        filled = [f"    [{at:2}] {word & _MASK64:#018x} {_part_of(at)}" for at, word in enumerate(self.buffer) if word]
        return [
            f"// {self.function}, line {self.line}: {self.name}",
            f"operation {self.slot} at +{self.offset}, sub-operations {self.subops}, {len(self.subops)} of them",
            f"range {self.range}{opcodes}, {key}, instruction {self.code or 'none: collected'}",
            *filled,
        ]


def _buffer(found: Matched, seen: Call, place: str, subops: list[int]) -> list[int]:
    words = [0] * tables.BUFFER_WORDS
    left = list(range(seen.n))
    filled: dict[str, int] = {}
    for content, from_, most in tables.fills(seen, place):
        first, last = tables.PARTS[content]
        at = filled.get(content, first)
        for n in [n for n in left if n >= from_][: min(most, last + 1 - at)]:
            words[at] = _operand_word(found, seen, n)
            left.remove(n)
            at += 1
        filled[content] = at
    for slot, base in tables.CONTROL_WORDS.values():
        words[slot] = base
    for word, number in zip(seen.words, subops, strict=True):
        control, bit = tables.BITS.get(word, (0, number))
        words[tables.CONTROL_WORDS[control][0]] |= 1 << min(bit, _LAST_MODIFIER)
    return words


def _operand_word(found: Matched, seen: Call, n: int) -> int:
    """What a slot holds of an operand: a constant, or the mark of registers and the number of its first one."""
    constant = seen.constants[n]
    if constant is not None:
        return constant
    given = found.given[n]
    variable = given.variable
    operand = variable.words[given.offset // 4] if variable is not None and variable.words else given.operand
    return tables.REGISTER_WORD | (operand & opd.INDEX)


def _part_of(slot: int) -> str:
    return next(name for name, (first, last) in tables.PARTS.items() if first <= slot <= last)


def table_slot(name: str, strings: dict[str, int]) -> bytes:
    """The 248 bytes of an operation's slot: pointers to its name and its sub-operations, 0 for those that it has not.

    ``strings``: address of each text; those that are not there are added behind the others.
    """
    operation = OPERATIONS[name]
    pointers = [_address(text, strings) for text in (name, *operation.subops)]
    pointers += [0] * (1 + tables.MOST_SUBOPS - len(pointers))
    return b"".join(_POINTER.pack(pointer) for pointer in pointers)


def _address(text: str, strings: dict[str, int]) -> int:
    if text not in strings:
        strings[text] = 1 + sum(len(known) + 1 for known in strings)
    return strings[text]


def table() -> tuple[bytes, dict[str, int]]:
    """The slots of all operations that names reach, and the addresses of their texts."""
    strings: dict[str, int] = {}
    data = b"".join(table_slot(name, strings) for name, operation in OPERATIONS.items() if operation.slot >= 0)
    return data, strings


def table_lines() -> list[str]:
    """The table as text: a line an operation."""
    data, strings = table()
    lines = [f"// {tables.SLOTS} slots of {tables.SLOT_BYTES} bytes: {len(data):#x} bytes, {len(strings)} texts"]
    for name, operation in OPERATIONS.items():
        if operation.slot >= 0:
            at = tables.FIRST_OFFSET + tables.SLOT_BYTES * operation.slot
            lines.append(f"slot {operation.slot:2} at +{at:5} {name}: {' '.join(operation.subops) or '-'}")
    return lines
