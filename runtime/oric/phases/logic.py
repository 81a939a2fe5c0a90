"""Three-input logic functions of registers and predicates, by their truth tables.

A table has bit ``a << 2 | b << 1 | c`` set where the function of sources a, b, c is true: a alone is 0xF0, b 0xCC, c 0xAA.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from oric_tables import ops
from oric_tables.ops import LOP3, PLOP3

from oric.ir import operand as opd
from oric.ir.code import Instruction
from oric.ir.optable import INFO, MOV

from .values import MASK32, SIGNS, Values

_REG_TYPE: Final = opd.REG << opd.TYPE_SHIFT
_TYPE: Final = 7 << opd.TYPE_SHIFT
_LUT: Final = ops.op(LOP3).mods["lut"].shift
_PLUT: Final = ops.op(PLOP3).mods["lut"].shift
_ONLY_LUT: Final = 0xFF << _LUT
VARIABLES: Final = (0xF0, 0xCC, 0xAA)


def evaluate(lut: int, a: int, b: int, c: int) -> int:
    """The function applied to each bit of three 32-bit words."""
    out = 0
    for row in range(8):
        if lut >> row & 1:
            out |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
    return out & MASK32


def reduce_table(lut: int, known: tuple[int | None, int | None, int | None], same: tuple[int, int, int]) -> int:
    """The table with known inputs (0 or 1) and equal inputs (``same[i]``: first input that equals i) put in."""
    out = 0
    for row in range(8):
        bits = [row >> 2 & 1, row >> 1 & 1, row & 1]
        for i in range(3):
            value = known[i]
            bits[i] = value if value is not None else bits[same[i]]
        if lut >> (bits[0] << 2 | bits[1] << 1 | bits[2]) & 1:
            out |= 1 << row
    return out


def simplify_lop3(values: Values, node: Instruction) -> bool:
    """Make a LOP3 that is a constant or one of its sources a MOV."""
    operands = node.operands
    if len(operands) < 4 or node.mods & ~_ONLY_LUT or any(o & SIGNS for o in operands[1:4]) or _has_more(node):
        return False
    lut = node.mods >> _LUT & 0xFF
    constants = [values.constant(o) for o in operands[1:4]]
    if None not in constants:
        return _become(values, node, evaluate(lut, *constants))  # type: ignore[arg-type]
    known = tuple({0: 0, MASK32: 1}.get(c) if c is not None else None for c in constants)
    sources = operands[1:4]
    table = reduce_table(lut, known, tuple(sources.index(o) for o in sources))  # type: ignore[arg-type]
    if table in (0, 0xFF):
        return _become(values, node, MASK32 if table else 0)
    for variable, operand, value in zip(VARIABLES, sources, known, strict=True):
        if table == variable and value is None:
            node.op, node.mods, node.operands = MOV, 0, [operands[0], operand]
            return True
    return False


def _has_more(node: Instruction) -> bool:
    """Whether a LOP3 has a predicate result or source."""
    return any(o & _TYPE == _REG_TYPE and o & opd.INDEX_MASK != opd.PT for o in node.operands[4:])


def _become(values: Values, node: Instruction, value: int) -> bool:
    operand = values.code.imm(value) if value else opd.RZ_OPERAND
    node.op, node.mods, node.operands = MOV, 0, [node.operands[0], operand]
    return True


def combine_lop3(values: Values, node: Instruction) -> bool:
    """Take the function of a source into the table when three sources are enough for both."""
    operands = node.operands
    if len(operands) < 4 or node.mods & ~_ONLY_LUT or any(o & SIGNS for o in operands[1:4]) or _has_more(node):
        return False
    for place in (1, 2, 3):
        inner = values.source_def(operands[place])
        if inner is None or inner.op != LOP3 or inner.mods & ~_ONLY_LUT or _has_more(inner):
            continue
        if any(o & SIGNS for o in inner.operands[1:4]) or operands[place] not in inner.operands[:1]:
            continue
        if _merge(values, node, place, inner):
            return True
    return False


def _merge(values: Values, node: Instruction, place: int, inner: Instruction) -> bool:
    operands = node.operands
    sources: list[int] = []
    for operand in [o for i, o in enumerate(operands[1:4], 1) if i != place] + inner.operands[1:4]:
        if operand != opd.RZ_OPERAND and operand not in sources:
            sources.append(operand)
    if len(sources) > 3 or operands[place] in sources:
        return False
    sources.sort(key=lambda o: o & _TYPE != _REG_TYPE)  # what is no register goes second
    sources += [opd.RZ_OPERAND] * (3 - len(sources))
    sources[1], sources[2] = (sources[2], sources[1]) if sources[2] & _TYPE != _REG_TYPE else (sources[1], sources[2])
    if sources[0] & _TYPE != _REG_TYPE:
        sources[0], sources[1] = sources[1], sources[0]
    words = {operand: word for operand, word in zip(sources, VARIABLES, strict=True) if operand != opd.RZ_OPERAND}
    words[opd.RZ_OPERAND] = 0
    result = evaluate(inner.mods >> _LUT & 0xFF, *(words[o] for o in inner.operands[1:4])) & 0xFF
    inputs = [result if i == place else words[o] for i, o in enumerate(operands[1:4], 1)]
    table = evaluate(node.mods >> _LUT & 0xFF, *inputs) & 0xFF
    made = [operands[0], *sources]
    if not values.accepts(LOP3, made):
        return False
    node.operands, node.mods = made, table << _LUT
    values.changed += 1
    return True


def learn_plop3(values: Values, node: Instruction) -> None:
    """Learn what the result of a PLOP3 is when it is a constant or one of its sources."""
    operands = node.operands
    inputs = [operands[i] if i < len(operands) and operands[i] != opd.NO_OPERAND else opd.PT_OPERAND for i in (1, 2, 3)]
    plain = [o & ~opd.NEGATE for o in inputs]
    known = tuple(1 if o == opd.PT_OPERAND else None for o in plain)
    lut = node.mods >> _PLUT & 0xFF
    flipped = 0  # the table in terms of the registers without their negations
    for row in range(8):
        other = row
        for bit, operand in zip((4, 2, 1), inputs, strict=True):
            other ^= bit if operand & opd.NEGATE else 0
        flipped |= (lut >> other & 1) << row
    table = reduce_table(flipped, known, tuple(plain.index(o) for o in plain))  # type: ignore[arg-type]
    dest = operands[0]
    if dest & opd.INDEX_MASK == opd.PT:
        return
    slot = values.bases[dest & opd.INDEX_MASK]
    if table in (0, 0xFF):
        values.learn(slot, opd.PT_OPERAND if table else opd.NOT_PT_OPERAND)
        return
    for variable, operand, value in zip(VARIABLES, plain, known, strict=True):
        if value is None and table in (variable, variable ^ 0xFF):
            values.learn(slot, operand if table == variable else operand | opd.NEGATE)
            return


LOGIC: Final[dict[int, Callable[[Values, Instruction], bool]]] = {LOP3: simplify_lop3}
COPIES: Final[dict[int, Callable[[Values, Instruction], None]]] = {PLOP3: learn_plop3}
assert INFO[PLOP3].reads[:3] == (1, 2, 3)
