"""Predicates that do not fit wait in general registers.

A spilled predicate lives as 0 or 1 in a general register of its own: ``SEL r, RZ, 1, !p`` follows each write of it,
``ISETP.NE p', r, RZ`` goes before each instruction that reads it, with a short-lived p'. Source: Register Model, "Flag Bits
at +48" (spilled predicates live in general registers); hardware has no half predicates.
"""

from __future__ import annotations

from functools import cache
from typing import Final, final

from mypy_extensions import i64
from oric_tables import ops
from oric_tables._native import ffi, lib
from oric_tables.op import ISETP, SEL

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function, P, R
from oric.ir.machine import FILES, MachineFunction
from oric.ir.optable import OPS

from .spill import SPILLED

_FILE: Final = FILES.index("P")


@cache
def nonzero_mods() -> int:
    """Modifiers of the test that brings a predicate back."""
    mods: int = ops.op(ISETP).pack(cmp="NE", sign="U32", bop="AND")
    return mods


def choose_predicates(f: Function, view: MachineFunction, limit: int) -> list[int]:
    """The predicates to be kept in general registers so that no more than ``limit`` are live at any point.

    Those that are live where too many are, and seldom named, go first; those of earlier spills stay. ``view``: the function as it
    stands, in its own order.
    """
    fn = view.fn
    fixed = bytearray(fn.unit_count + 1)
    for n in range(f.registers()):
        if f.reg_flags[n] & SPILLED:
            fixed[f.reg_word[n]] = 1
    if lib.oric_liveness(fn):
        raise MemoryError("no memory for liveness")
    chosen = ffi.new("uint32_t[]", fn.unit_count + 1)
    count = lib.oric_spill_choose(fn, bytes(fixed), _FILE, limit, chosen)
    if count < 0:
        raise MemoryError("no memory for the choice of spills")
    return sorted({fn.unit_register[chosen[k]] for k in range(count)})


def spill_predicates(f: Function, victims: list[int]) -> None:
    """Move predicates into general registers; no view of the function may be held."""
    homes = {p: f.new_reg(R) for p in victims}
    spiller = _Spiller(f, homes)
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            following = f.next[i]
            spiller.rewrite(i)
            i = following
        b += 1


def _predicate(f: Function, operand: i64) -> i64:
    """The predicate register that an operand names, -1 when it names none (0, the missing guard, names none)."""
    if not opd.is_register(operand):
        return -1
    index = operand & opd.INDEX
    return index if f.reg_type[index] == P else -1


@final
class _Spiller:
    """Gives instructions short-lived predicates for the spilled ones that they name; ``homes``: where those wait."""

    def __init__(self, f: Function, homes: dict[int, int]) -> None:
        self.f = f
        self.homes = homes
        self.cursor = Cursor(f)

    def rewrite(self, i: i64) -> None:
        """One instruction."""
        f = self.f
        used: set[int] = set()
        written: set[int] = set()
        read: set[int] = set()
        at: i64 = -1
        while at < f.count[i]:
            number = _predicate(f, f.guard[i] if at < 0 else f.get(i, at))
            if number in self.homes:
                used.add(number)
                (written if at >= 0 and OPS.writes_at(f.op[i], at) else read).add(number)
            at += 1
        if not used:
            return
        if f.guard[i]:
            read |= written  # where the guard is false the old value stays
        renamed = {}
        for number in sorted(used):
            short = f.new_reg(P)
            f.reg_flags[short] |= SPILLED
            renamed[number] = short
            home = opd.reg(self.homes[number])
            if number in read:
                self._load(i, opd.reg(short), home)
            if number in written:
                self._keep(i, opd.reg(short), home)
        f.set_guard(i, self._renamed(f.guard[i], renamed))
        at = 0
        while at < f.count[i]:
            f.set(i, at, self._renamed(f.get(i, at), renamed))
            at += 1

    def _load(self, i: i64, short: i64, home: i64) -> None:
        self.cursor.in_front(i)
        self.cursor.make(ISETP, nonzero_mods())
        self.cursor.put(short)
        self.cursor.put(home)
        self.cursor.put(opd.RZ_OPERAND)

    def _keep(self, i: i64, short: i64, home: i64) -> None:
        self.cursor.behind(i)
        self.cursor.make4(SEL, home, opd.RZ_OPERAND, opd.imm(1), short | opd.NEGATE)

    def _renamed(self, operand: i64, renamed: dict[int, int]) -> i64:
        number = _predicate(self.f, operand)
        return opd.with_index(operand, renamed[number]) if number in renamed else operand
