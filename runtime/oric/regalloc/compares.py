"""Predicates that are made again in front of their readers, in place of waiting in general registers.

Where more predicates are live than there are, those whose compare can be done once more where they are read live only there. It
is done on the function as it came to allocation, before predicates are spilled: what is spilled then is less, and a compare next
to its reader costs what it costs to bring a predicate back. Source: Briggs, Cooper and Torczon, "Rematerialization" (1992); seen.
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64
from oric_tables import knobs
from oric_tables._native import ffi, lib
from oric_tables.registers import FLAG_FIXED, PASSED_OVER

from oric.ir import operand as opd
from oric.ir.cfg import Cfg
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function, P, control_flow
from oric.ir.machine import FILES, MachineFunction
from oric.ir.optable import CONTROL, MEMORY, OPS, PINNED, SPECIAL, WARP

from .homes import choose
from .remake import registers_read
from .spill import SPILLED

_FILE: Final = FILES.index("P")
_EFFECTS: Final = MEMORY | PINNED | WARP | CONTROL | SPECIAL


def choose_compares(f: Function, view: MachineFunction, limit: int) -> Compares | None:
    """Predicates to be made again where they are read so that no more than ``limit`` are live, as far as that can be; None: none.

    ``view``: the function as it stands, in its own order.
    """
    uses = _Uses(f, view)
    fit = {p for p in uses.readers if uses.is_worth_it(p)}
    if not fit:
        return None
    others = [n for n in range(f.registers()) if n not in fit]
    victims = choose(f, view, lambda fn, stays, chosen: int(lib.oric_spill_choose(fn, stays, _FILE, limit, chosen)), others)
    return Compares(uses, set(victims)) if victims else None


@final
class _Uses:
    """Who makes and who reads each register, and where it is live.

    ``place``: instruction -> its place in the order of the code; ``made``: register -> the instructions that write it;
    ``readers``: register -> the instructions that read it, in the order of the code.
    """

    def __init__(self, f: Function, view: MachineFunction) -> None:
        if lib.oric_liveness(view.fn):
            raise MemoryError("no memory for liveness")
        self.f = f
        self.cfg: Cfg = control_flow(f)
        self.place: dict[int, int] = {}
        self.made: dict[int, list[int]] = {}
        self.readers: dict[int, list[int]] = {}
        self.live_out: list[set[int]] = []
        self._words: dict[int, int] = {}  # register -> the words that are written, as bits
        self._again: set[int] = set()  # registers of which a word is written more than once
        self._shared: dict[int, bool] = {}  # register -> whether many compares read it
        buffer = ffi.new("uint32_t[]", view.fn.unit_count + 1)
        b: i64 = 0
        while b < f.blocks():
            count = lib.oric_live_out(view.fn, b, buffer)
            self.live_out.append({view.fn.unit_register[unit] for unit in ffi.unpack(buffer, count)} if count else set())
            i = f.head[b]
            while i != NONE:
                self.place[i] = len(self.place)
                self._note(i)
                i = f.next[i]
            b += 1

    def _note(self, i: i64) -> None:
        f = self.f
        self._note_read(i, f.guard[i])
        at: i64 = 0
        while at < f.count[i]:
            operand = f.get(i, at)
            if not OPS.writes_at(f.op[i], at):
                self._note_read(i, operand)
            elif opd.is_register(operand):
                n = operand & opd.INDEX
                words = opd.bits_of(operand)
                if words & self._words.get(n, 0):
                    self._again.add(n)
                self._words[n] = self._words.get(n, 0) | words
                self.made.setdefault(n, []).append(i)
            at += 1

    def _note_read(self, i: i64, operand: i64) -> None:
        if opd.is_register(operand):
            found = self.readers.setdefault(operand & opd.INDEX, [])
            if not found or found[-1] != i:
                found.append(i)

    def reaches(self, i: int, j: int) -> bool:
        """Whether an instruction is executed before another one whenever that is."""
        b, c = self.f.block[i], self.f.block[j]
        if self.cfg.number[b] < 0 or self.cfg.number[c] < 0:
            return False
        return self.place[i] < self.place[j] if b == c else bool(self.cfg.dominates(b, c))

    def is_once(self, n: int, before: int) -> bool:
        """Whether a register is what it was made once, in front of an instruction, until that is executed again."""
        f = self.f
        if n in self._again or f.reg_flags[n] & FLAG_FIXED or n not in self.made:
            return False
        return all(not f.guard[i] and self.reaches(i, before) for i in self.made[n])

    def compare(self, p: int) -> int:
        """The instruction that makes a predicate, if it makes nothing else and can be repeated wherever it is read; else NONE."""
        f = self.f
        if f.reg_type[p] != P or f.reg_size[p] != 1 or f.reg_flags[p] & PASSED_OVER or len(self.made.get(p, ())) != 1:
            return NONE
        i = self.made[p][0]
        if f.guard[i] or OPS.flags[f.op[i]] & _EFFECTS or OPS.sreg[f.op[i]] >= 0:
            return NONE
        at: i64 = 0
        while at < f.count[i]:
            operand = f.get(i, at)
            n = operand & opd.INDEX
            if not opd.is_register(operand):
                if operand & opd.TYPE in (opd.IS_LABEL, opd.IS_SPECIAL):
                    return NONE
            elif OPS.writes_at(f.op[i], at):
                if n != p and (f.reg_type[n] != P or n in self.readers):
                    return NONE
            elif not self.is_once(n, i):
                return NONE
            at += 1
        return i

    def sources(self, i: int) -> list[int]:
        """The registers that an instruction reads."""
        f, found = self.f, list[int]()
        at: i64 = 0
        while at < f.count[i]:
            operand = f.get(i, at)
            if opd.is_register(operand) and not OPS.writes_at(f.op[i], at):
                found.append(operand & opd.INDEX)
            at += 1
        return found

    def is_live(self, n: int, j: int) -> bool:
        """Whether a register is needed anyway behind an instruction, or by it."""
        b, place = self.f.block[j], self.place[j]
        return n in self.live_out[b] or any(self.f.block[i] == b and self.place[i] >= place for i in self.readers[n])

    def is_there(self, n: int, j: int) -> bool:
        """Whether a register may be read by an instruction: it is live there, or would be for many predicates alike."""
        if self.is_live(n, j):
            return True
        if n not in self._shared:
            compares = {i for i in self.readers[n] if self._makes_a_predicate(i)}
            self._shared[n] = len(compares) >= int(self.f.knobs.numbers[knobs.PREDICATE_SHARED])
        return self._shared[n]

    def _makes_a_predicate(self, i: int) -> bool:
        """Whether an instruction is all that makes one, which may be made again."""
        written = self.f.get(i, 0)
        return opd.is_register(written) and self.compare(written & opd.INDEX) == i

    def repeated(self, p: int, j: int, away: set[int]) -> list[int]:
        """The predicates to be made again in front of an instruction, so that one of them can be read there, it last.

        ``away``: those that are not to be found there. Empty: it cannot be.
        """
        i = self.compare(p)
        if i == NONE:
            return []
        made = list[int]()
        for n in self.sources(i):
            if self.f.reg_type[n] == P and n not in made and (n in away or not self.is_there(n, j)):
                more = self.repeated(n, j, away)
                if not more:
                    return []
                made += [m for m in more if m not in made]
        return [*made, p] if len(made) < int(self.f.knobs.numbers[knobs.PREDICATE_REMADE]) else []

    def is_worth_it(self, p: int) -> bool:
        """Whether making a predicate again takes no more than letting it wait: a word, and an instruction more than readers."""
        i = self.compare(p)
        if i == NONE:
            return False
        instructions, longer = 0, set[int]()
        for j in self.readers[p]:
            if not self.reaches(i, j):
                return False
            made = self.repeated(p, j, set())
            if not made:
                return False
            instructions += len(made)
            for q in made:
                longer.update(n for n in self.sources(self.made[q][0]) if self.f.reg_type[n] != P and not self.is_there(n, j))
        return instructions <= len(self.readers[p]) + 1 and sum(self.f.reg_size[n] for n in longer) <= 1


@final
class Compares:
    """Gives the readers of some predicates short-lived ones. ``victims``: these."""

    def __init__(self, uses: _Uses, victims: set[int]) -> None:
        self.uses = uses
        self.f = uses.f
        self.victims = victims
        self.cursor = Cursor(uses.f)
        self.compares = {p: uses.made[p][0] for p in uses.readers if uses.compare(p) != NONE}

    def repeat(self) -> None:
        """All of them; compares that nobody reads any more go. No view of the function may be held."""
        uses = self.uses
        makers = {self.compares[p] for p in self.victims}
        places = [(uses.place[j], j, p) for p in self.victims for j in uses.readers[p] if j not in makers]
        for _, j, p in sorted(places):
            self._serve(j, p)
        self._drop()

    def _serve(self, j: int, p: int) -> None:
        """Make a predicate again in front of one of its readers."""
        f = self.f
        short: dict[int, int] = {}
        made = self.uses.repeated(p, j, self.victims)
        if not made:
            return  # others are away than there seemed to be: it stays as it is
        for q in made:
            self.cursor.in_front(j)
            copy = self.cursor.clone(self.compares[q])
            short[q] = f.new_reg(P)
            f.reg_flags[short[q]] |= SPILLED
            at: i64 = 0
            while at < f.count[copy]:
                operand = f.get(copy, at)
                if opd.is_register(operand):
                    n = operand & opd.INDEX
                    if n in short:
                        f.set(copy, at, opd.with_index(operand, short[n]))
                    elif OPS.writes_at(f.op[copy], at):
                        f.set(copy, at, opd.PT_OPERAND)
                at += 1
        self._rename(j, p, short[p])

    def _rename(self, j: int, p: int, short: int) -> None:
        f = self.f
        guard = f.guard[j]
        if opd.is_register(guard) and guard & opd.INDEX == p:
            f.set_guard(j, opd.with_index(guard, short))
        at: i64 = 0
        while at < f.count[j]:
            operand = f.get(j, at)
            if opd.is_register(operand) and operand & opd.INDEX == p and not OPS.writes_at(f.op[j], at):
                f.set(j, at, opd.with_index(operand, short))
            at += 1

    def _drop(self) -> None:
        f = self.f
        left = {p: self.compares[p] for p in sorted(self.victims)}
        for p in self.victims:  # what only a victim was made of goes with it
            left.update((n, self.compares[n]) for n in self.uses.sources(self.compares[p]) if n in self.compares)
        while True:
            read = registers_read(f)
            idle = [p for p in left if p not in read]
            if not idle:
                return
            for p in idle:
                self.cursor.remove(left.pop(p))
