"""Calls of code that a kernel has once (:mod:`oric.lower.subroutines`), in registers.

Arguments, results and the return address are where the calling convention has them; what such code changes beside them says
``shared`` of ``spec/macros.yaml``. It has no stack and writes no uniform register.
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64
from oric_tables import ops, registers
from oric_tables.macros import SHARED
from oric_tables.op import CALL_REL, MOV

from oric.ir import operand as opd
from oric.ir.calls import SHARED_NUMBER, KeptCall, shared_callee
from oric.ir.cursor import Cursor
from oric.ir.function import Function, P, R
from oric.ir.optable import OPS

from .spill import SPILLED


@final
class SharedCalls:
    """Lowers the calls of shared code in a kernel; ``arguments``, ``back``: registers of the convention."""

    def __init__(self, f: Function, cursor: Cursor, arguments: int, back: int) -> None:
        self.f = f
        self.cursor = cursor
        self.arguments = arguments
        self.back = back
        self.changed: dict[tuple[int, int], list[int]] = {}

    def lower(self, i: i64) -> None:
        """Put a call into registers."""
        f, cursor = self.f, self.cursor
        op: int = f.imm_value(f.get(i, SHARED_NUMBER))
        _, end, predicates, words = SHARED[op]
        sources = OPS.slots[op] - 1
        cursor.in_front(i)
        n: i64 = 0
        while n < sources:
            for k in range(words):
                cursor.make2(MOV, opd.word(self.arguments, n * words + k), opd.word(f.get(i, 1 + n), k))
            n += 1
        call = KeptCall(shared_callee(op), 0, int(sources * words), words)
        call.shared = True
        call.back = f.own_imm()
        cursor.make2(MOV, opd.word(self.back, 0), opd.pool(call.back))
        cursor.make2(MOV, opd.word(self.back, 1), opd.RZ_OPERAND)
        target = f.own_imm()
        mods: int = ops.op(CALL_REL).pack(noinc=True)
        made = cursor.make(CALL_REL, mods, f.guard[i])
        f.aux[made] = len(f.kept)
        f.kept.append(call)
        cursor.put(opd.pool(target))
        cursor.put(opd.PT_OPERAND)
        cursor.put(opd.with_span(self.arguments, call.arguments - 1))
        cursor.put(opd.NO_OPERAND)  # no stack
        cursor.put(self.back)
        for operand in (
            opd.with_span(self.arguments, registers.ARGUMENTS - 1),
            self.back,
            *self._changed(end, predicates),
        ):
            cursor.put(operand)
        for k in range(words):
            cursor.make2(MOV, opd.word(f.get(i, 0), k), opd.word(self.arguments, k))
        cursor.remove(i)

    def _changed(self, end: int, predicates: int) -> list[int]:
        """What such code changes beside arguments and the return address."""
        found = self.changed.get((end, predicates))
        if found is None:
            found = [fixed_register(self.f, R, count, first) for first, count in runs(without_own(end))]
            found.append(fixed_register(self.f, P, predicates, 0))
            self.changed[(end, predicates)] = found
        return found


def without_own(end: int) -> list[int]:
    """The general registers below ``end`` that the convention does not use itself, at a call."""
    own = {registers.STACK_REGISTER, registers.RETURN_ADDRESS, registers.RETURN_ADDRESS + 1}
    own.update(range(registers.FIRST_ARGUMENT, registers.FIRST_ARGUMENT + registers.ARGUMENTS))
    return [n for n in range(end) if n not in own]


def fixed_register(f: Function, kind: i64, size: i64, first: int) -> i64:
    """All words of a new register that has its place already."""
    number = f.new_reg(kind, size)
    fix_register(f, number, first)
    return opd.reg(number, 0, size)


def fix_register(f: Function, number: i64, first: int) -> None:
    """Give a register its place; it does not wait in memory."""
    f.reg_flags[number] |= registers.FLAG_FIXED | SPILLED
    f.hint[number] = first


def runs(numbers: list[int]) -> list[tuple[int, int]]:
    """Runs of numbers: the first, and how many."""
    found: list[tuple[int, int]] = []
    for n in numbers:
        if found and found[-1][0] + found[-1][1] == n:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((n, 1))
    return found
