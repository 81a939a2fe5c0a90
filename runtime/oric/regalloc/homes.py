"""Registers of a small file that wait in general ones: each instruction gets short-lived ones for those that it names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mypy_extensions import i64
from oric_tables._native import ffi, lib
from oric_tables.ori_operands import KIND_SPILL_REFILL

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function
from oric.ir.machine import MachineFunction
from oric.ir.optable import OPS

from .spill import SPILLED


def choose(
    f: Function, view: MachineFunction, chooser: Callable[[Any, bytes, Any], int], others: Sequence[int] = ()
) -> list[int]:
    """The registers whose units a kernel names. It is called with the function, per unit whether that stays as it belongs to an
    earlier spill, and an array for the units; it returns their number, -1 without memory. ``view``: the function as it stands;
    ``others``: registers that stay, too.
    """
    fn = view.fn
    stays = bytearray(fn.unit_count + 1)
    for n in [n for n in range(f.registers()) if f.reg_flags[n] & SPILLED] + list(others):
        for word in range(f.reg_size[n]):
            stays[f.reg_word[n] + word] = 1
    if lib.oric_liveness(fn):
        raise MemoryError("no memory for liveness")
    chosen = ffi.new("uint32_t[]", fn.unit_count + 1)
    count = chooser(fn, bytes(stays), chosen)
    if count < 0:
        raise MemoryError("no memory for the choice of spills")
    return sorted({fn.unit_register[chosen[k]] for k in range(count)})


class Spiller:
    """``homes``: register -> where its words wait. How a word goes there and comes back is what files differ in."""

    def __init__(self, f: Function, homes: dict[int, list[int]]) -> None:
        self.f = f
        self.homes = homes
        self.cursor = Cursor(f)
        self.guarded: tuple[int, int, int] = (
            NONE,
            NONE,
            NONE,
        )  # the last instruction with such a guard: the register, the short one

    def load(self, short: i64, home: i64) -> None:
        """Bring a word back at the cursor."""
        raise NotImplementedError

    def keep(self, short: i64, home: i64) -> None:
        """Let a word wait, at the cursor."""
        raise NotImplementedError

    def rewrite_all(self) -> list[int]:
        """All instructions of the function; returns the general registers."""
        f = self.f
        b: i64 = 0
        while b < f.blocks():
            i = f.head[b]
            while i != NONE:
                following = f.next[i]
                self._rewrite(i)
                i = following
            b += 1
        return sorted(home for words in self.homes.values() for home in words)

    def _spilled(self, operand: i64) -> i64:
        """The spilled register that an operand names, -1 when it names none (0, the missing guard, names none)."""
        index = operand & opd.INDEX
        return index if opd.is_register(operand) and index in self.homes else -1

    def _rewrite(self, i: i64) -> None:
        f = self.f
        read: dict[int, int] = {}  # with the words, as bits
        written: dict[int, int] = {}
        at: i64 = -1
        while at < f.count[i]:
            operand = f.guard[i] if at < 0 else f.get(i, at)
            n = self._spilled(operand)
            if n >= 0:
                words = opd.bits_of(operand)
                side = written if at >= 0 and OPS.writes_at(f.op[i], at) else read
                side[n] = side.get(n, 0) | words
            at += 1
        if not read and not written:
            return
        if self._goes_on(i, read, written):
            return
        if f.guard[i]:
            for n, words in written.items():  # where the guard is false the old value stays
                read[n] = read.get(n, 0) | words
        renamed: dict[int, int] = {}
        for n in sorted({*read, *written}):
            short = renamed[n] = f.new_reg(f.reg_type[n], f.reg_size[n])
            f.reg_flags[short] |= SPILLED
            for word, home in enumerate(self.homes[n]):
                if read.get(n, 0) >> word & 1:
                    self.cursor.in_front(i)
                    self.load(opd.reg(short, word), opd.reg(home))
                if written.get(n, 0) >> word & 1:
                    self.cursor.behind(i)
                    self.keep(opd.reg(short, word), opd.reg(home))
        guard = self._spilled(f.guard[i])
        self.guarded = (i, guard, renamed[guard]) if guard >= 0 and guard not in written else (NONE, NONE, NONE)
        f.set_guard(i, self._renamed(f.guard[i], renamed))
        at = 0
        while at < f.count[i]:
            f.set(i, at, self._renamed(f.get(i, at), renamed))
            at += 1

    def _goes_on(self, i: i64, read: dict[int, int], written: dict[int, int]) -> bool:
        """Whether an instruction stores what the one in front of it has written, under the same guard: then that serves it, too.

        Nothing may come between the two: a register that leaves the file there counts as stored.
        """
        f = self.f
        before, n, short = self.guarded
        if before == NONE or f.prev[i] != before or f.attributes.marks.get(i) != KIND_SPILL_REFILL:
            return False
        if written or read != {n: 1} or self._spilled(f.guard[i]) != n:
            return False
        f.set_guard(i, opd.with_index(f.guard[i], short))
        self.guarded = (i, n, short)
        return True

    def _renamed(self, operand: i64, renamed: dict[int, int]) -> i64:
        n = self._spilled(operand)
        return opd.with_index(operand, renamed[n]) if n >= 0 else operand
