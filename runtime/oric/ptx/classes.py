"""Operand classes: what a check needs to know of an operand, as small ints that form keys of accepted combinations.

A class describes kind and type but not which register or value: ``%r1`` and ``%r2`` of one type share a class, so an
instruction whose mnemonic met the same classes before needs no check but one set lookup.
"""

from __future__ import annotations

from typing import Any, Final

from oric_tables.ptx_index import TYPES

# Class tags (item 0 of a descriptor).
C_REG: Final = "reg"  # (C_REG, type)
C_NOT: Final = "not"  # (C_NOT, type)
C_NEG: Final = "neg"  # (C_NEG, class)
C_INT: Final = "int"
C_SINGLE: Final = "0f"
C_DOUBLE: Final = "0d"
C_SUM: Final = "reg+imm"  # (C_SUM, type)
C_SYM: Final = "sym"  # (C_SYM, space or "func"); in .param a third item tells "parameter", "result" or ""
C_ADDR_REG: Final = "[reg]"  # (C_ADDR_REG, type)
C_ADDR_SYM: Final = "[sym]"  # (C_ADDR_SYM, space), with a third item as C_SYM
C_ELEMENT: Final = "sym[]"  # (C_ELEMENT, space), likewise: an element of an array, value or address
C_ADDR_IMM: Final = "[imm]"
C_UNIFIED: Final = "unified"  # (C_UNIFIED, class): an address with the hint .unified behind it
C_TUPLE: Final = "[..]"  # (C_TUPLE, class of the base, class, ...): an address with more operands
C_PART: Final = "part"  # (C_PART, type, part): bytes or halves of a register
C_VEC: Final = "vec"  # (C_VEC, class, ...)
C_PAIR: Final = "pair"  # (C_PAIR, class, class)
C_LABEL: Final = "label"
C_TABLE: Final = "table"
C_SREG: Final = "sreg"  # (C_SREG, type, elements, older sizes)
C_SINK: Final = "_"
C_OTHER: Final = "other"

Descriptor = tuple[Any, ...]

DESCRIPTORS: Final[list[Descriptor]] = []
_IDS: Final[dict[Descriptor, int]] = {}


def class_id(*descriptor: Any) -> int:
    """The number of an operand class."""
    found = _IDS.get(descriptor)
    if found is None:
        found = _IDS[descriptor] = len(DESCRIPTORS)
        DESCRIPTORS.append(descriptor)
    return found


INT_CLASS: Final = class_id(C_INT)
SINGLE_CLASS: Final = class_id(C_SINGLE)
DOUBLE_CLASS: Final = class_id(C_DOUBLE)
LABEL_CLASS: Final = class_id(C_LABEL)
TABLE_CLASS: Final = class_id(C_TABLE)
SINK_CLASS: Final = class_id(C_SINK)
ADDR_IMM_CLASS: Final = class_id(C_ADDR_IMM)
OTHER_CLASS: Final = class_id(C_OTHER)
PRED_CLASS: Final = class_id(C_REG, "pred")
NOT_PRED_CLASS: Final = class_id(C_NOT, "pred")
CALL_VARIABLE_CLASS: Final = class_id(C_ADDR_SYM, "param", "")  # of a call, and no parameter of the function
GUARD_CLASSES: Final = frozenset({PRED_CLASS, NOT_PRED_CLASS})
_REGISTER_CLASSES: Final[dict[str, tuple[int, int, int]]] = {
    type_: (class_id(C_REG, type_), class_id(C_NOT, type_), class_id(C_ADDR_REG, type_)) for type_, row in TYPES.items() if row[2]
}


def register_classes(type_: str) -> tuple[int, int, int]:
    """The classes of a register of a type that can be declared, of ``!register`` and of ``[register]``."""
    return _REGISTER_CLASSES[type_]
