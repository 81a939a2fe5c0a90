"""Code for a debugger: what it looks for stays in its register. Marks, which are taken away behind allocation, read it.

The stack pointer is in its register everywhere. A register of the PTX that debug data name keeps its value as long as they do,
even if nothing in the code reads it any more; where that takes more registers than there are it ends with its last use.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64
from oric_tables.op import YIELD

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function
from oric.ir.lineinfo import line_of
from oric.ir.optable import CALL_READS, OPS

_READS: Final = CALL_READS


def keep_alive(f: Function) -> None:
    """Place the marks: at the ends of blocks, in front of what overwrites a register, and where lines begin in front of which a
    value is wanted no more."""
    cursor = Cursor(f)
    for low, _, _ in f.stack_moves:
        cursor.in_front(low)
        f.marks += _marks(cursor, [f.sp])
    line: int = 0
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            here = int(line_of(f.line[i]))
            if here and here != line:
                ending = [operand for operand, first, end in f.watched if first <= line < end <= here]
                if ending:
                    cursor.in_front(i)
                    f.watching += _marks(cursor, ending)
                line = here
            ending = _overwritten(f, i, line)
            if ending:
                cursor.in_front(i)
                f.watching += _marks(cursor, ending)
            i = f.next[i]
        cursor.at_exit(b)
        f.marks += _marks(cursor, [f.sp])
        f.watching += _marks(cursor, [operand for operand, first, end in f.watched if first <= line < end])
        b += 1


def definitions(f: Function) -> dict[int, list[int]]:
    """The instructions that write the registers of the PTX, by register of the function."""
    found: dict[int, list[int]] = {int(register.operand & opd.INDEX): [] for register in f.ptx_registers}
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            at: i64 = 0
            while at < f.count[i]:
                operand = f.get(i, at)
                if OPS.writes_at(f.op[i], at) and opd.is_register(operand) and int(operand & opd.INDEX) in found:
                    found[int(operand & opd.INDEX)].append(int(i))
                at += 1
            i = f.next[i]
        b += 1
    return found


def drop_changed(f: Function, before: dict[int, list[int]]) -> None:
    """Tell nothing of registers that do not get all their values where they did ``before``: they wait in memory, or are made
    anew."""
    after = definitions(f)
    f.ptx_registers = [
        register for register in f.ptx_registers if after[register.operand & opd.INDEX] == before[register.operand & opd.INDEX]
    ]


def _overwritten(f: Function, i: i64, line: int) -> list[int]:
    """The registers that are wanted up to an instruction, which gives them another value."""
    out: list[int] = []
    at: i64 = 0
    while at < f.count[i]:
        operand = f.get(i, at)
        if OPS.writes_at(f.op[i], at) and opd.is_register(operand):
            index = int(operand & opd.INDEX)
            out += [other for other, first, end in f.watched if int(other & opd.INDEX) == index and first <= line < end]
        at += 1
    return out


def look_away(f: Function) -> None:
    """Take the marks away that only values of the PTX have."""
    cursor = Cursor(f)
    for i in f.watching:
        cursor.behind(i)
        cursor.remove(i)
    f.watching = []


def _marks(cursor: Cursor, operands: list[int]) -> list[int]:
    """Instructions that read these; the first has place for the stack pointer."""
    made: list[int] = []
    for first in range(0, len(operands), _READS):
        made.append(int(cursor.make1(YIELD, opd.PT_OPERAND)))
        for operand in operands[first : first + _READS]:
            cursor.put(operand)
    return made
