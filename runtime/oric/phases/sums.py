"""Products of matrices that are added to nothing: RZ in place of registers that are zero throughout.

The elements of an accumulator are put together in one register, word by word. Where nothing but zero is ever written to it, the
product takes RZ, and the words need no register. Source: observed (ptxas 13.0.88), products of warps of all types.
"""

from __future__ import annotations

from typing import Final

from librt.vecs import vec
from mypy_extensions import i64
from oric_tables import ops
from oric_tables.op import MOV

from oric.ir import operand as opd
from oric.ir.function import NONE, Function
from oric.ir.optable import OPS, SUM
from oric.support.arrays import zeros

_ADDED: Final = "Rc"
_OTHER, _ZERO = 1, 2  # what is written to a register


def add_to_nothing(f: Function) -> bool:
    """Let products have RZ to add to; returns whether any got it."""
    sums = [i for b in range(f.blocks()) for i in _sums(f, b)]
    if not sums:
        return False
    written = zeros(f.registers())
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            _note(f, i, written)
            i = f.next[i]
        b += 1
    found = False
    for i in sums:
        at = _place(f.op[i])
        operand = f.get(i, at)
        if opd.is_register(operand) and written[operand & opd.INDEX] == _ZERO:
            f.set(i, at, opd.RZ_OPERAND)
            found = True
    return found


def _sums(f: Function, b: int) -> list[int]:
    found: list[int] = []
    i = f.head[b]
    while i != NONE:
        if OPS.flags[f.op[i]] & SUM:
            found.append(int(i))
        i = f.next[i]
    return found


def _place(op: int) -> int:
    """Which operand a product is added to."""
    return [operand.name for operand in ops.op(op).operands].index(_ADDED)


def _note(f: Function, i: i64, written: vec[i64]) -> None:
    """Note whether an instruction writes zero or something else to its registers."""
    what = _ZERO if f.op[i] == MOV and f.get(i, 1) == opd.RZ_OPERAND else _OTHER
    at: i64 = 0
    while at < f.count[i]:
        operand = f.get(i, at)
        if OPS.writes_at(f.op[i], at) and opd.is_register(operand):
            written[operand & opd.INDEX] |= what
        at += 1
