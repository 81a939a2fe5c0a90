"""Numbers in bases of addresses go into the offsets of the accesses.

``base + number`` and something scaled are one sum, of which the accesses' offsets can hold the number: no register has the base
with the number, and where several such sums begin with one base they are the same, made once. So are elements of arrays that lie
next to each other in one frame, variable or structure. Source: observed (ptxas 13.0.88).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64
from oric_rules.matchers import ABSENT, BASE, DEFAULT, OFFSET
from oric_tables.op import ADD64, IADD3, IMAD, IMAD_WIDE, LEA, LEA64

from oric.ir import operand as opd
from oric.ir.conditions import reachable, reachable64, signed
from oric.ir.facts import is_absent
from oric.ir.function import NONE, R2, Function, R

from .makers import Makers

_ADDENDS: Final = {LEA64: 2, LEA: 2, IMAD: 3, IMAD_WIDE: 3, ADD64: 2}  # where a scaled sum has its base
_SOURCES: Final = 4  # one behind the last operand of such a sum, and of one that makes its base


def accesses(f: Function) -> list[tuple[int, int]]:
    """The memory operations whose address is in a register, and which operand that is."""
    found: list[tuple[int, int]] = []
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            base = BASE[f.op[i]] - 1
            if base >= 0 and opd.is_register(f.get(i, base)):
                found.append((int(i), int(base)))
            i = f.next[i]
        b += 1
    return found


def takes_number(f: Function, makers: Makers, i: i64, base: i64, made: i64, number: i64) -> bool:
    """Whether the offset of a memory operation, whose operand ``base`` is what ``made`` makes, can hold a number as well."""
    operand, offset = f.get(i, base), f.get(i, OFFSET[f.op[i]])
    if operand & opd.SIGNS or f.mods[i] & DEFAULT[f.op[i]]:
        return False
    if ABSENT[f.op[i]] >= 0 and not is_absent(f.get(i, ABSENT[f.op[i]])):
        return False
    if is_absent(offset) or offset & opd.TYPE not in (opd.IS_IMM, opd.IS_POOL) or not makers.reaches(made, i):
        return False
    if opd.count_of(operand) == 1:
        return reachable(number, f.imm_value(offset))
    return reachable64(number, f.imm_value(offset))


def add_number(f: Function, i: i64, number: i64) -> None:
    """Add a number to the offset of a memory operation."""
    offset = OFFSET[f.op[i]]
    f.set(i, offset, f.imm(signed(signed(f.imm_value(f.get(i, offset))) + signed(number))))


def lift_numbers(f: Function, makers: Makers) -> int:
    """Let offsets have the numbers of bases; returns how many sums have a base without a number now, or are no longer made."""
    return _Lifting(f, makers).run()


@final
class _Scaled:
    """A sum: ``base`` without its ``number``, ``users`` the memory operations that have it for an address."""

    __slots__ = ("at", "base", "number", "place", "users")

    def __init__(self, at: int, base: int, number: int) -> None:
        self.at = at
        self.place = 0  # of the base among the operands
        self.base = base
        self.number = number
        self.users: list[int] = []


@final
class _Lifting:
    def __init__(self, f: Function, makers: Makers) -> None:
        self.f = f
        self.makers = makers
        self.sums: dict[int, _Scaled] = {}  # by the first word that they make
        self.order: list[_Scaled] = []  # the same, in reverse post-order
        self.lifted = 0

    def run(self) -> int:
        self._find_sums()
        if not self.lifted:
            return 0
        self.lifted = 0
        self._find_users()
        groups: dict[tuple[int, ...], list[_Scaled]] = {}
        for found in self.order:
            if found.users and self._is_address(found):
                groups.setdefault(self._key(found), []).append(found)
        for group in groups.values():
            self._lift(group)
        return self.lifted

    def _find_sums(self) -> None:
        f, cfg = self.f, self.makers.cfg
        at: i64 = 0
        while at < cfg.reachable:
            i = f.head[cfg.order[at]]
            while i != NONE:
                op = f.op[i]
                if (op == IMAD_WIDE or op == LEA64 or op == LEA or op == IMAD or op == ADD64) and not f.guard[i]:
                    self._note_sum(i, _ADDENDS[op])
                i = f.next[i]
            at += 1

    def _note_sum(self, i: i64, place: i64) -> None:
        f = self.f
        made = f.get(i, 0)
        if not opd.is_register(made) or self.makers.of(made) != i or f.reg_type[made & opd.INDEX] not in (R, R2):
            return
        if opd.count_of(made) != f.reg_size[made & opd.INDEX]:
            return
        at: i64 = 1
        while at < f.count[i]:
            operand = f.get(i, at)
            if opd.is_register(operand) and f.is_predicate(operand):  # of a carry
                return
            if not self.makers.is_settled(operand, i):
                return
            at += 1
        found = self._split(i, f.get(i, place))
        if f.op[i] == ADD64 and (found is None or not found.number):
            other = self._split(i, f.get(i, 1))
            if other is not None and other.number:
                found, place = other, 1
        if found is None:
            return
        found.place = int(place)
        self.lifted += found.number != 0
        self.sums[int(f.words_of(made))] = found
        self.order.append(found)

    def _split(self, i: i64, base: i64) -> _Scaled | None:
        """A sum with that base, which is taken apart when it is another register and a number."""
        f, makers = self.f, self.makers
        if not opd.is_register(base) or base & opd.SIGNS:
            return None
        found = _Scaled(int(i), int(base), 0)
        made = makers.of(base)
        if made < 0 or f.guard[made] or f.get(made, 0) != base or f.op[made] != (ADD64 if opd.count_of(base) > 1 else IADD3):
            return found
        number: i64 = 0
        rest = opd.NO_OPERAND
        at: i64 = 1
        while at < f.count[made]:
            operand = f.get(made, at)
            if opd.is_register(operand) and rest == opd.NO_OPERAND and at < _SOURCES and not operand & opd.SIGNS:
                rest = operand
            elif operand & opd.TYPE in (opd.IS_IMM, opd.IS_POOL) and not operand & opd.SIGNS and at < _SOURCES:
                number = f.imm_value(operand)
            elif not is_absent(operand) and operand != opd.RZ_OPERAND:
                return found
            at += 1
        if rest != opd.NO_OPERAND and makers.is_settled(rest, made):
            found.base, found.number = int(rest), int(number)
        return found

    def _find_users(self) -> None:
        f = self.f
        for i, base in accesses(f):
            found = self.sums.get(int(f.words_of(f.get(i, base))))
            if found is not None and takes_number(f, self.makers, i, base, found.at, found.number):
                found.users.append(i)

    def _is_address(self, found: _Scaled) -> bool:
        """Whether nothing but its users reads a sum."""
        f = self.f
        word = f.words_of(f.get(found.at, 0))
        reads = 0
        for i in found.users:
            reads += int(opd.count_of(f.get(i, BASE[f.op[i]] - 1)))
        read: i64 = self.makers.read[word]
        if opd.count_of(f.get(found.at, 0)) > 1:
            read += self.makers.read[word + 1]
        return read == reads

    def _key(self, found: _Scaled) -> tuple[int, ...]:
        """What two sums that are equal but for their numbers have in common."""
        f, i = self.f, found.at
        others = [int(f.get(i, at)) for at in range(1, _SOURCES) if at < f.count[i] and at != found.place]
        if f.op[i] == ADD64:
            return ADD64, *sorted((found.base, *others))
        return int(f.op[i]), int(f.mods[i]), found.base, *others

    def _lift(self, group: list[_Scaled]) -> None:
        """Sums of one base, in reverse post-order: each takes the base alone, or is the one in front of it that has."""
        f = self.f
        if not any(found.number for found in group):
            return
        kept: list[_Scaled] = []
        for found in group:
            for i in found.users:
                add_number(f, i, found.number)
            f.set(found.at, found.place, found.base)
            first = next((one for one in kept if self.makers.reaches(one.at, found.at)), None)
            self.lifted += first is not None or found.number != 0
            if first is None:
                kept.append(found)
                continue
            for i in found.users:
                base = BASE[f.op[i]] - 1
                f.set(i, base, f.get(i, base) & ~opd.INDEX | f.get(first.at, 0) & opd.INDEX)
