"""Predicates that do not fit wait in general registers.

A spilled predicate lives as 0 or 1 in a general register of its own: ``SEL r, RZ, 1, !p`` follows each write of it,
``ISETP.NE p', r, RZ`` goes before each instruction that reads it, with a short-lived p'. Where general registers are scarce,
several live as bits of one: ``LOP3 r, r & ~bit`` and ``@p LOP3 r, r | bit`` follow each write, ``LOP3 p', r & bit`` goes before
each read. Source: Register Model, "Flag Bits at +48" (spilled predicates live in general registers); both ways observed;
hardware has no half predicates.
"""

from __future__ import annotations

from functools import cache
from typing import Final, final

from mypy_extensions import i64
from oric_tables import ops
from oric_tables._native import lib
from oric_tables.op import ISETP, LOP3, MOV, SEL
from oric_tables.ori_operands import KIND_BIT_SPILL, KIND_R2P_P2R

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function, R, control_flow
from oric.ir.machine import FILES, MachineFunction

from .homes import Spiller, choose
from .residence import Code, is_flow
from .spill import SPILLED

_FILE: Final = FILES.index("P")
_TESTED: Final = 4  # operand of a test of a bit: the predicate that comes back
SHARED_BITS: Final = 20  # predicates in one register: their bits are short immediates
AND: Final = 0xC0  # tables of LOP3
OR: Final = 0xFC
AND_NOT: Final = 0x30


@cache
def nonzero_mods() -> int:
    """Modifiers of the test that brings a predicate back."""
    mods: int = ops.op(ISETP).pack(cmp="NE", sign="U32", bop="AND")
    return mods


@cache
def bit_mods(table: int) -> int:
    """Modifiers of the operation on a bit: ``0xc0`` tests, ``0xfc`` sets, ``0x30`` clears it."""
    mods: int = ops.op(LOP3).pack(lut=table)
    return mods


def choose_predicates(f: Function, view: MachineFunction, limit: int) -> list[int]:
    """The predicates to be kept in general registers so that no more than ``limit`` are live at any point.

    Those that are live where too many are, and seldom named, go first; those of earlier spills stay. ``view``: the function as it
    stands, in its own order.
    """
    return choose(f, view, lambda fn, stays, chosen: int(lib.oric_spill_choose(fn, stays, _FILE, limit, chosen)))


def spill_predicates(f: Function, victims: list[int]) -> list[int]:
    """Move predicates into general registers, which are returned; no view of the function may be held."""
    return _PredicateSpiller(f, {p: [f.new_reg(R)] for p in victims}).rewrite_all()


@final
class SharedHomes:
    """Registers that have a spilled predicate in each bit."""

    def __init__(self) -> None:
        self.bits: list[int] = []  # by shared register, how many it has
        self.registers: list[int] = []
        self.begins: list[int] = []  # by shared register, the instruction that makes it
        self.uses: list[list[int]] = []  # by shared register, the first instruction of each write, and each test
        # by shared register, the first and last instruction of each of these, and the register that the predicate had
        self.moved: list[list[tuple[int, int, int]]] = []

    def move(self, f: Function, homes: list[int]) -> None:
        """Give the predicates that have these registers for themselves a bit each; no view of the function may be held."""
        cursor = Cursor(f)
        place: dict[int, tuple[int, int]] = {}  # home -> shared register by number, bit
        for home in homes:
            if not self.bits or self.bits[-1] == SHARED_BITS:
                self._new(f)
            place[home] = len(self.bits) - 1, 1 << self.bits[-1]
            self.bits[-1] += 1
        b: i64 = 0
        while b < f.blocks():
            i = f.head[b]
            while i != NONE:
                following = f.next[i]
                self._rewrite(f, cursor, i, place)
                i = following
            b += 1
        for k in sorted({k for k, _ in place.values()}):
            self._begin(f, cursor, k)

    def give_back(self, f: Function) -> None:
        """Give each predicate a register for itself again, which may wait in memory; no view of the function may be held."""
        cursor = Cursor(f)
        for k, made in enumerate(self.moved):
            for first, last, home in made:
                cursor.in_front(last)
                if last == first:
                    _bring_back(f, cursor, f.get(last, _TESTED), home)
                else:
                    _keep(f, cursor, home, f.guard[last])
                    cursor.remove(first)
                cursor.remove(last)
            cursor.remove(self.begins[k])
        self.bits, self.registers, self.begins, self.uses, self.moved = [], [], [], [], []

    def _new(self, f: Function) -> None:
        register = f.new_reg(R)
        f.reg_flags[register] |= SPILLED
        self.registers.append(register)
        self.bits.append(0)
        self.begins.append(NONE)
        self.uses.append([])
        self.moved.append([])

    def _rewrite(self, f: Function, cursor: Cursor, i: i64, place: dict[int, tuple[int, int]]) -> None:
        """Bit operations in place of an instruction that keeps a predicate or brings it back."""
        if f.op[i] == SEL and f.get(i, 0) & opd.INDEX in place and opd.is_register(f.get(i, 0)):
            k, bit = place[f.get(i, 0) & opd.INDEX]
            shared = opd.reg(self.registers[k])
            kept = f.get(i, 3) & ~opd.NEGATE
            cursor.in_front(i)
            made = cursor.make4(LOP3, shared, shared, opd.imm(bit), opd.RZ_OPERAND, bit_mods(AND_NOT))
            self.uses[k].append(made)
            f.attributes.marks[made] = KIND_BIT_SPILL
            last = cursor.make4(LOP3, shared, shared, opd.imm(bit), opd.RZ_OPERAND, bit_mods(OR), kept)
            f.attributes.marks[last] = KIND_BIT_SPILL
            self.moved[k].append((made, last, f.get(i, 0)))
            cursor.remove(i)
        elif f.op[i] == ISETP and f.get(i, 1) & opd.INDEX in place and opd.is_register(f.get(i, 1)):
            k, bit = place[f.get(i, 1) & opd.INDEX]
            back = f.get(i, 0)
            cursor.in_front(i)
            shared = opd.reg(self.registers[k])
            # a test of what nothing has set may come in front of all that sets a bit
            made = cursor.make4(LOP3, opd.RZ_OPERAND, shared, opd.imm(bit), opd.RZ_OPERAND, bit_mods(AND))
            cursor.put(back)
            self.uses[k].append(made)
            self.moved[k].append((made, made, f.get(i, 1)))
            f.attributes.marks[made] = KIND_BIT_SPILL
            cursor.remove(i)

    def _begin(self, f: Function, cursor: Cursor, k: int) -> None:
        """Make a shared register where all that names it comes later, in no loop."""
        if self.begins[k] != NONE:
            cursor.remove(self.begins[k])
        cfg = control_flow(f)
        uses = [i for i in self.uses[k] if cfg.number[f.block[i]] >= 0]
        b: int = f.block[uses[0]] if uses else 0
        for i in uses:
            while b and not cfg.dominates(b, f.block[i]):
                b = cfg.idom()[b]
        while b and (cfg.loops().depth[b] or cfg.loops().irreducible):  # a loop with two entries is in no nest
            b = cfg.idom()[b]
        here = set(uses)
        i = f.head[b]
        while i != NONE and i not in here and not is_flow(f, i):
            i = f.next[i]
        if i == NONE:
            cursor.at_exit(b)
            cursor.line = f.line[f.tail[b]] if f.tail[b] != NONE else 0
        else:
            cursor.in_front(i)
        self.begins[k] = cursor.make2(MOV, opd.reg(self.registers[k]), opd.RZ_OPERAND)


def crowded_homes(f: Function, code: Code, limits: list[int], homes: set[int]) -> list[int]:
    """Those of the registers ``homes`` that are live, two or more, where more than the ``limits`` words of its block are.

    None in a function that begins with a loop: there is no place in front of that.
    """
    found: set[int] = set()
    if code.cfg.predecessors(0):
        return []
    for b in range(f.blocks()):
        if not homes.isdisjoint(code.live_out[b]) or not homes.isdisjoint(code.at[b]):
            _crowded_in(f, code, b, limits[b], homes, found)
    return sorted(found)


def _crowded_in(f: Function, code: Code, b: int, limit: int, homes: set[int], found: set[int]) -> None:
    live = dict(code.words[b])
    count = sum(words.bit_count() for words in live.values())
    here = homes.intersection(live)
    for step in reversed(code.steps[b]):
        for n in step.writes:
            if n not in live:
                count += f.reg_size[n]  # a register is needed though nothing reads it
                live[n] = opd.all_bits(f.reg_size[n])
                if n in homes:
                    here.add(n)
        if count > limit and len(here) > 1:
            found |= here
        for n in step.writes:
            if n not in step.words or not step.words[n]:
                count -= live.pop(n).bit_count()
                here.discard(n)
        for n, words in step.words.items():
            if words:
                count += words.bit_count() - live.get(n, 0).bit_count()
                live[n] = words
                if n in homes:
                    here.add(n)
        if count > limit and len(here) > 1:
            found |= here


@final
class _PredicateSpiller(Spiller):
    def load(self, short: i64, home: i64) -> None:
        _bring_back(self.f, self.cursor, short, home)

    def keep(self, short: i64, home: i64) -> None:
        _keep(self.f, self.cursor, home, short)


def _bring_back(f: Function, cursor: Cursor, predicate: i64, home: i64) -> None:
    f.attributes.marks[cursor.make(ISETP, nonzero_mods())] = KIND_R2P_P2R
    cursor.put(predicate)
    cursor.put(home)
    cursor.put(opd.RZ_OPERAND)


def _keep(f: Function, cursor: Cursor, home: i64, predicate: i64) -> None:
    made = cursor.make4(SEL, home, opd.RZ_OPERAND, opd.imm(1), predicate | opd.NEGATE)
    f.attributes.marks[made] = KIND_R2P_P2R
