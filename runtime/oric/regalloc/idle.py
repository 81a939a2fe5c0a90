"""Accesses to slots that change nothing: stores of what is there anyway, and loads that nobody reads.

They come about where a register is split again: a part that is brought back may leave the file in front of all its readers.
"""

from __future__ import annotations

from mypy_extensions import i64

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function
from oric.ir.optable import OPS

from .spill import WORD, Memory


def drop_idle(f: Function, memory: Memory) -> None:
    """Remove such accesses; nobody may hold a view of the function."""
    made: set[int] = set()  # registers that something else than a load from their slot writes
    reads: dict[int, int] = {}  # register -> how often it is named as a source
    stores: list[tuple[int, int]] = []  # with the register
    loads: list[tuple[int, int]] = []
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            load = i in memory.loads
            if load:
                loads.append((i, f.get(i, 0) & opd.INDEX))
            elif i in memory.stores:
                stores.append((i, f.get(i, 2) & opd.INDEX))
            at: i64 = 0
            while at < f.count[i]:
                operand = f.get(i, at)
                n = operand & opd.INDEX
                if opd.is_register(operand) and n in memory.home:
                    if not OPS.writes_at(f.op[i], at):
                        reads[n] = reads.get(n, 0) + 1
                    elif not load:
                        made.add(n)
                at += 1
            i = f.next[i]
        b += 1
    cursor = Cursor(f)
    for i, n in stores:
        if n not in made:
            f.attributes.spill_stores -= WORD * opd.count_of(f.get(i, 2))
            memory.stores.discard(i)
            cursor.remove(i)
            reads[n] -= 1
    for i, n in loads:
        if not reads.get(n):
            f.attributes.spill_loads -= WORD * opd.count_of(f.get(i, 0))
            memory.loads.discard(i)
            cursor.remove(i)
