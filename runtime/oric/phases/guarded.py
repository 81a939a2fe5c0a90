"""Phase 13, at its beginning: vectors that are loaded under a guard are written over what the destinations had before.

A guarded load of a vector is one of a wide register and a guarded copy of each word, which waits for it. Where destinations
have values in front of it, the words get those first, the load writes over them, and the copies need no guard: they go when
copies are propagated. So masked loads stand next to one another, as with ptxas 13.0.88. Operations that a later phase expands
may make their results whatever the guard says, as the copies have it, so these are left alone.
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64
from oric_tables import knobs
from oric_tables.op import MOV

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function
from oric.ir.optable import ATOMIC, LOAD, OPS, WARP


def write_over(f: Function) -> bool:
    """Let guarded loads of wide registers do so; returns whether any does."""
    taking = _Taking(f)
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            following = f.next[i]
            if f.guard[i] and _is_load(f.op[i]):
                copies = taking.copies(i)
                if len(copies) > 1 and taking.have_values(i, copies):
                    taking.take(i, copies)
            i = following
        b += 1
    return taking.found


def _is_load(op: i64) -> bool:
    """Whether an operation loads, for each thread by itself, and stays what it is."""
    return OPS.flags[op] & (LOAD | ATOMIC | WARP) == LOAD and OPS.expansion[op] == 0


@final
class _Taking:
    def __init__(self, f: Function) -> None:
        self.f = f
        self.cursor = Cursor(f)
        self.found = False

    def copies(self, i: i64) -> list[int]:
        """The copies of words of the wide result of an instruction right behind it, under its guard; [] when there are others."""
        f = self.f
        wide = self._result(i)
        found: list[int] = []
        words: set[int] = set()
        following = f.next[i] if wide != NONE else NONE
        while following != NONE and f.op[following] == MOV and f.guard[following] == f.guard[i] and not f.mods[following]:
            dest, source = f.get(following, 0), f.get(following, 1)
            if not opd.is_register(source) or source & opd.INDEX != wide or source & opd.SIGNS or opd.count_of(source) > 1:
                break
            if not opd.is_register(dest) or dest & opd.INDEX == wide or opd.count_of(dest) > 1:
                return []
            words.add(int(f.words_of(dest)))
            found.append(int(following))
            following = f.next[following]
        return found if len(words) == len(found) else []

    def _result(self, i: i64) -> int:
        """The only register that an instruction writes, with several words and as a whole; NONE: there is none such."""
        f = self.f
        wide: int = NONE
        at: i64 = 0
        while at < f.count[i]:
            operand = f.get(i, at)
            if opd.is_register(operand):
                n = int(operand & opd.INDEX)
                if OPS.writes_at(f.op[i], at):
                    if wide != NONE or opd.count_of(operand) < 2 or opd.count_of(operand) != f.reg_size[n]:
                        return NONE
                    wide = n
            at += 1
        at = 0
        while wide != NONE and at < f.count[i]:
            if opd.is_register(f.get(i, at)) and f.get(i, at) & opd.INDEX == wide and not OPS.writes_at(f.op[i], at):
                return NONE
            at += 1
        return wide

    def have_values(self, i: i64, copies: list[int]) -> bool:
        """Whether all destinations are written, whatever guards say, not far in front of an instruction in its block."""
        f = self.f
        missing = {int(f.words_of(f.get(copy, 0))) for copy in copies}
        before = f.prev[i]
        steps = int(f.knobs.numbers[knobs.GUARDED_REACH])
        while missing and before != NONE and steps > 0:
            at: i64 = 0
            while at < f.count[before] and not f.guard[before]:
                operand = f.get(before, at)
                if opd.is_register(operand) and OPS.writes_at(f.op[before], at):
                    first = int(f.words_of(operand))
                    missing.difference_update(range(first, first + int(opd.count_of(operand))))
                at += 1
            before = f.prev[before]
            steps -= 1
        return not missing

    def take(self, i: i64, copies: list[int]) -> None:
        """Put what the destinations had into the words, and take the guards off the copies."""
        f, cursor = self.f, self.cursor
        self.found = True
        cursor.in_front(i)
        cursor.line = f.line[i]
        for copy in copies:
            cursor.make2(MOV, f.get(copy, 1), f.get(copy, 0), f.mods[copy])
        for copy in copies:
            f.set_guard(copy, 0)
