"""Phase 50: addresses that differ by constants share what they have in common.

Where sums of the same two registers and different constants are addresses of memory operations and nothing else, the sum of the
registers is made once and the constants become offsets: one register is live instead of one for each address. So it is where the
base of something scaled is a register and a constant (``bases.py``). Numbers behind products are added in front of them
(``addends.py``). Source: Ori IR, The SSA Window (phase 50, OriReassociateAndCommon); observed (ptxas 13.0.88).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64
from oric_rules.matchers import BASE
from oric_tables.op import IADD3

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.facts import is_absent
from oric.ir.function import NONE, Function, R
from oric.ir.passes import PassContext

from .addends import add_early
from .bases import accesses, add_number, lift_numbers, takes_number
from .cleanup import remove_dead_code
from .makers import Makers, makers_of

_SOURCES: Final = (1, 2, 3)  # operands of a sum


def share_sums(f: Function, ctx: PassContext) -> bool:
    """Make sums of addresses once; returns whether there is any such sum."""
    makers = makers_of(f)
    early = add_early(f, makers)
    ctx.count("numbers added in front of products", early)
    if early:
        makers = makers_of(f)
    lifted = lift_numbers(f, makers)
    ctx.count("sums of addresses without the number of their base", lifted)
    shared = _Sharing(f, makers_of(f) if lifted else makers).run()
    ctx.count("addresses with a sum in common", shared)
    if lifted or shared:
        remove_dead_code(f, ctx)
    return early + lifted + shared != 0


@final
class _Sum:
    """A sum of two registers and a number: ``registers`` in the order of their numbers, ``users`` the memory operations."""

    __slots__ = ("at", "number", "registers", "users")

    def __init__(self, at: int, registers: tuple[int, int], number: int) -> None:
        self.at = at
        self.registers = registers
        self.number = number
        self.users: list[int] = []


@final
class _Sharing:
    def __init__(self, f: Function, makers: Makers) -> None:
        self.f = f
        self.makers = makers
        self.sums: dict[int, _Sum] = {}  # by the word that they make

    def run(self) -> int:
        """Returns how many sums are no longer made."""
        self._find_sums()
        if len(self.sums) < 2:
            return 0
        self._find_users()
        groups: dict[tuple[int, int], list[_Sum]] = {}
        for found in self.sums.values():
            if found.users and len(found.users) == self.makers.read[self.f.words_of(self.f.get(found.at, 0))]:
                groups.setdefault(found.registers, []).append(found)
        return sum(self._share(group) for group in groups.values() if len(group) > 1)

    def _find_sums(self) -> None:
        f, cfg = self.f, self.makers.cfg
        at: i64 = 0
        while at < cfg.reachable:
            i = f.head[cfg.order[at]]
            while i != NONE:
                if f.op[i] == IADD3 and not f.guard[i]:
                    found = self._sum(i)
                    if found is not None:
                        self.sums[int(f.words_of(f.get(i, 0)))] = found
                i = f.next[i]
            at += 1

    def _sum(self, i: i64) -> _Sum | None:
        f = self.f
        made = f.get(i, 0)
        if not opd.is_register(made) or self.makers.of(made) != i or f.reg_type[made & opd.INDEX] != R:
            return None
        at: i64 = len(_SOURCES) + 1
        while at < f.count[i]:  # carries
            if opd.is_register(f.get(i, at)):
                return None
            at += 1
        registers: list[int] = []
        number: i64 = 0
        for place in _SOURCES:
            operand = f.get(i, place)
            if opd.is_register(operand) and not operand & opd.SIGNS and self.makers.is_settled(operand, i):
                registers.append(int(operand))
            elif operand & opd.TYPE in (opd.IS_IMM, opd.IS_POOL) and not operand & opd.SIGNS:
                number = f.imm_value(operand)
            elif not is_absent(operand) and operand != opd.RZ_OPERAND:
                return None
        if len(registers) != 2:
            return None
        return _Sum(int(i), (min(registers), max(registers)), int(number))

    def _find_users(self) -> None:
        """Note the memory operations that have sums for addresses and offsets that can hold their numbers as well."""
        f = self.f
        for i, base in accesses(f):
            found = self.sums.get(int(f.words_of(f.get(i, base)))) if opd.count_of(f.get(i, base)) == 1 else None
            if found is not None and takes_number(f, self.makers, i, base, found.at, found.number):
                found.users.append(i)

    def _share(self, group: list[_Sum]) -> int:
        """Let addresses have the sum of the first one; ``group``: sums of the same registers, in reverse post-order."""
        f = self.f
        first = group[0]
        others = [found for found in group if found is first or self.makers.reaches(first.at, found.at)]
        if len(others) < 2:
            return 0
        shared = opd.reg(f.new_reg(R))
        cursor = Cursor(f)
        cursor.in_front(first.at)
        cursor.make4(IADD3, shared, first.registers[0], first.registers[1], opd.RZ_OPERAND)
        for found in others:
            for i in found.users:
                f.set(i, BASE[f.op[i]] - 1, shared)
                add_number(f, i, found.number)
        return len(others)
