"""Numbers behind products are added in front of them, where what is added there is known earlier than the factors.

``a * b + c + number`` waits for the product, and then for a sum; ``a * b + (c + number)`` for the product alone. Source: observed
(ptxas 13.0.88 adds counters of loops so).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64
from oric_tables.op import IADD3, IMAD
from oric_tables.registers import FLAG_FIXED

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.facts import is_absent
from oric.ir.function import NONE, Function, R
from oric.support.arrays import zeros

from .makers import Makers

_ADDEND: Final = 3  # operand of a product


def add_early(f: Function, makers: Makers) -> int:
    """Returns how many sums stand in front of products now; ``makers`` of another function if any does."""
    return _Adding(f, makers).run() if f.in_window else 0


@final
class _Adding:
    def __init__(self, f: Function, makers: Makers) -> None:
        self.f = f
        self.cursor = Cursor(f)
        self.makers = makers
        self.depth = zeros(len(f.op))  # operations of the same block that an instruction waits for, one behind the other

    def run(self) -> int:
        f = self.f
        done = 0
        b: i64 = 0
        while b < f.blocks():
            i = f.head[b] if self._has_candidate(b) else NONE
            while i != NONE:
                following = f.next[i]
                self._measure(i)
                if f.op[i] == IADD3 and not f.guard[i] and self._move(i):
                    done += 1
                i = following
            b += 1
        return done

    def _has_candidate(self, b: i64) -> bool:
        """Whether a number is added to a product in a block."""
        f = self.f
        i = f.head[b]
        while i != NONE:
            if f.op[i] == IADD3 and f.get(i, 2) & opd.TYPE in (opd.IS_IMM, opd.IS_POOL) and opd.is_register(f.get(i, 1)):
                made = self.makers.of(f.get(i, 1))
                if made >= 0 and f.op[made] == IMAD and f.block[made] == b:
                    return True
            i = f.next[i]
        return False

    def _measure(self, i: i64) -> None:
        f = self.f
        deepest: i64 = 0
        at: i64 = 1
        while at < f.count[i]:
            deepest = max(deepest, self._depth_of(f.get(i, at), i))
            at += 1
        self.depth[i] = deepest + 1

    def _depth_of(self, operand: i64, i: i64) -> i64:
        """0 where a value is there before the block begins."""
        if not opd.is_register(operand):
            return 0
        made = self.makers.of(operand)
        if made < 0 or made >= len(self.depth) or self.f.block[made] != self.f.block[i]:
            return 0
        return self.depth[made]

    def _move(self, i: i64) -> bool:
        """Let the product that a number is added to add it."""
        f = self.f
        product, number = f.get(i, 1), f.get(i, 2)
        if not opd.is_register(product) or number & opd.TYPE not in (opd.IS_IMM, opd.IS_POOL) or number & opd.SIGNS:
            return False
        at: i64 = 3
        while at < f.count[i]:
            if not is_absent(f.get(i, at)) and f.get(i, at) not in (opd.RZ_OPERAND, opd.NOT_PT_OPERAND):
                return False
            at += 1
        m = self._product(i, product)
        if m < 0:
            return False
        addend = f.get(m, _ADDEND)
        if self._depth_of(addend, m) + 1 > max(self._depth_of(f.get(m, 1), m), self._depth_of(f.get(m, 2), m)):
            return False
        early = opd.reg(f.new_reg(f.reg_type[product & opd.INDEX]))
        self.cursor.in_front(m)
        self.cursor.make4(IADD3, early, addend, number, opd.RZ_OPERAND)
        f.set(m, _ADDEND, early)
        f.set(m, 0, f.get(i, 0))
        self.makers.maker[f.words_of(f.get(i, 0))] = m
        self.cursor.remove(i)
        return True

    def _product(self, i: i64, operand: i64) -> i64:
        """The product of words that an operand is, in the same block, which nobody else reads; -1: it is none."""
        f, makers = self.f, self.makers
        made = makers.of(operand)
        if operand & opd.SIGNS or made < 0 or f.op[made] != IMAD or f.guard[made] or f.block[made] != f.block[i]:
            return -1
        whole = opd.count_of(operand) == 1 and f.reg_size[operand & opd.INDEX] == 1 and f.get(made, 0) == operand
        dest = f.get(i, 0) & opd.INDEX
        alone = makers.read[f.words_of(operand)] == 1 and makers.of(f.get(i, 0)) == i
        alone = alone and f.reg_type[dest] == R and f.reg_size[dest] == 1 and not f.reg_flags[dest] & FLAG_FIXED
        addend = f.get(made, _ADDEND)
        if not whole or not alone or not opd.is_register(addend) or addend & opd.SIGNS:
            return -1
        if f.words_of(addend) >= len(makers.maker):  # a number has been added to it already
            return -1
        return made if makers.is_settled(addend, made) else -1
