"""What passes ask about operations: columns by operation number, made of the generated tables."""

from __future__ import annotations

from array import array
from collections.abc import Collection
from typing import Final, final

from librt.vecs import vec
from mypy_extensions import i64
from oric_tables import op, op_tables
from oric_tables._native import lib

from . import operand as opd
from .function import NONE, Function

LOAD: Final = op.E_LOAD
STORE: Final = op.E_STORE
ATOMIC: Final = op.E_ATOMIC
SHARED: Final = op.E_SHARED
LOCAL: Final = op.E_LOCAL
GLOBAL: Final = op.E_GLOBAL
WIDE: Final = op.E_WIDE
CONSTANT: Final = op.E_CONSTANT
COMMON: Final = op.E_COMMON
SUM: Final = op.E_SUM
BRANCH: Final = op.E_BRANCH
EXIT: Final = op.E_EXIT
CALL: Final = op.E_CALL
RETURN: Final = op.E_RETURN
BARRIER: Final = op.E_BARRIER
CONVERGENCE: Final = op.E_CONVERGENCE
FENCE: Final = op.E_FENCE
SIDE_EFFECT: Final = op.E_SIDE_EFFECT
WARP: Final = op.E_WARP
SPECIAL: Final = op.E_SPECIAL
INDIRECT: Final = op.E_INDIRECT
CONTROL: Final = op.E_BRANCH | op.E_EXIT | op.E_RETURN
MEMORY: Final = op.E_LOAD | op.E_STORE | op.E_ATOMIC
# Operands behind those of the machine, at calls, returns and where functions begin (a YIELD, which allocation takes away):
# registers that other code reads; those that it writes follow.
CALL_READS: Final[int] = lib.ORIC_CALL_READS
# Never removed, whatever becomes of the results.
PINNED: Final = (
    op.E_STORE | op.E_ATOMIC | op.E_BRANCH | op.E_EXIT | op.E_RETURN | op.E_BARRIER | op.E_CONVERGENCE | op.E_FENCE
    | op.E_CALL | op.E_SIDE_EFFECT
)  # fmt: skip
# Kinds of operand slots that the passes name (the numbers of oric_insn).
KIND_PRED: Final = 3
KIND_UPRED: Final = 4
KIND_IMM: Final = 5
SLOTS: Final = op_tables.SLOTS_PER_OPERATION


def _column(source: tuple[str, bytes], less: int = 0) -> vec[i64]:
    numbers = array(source[0])
    numbers.frombytes(source[1])
    return vec[i64]([number - less for number in numbers])


def _flags(source: tuple[str, bytes]) -> vec[i64]:
    """What operations do, as a function sees it: behind a call control goes on, and a return leaves the function."""
    found = _column(source)
    number: i64 = 0
    while number < len(found):
        if found[number] & CALL:
            found[number] &= ~(op.E_BRANCH | op.E_INDIRECT)
        elif found[number] & RETURN:
            found[number] = found[number] & ~(op.E_BRANCH | op.E_INDIRECT) | EXIT
        number += 1
    return found


@final
class OpTable:
    """Facts of operations by number; what they mean stands in :mod:`oric_tables.op_tables`.

    ``label`` and ``sreg`` are operand positions or -1. ``kind`` and ``signs`` have ``SLOTS`` entries an operation.
    """

    def __init__(self) -> None:
        slots = _column(op_tables.SLOTS)
        self.flags = _flags(op_tables.FLAGS)
        self.writes = _column(op_tables.WRITES)
        number: i64 = 0
        while number < len(slots):  # behind the operands of the machine: what other code reads, and what it writes
            if self.flags[number] & (CALL | RETURN) or number == op.YIELD:
                self.writes[number] |= -1 << (slots[number] + CALL_READS)
            number += 1
        self.optional = _column(op_tables.OPTIONAL)
        self.slots = slots
        self.label = _column(op_tables.LABEL, 1)
        self.sreg = _column(op_tables.SREG, 1)
        self.uniform = _column(op_tables.UNIFORM)
        self.order_shift = _column(op_tables.ORDER_SHIFT)
        self.order_mask = _column(op_tables.ORDER_MASK)
        self.order_strong = _column(op_tables.ORDER_STRONG)
        self.unread = _column(op_tables.UNREAD)
        self.expansion = _column(op_tables.EXPANSION)
        self.repeats = _column(op_tables.REPEATS)
        self.kind = _column(op_tables.KIND)
        self.signs = _column(op_tables.SIGNS)

    def writes_at(self, number: i64, at: i64) -> bool:
        """Whether an operand position is written."""
        return self.writes[number] >> at & 1 != 0

    def is_strong(self, f: Function, i: i64) -> bool:
        """Whether an instruction reads what other threads write: an atomic operation, or a strong load."""
        number = f.op[i]
        flags = self.flags[number]
        if flags & ATOMIC:
            return True
        strong = self.order_strong[number]
        return flags & LOAD != 0 and strong >> (f.mods[i] >> self.order_shift[number] & self.order_mask[number]) & 1 != 0


OPS: Final = OpTable()


def marked(numbers: Collection[int]) -> vec[i64]:
    """By operation: whether it is one of some, for :func:`instructions_with`."""
    return vec[i64]([int(number in numbers) for number in range(len(OPS.flags))])


def instructions_with(f: Function, wanted: vec[i64]) -> list[int]:
    """The instructions of the operations that are :func:`marked`, in the order of the code."""
    found: list[int] = []
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            if wanted[f.op[i]]:
                found.append(int(i))
            i = f.next[i]
        b += 1
    return found


def written_registers(f: Function, i: i64) -> list[int]:
    """The register operands that an instruction writes."""
    out: list[int] = []
    mask = OPS.writes[f.op[i]]
    at: i64 = 0
    while mask >> at and at < f.count[i]:
        operand = f.get(i, at)
        if mask >> at & 1 and opd.is_register(operand):
            out.append(operand)
        at += 1
    return out
