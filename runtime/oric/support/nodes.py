"""Kinds of the operand nodes that the PTX parser hands to a Builder (item 0 of each tuple).

They stand on the lowest floor because the parser makes the nodes and the lowering reads them, and neither knows
the other. What each node holds is described in :mod:`oric.ptx.builder`.
"""

from __future__ import annotations

from typing import Any, Final

Operand = tuple[Any, ...]

REG: Final = 0
NOT: Final = 1
NEG: Final = 2
INT: Final = 3
FLOAT: Final = 4
SYM: Final = 5
ADDR_REG: Final = 6
ADDR_SYM: Final = 7
ADDR_IMM: Final = 8
VEC: Final = 9
PAIR: Final = 10
LABEL: Final = 11
SREG: Final = 12
SINK: Final = 13
ARGS: Final = 14
TABLE: Final = 15
TENSOR: Final = 16
SELECT: Final = 17
SUM: Final = 18
INDEX: Final = 19

KIND_NAMES: Final = (
    "register", "negated predicate", "negated operand", "integer immediate", "floating-point immediate",
    "symbol", "address", "address", "address", "vector", "pair", "label", "special register", "sink '_'",
    "parenthesised list", "table label", "tensor address", "register part",
    "register plus constant", "element chosen by a register",
)  # fmt: skip
