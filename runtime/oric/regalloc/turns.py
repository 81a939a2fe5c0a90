"""Allocation around fetches for which the threads of a quad take turns (:mod:`oric.lower.turns`).

Threads that help in a turn may be anywhere in the function. So what the turns write is in registers that nothing else has: those
behind all that allocation gives away, which gets fewer of them. While it runs, marks stand in place of the fetches and have
what these read and write. Results may have the registers of sources: a thread has its result when its turn is over. A handle in
a register is wanted in all turns: one more mark reads it behind them.
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64
from oric_tables.op import QUAD_TURNS, YIELD

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function, R
from oric.ir.images import takes_turns, turns_of
from oric.ir.machine import FILES

_ROOMY: Final = 64  # where there are as many registers, the turns take as many as they can make use of
_GENERAL: Final = FILES.index("R")
_PREDICATES: Final = FILES.index("P")
_RESULTS: Final = 5  # of such a fetch
_ABSENT, _SOURCES, _BEHIND, _NUMBERS, _END = 4, 6, 8, 9, 11  # operands of it
_MARKED: Final = 1 + 3 + _RESULTS  # of a mark: a predicate, what it reads, what it writes


@final
class Held:
    """The fetches of a function. ``size``: registers that their turns take; ``predicate``: whether they take a predicate, too."""

    def __init__(self) -> None:
        self.fetches: list[tuple[int, int, int]] = []  # with their numbers
        self.marks: list[int] = []  # behind some of them
        self.size = 0
        self.align = 1
        self.predicate = False

    def leave(self, limits: list[int]) -> None:
        """Let allocation give fewer registers away."""
        if self.fetches:
            limits[_GENERAL] -= self.size + self.align - 1
            limits[_PREDICATES] -= self.predicate


def hold_turns(f: Function, limits: list[int]) -> Held:
    """Put marks in the places of the fetches, and leave them some of the registers that there are."""
    held = Held()
    if not takes_turns(f):
        return held
    cursor = Cursor(f)
    for b in range(f.blocks()):
        i: i64 = f.head[b]
        while i != NONE:
            if f.op[i] == QUAD_TURNS:
                _, turns, place = turns_of(f, i)
                held.size = max(held.size, turns.most if limits[_GENERAL] >= _ROOMY else turns.least)
                held.align = max(held.align, turns.align)
                held.predicate |= f.get(i, _ABSENT) != opd.RZ_OPERAND
                operands = [f.get(i, at) for at in range(_END)]
                held.fetches.append((int(i), operands[_NUMBERS], operands[_NUMBERS + 1]))
                cursor.rewrite(i, YIELD, 0, _MARKED)
                for at, operand in enumerate((opd.PT_OPERAND, *operands[_SOURCES:_NUMBERS], *operands[:_RESULTS])):
                    f.set(i, at, operand)
                if place < 0:
                    cursor.behind(i)
                    held.marks.append(int(cursor.make2(YIELD, opd.PT_OPERAND, operands[_BEHIND])))
            i = f.next[i]
    held.leave(limits)
    return held


def release_turns(f: Function, held: Held, least: int, predicates: int) -> None:
    """Put the fetches back, with their registers. ``least``: registers that the function uses anyway; ``predicates``: so many
    there are."""
    facts = f.attributes
    first = -(-max(facts.num_regs, least) // held.align) * held.align
    facts.num_regs = first + held.size
    if held.predicate:
        facts.num_preds = predicates
    own = f.new_reg(R, held.size)
    f.physical[own] = first
    cursor = Cursor(f)
    for i in held.marks:
        cursor.behind(i)
        cursor.remove(i)
    for i, number, place in held.fetches:
        marked = [f.get(i, at) for at in range(1, _MARKED)]
        sources, results = marked[: _NUMBERS - _SOURCES], marked[_NUMBERS - _SOURCES :]
        cursor.rewrite(i, QUAD_TURNS, 0, _END)
        for at, operand in enumerate((*results, opd.reg(own, 0, held.size), *sources, number, place)):
            f.set(i, at, operand)
