"""Phase 109: copies, sums and shifts go to the pipe of products where that of the others has more to do.

Each of the two pipes takes an instruction every other cycle, so that code that uses one of them alone runs at half the rate. A
copy, a sum of two, a carry into an upper word and a shift by a constant are products with one, nothing or a power of two as well:
``RZ * RZ + x``, ``x * 1 + y``, ``x * 2^k``. They become products where the pipe of sums is behind by then, in the order of the
code. Source: observed (ptxas 13.0.88 prints IMAD.MOV, IMAD.IADD, IMAD.X, IMAD.SHL).
"""

from __future__ import annotations

from typing import Any, Final, final

from librt.vecs import append, vec
from mypy_extensions import i64
from oric_tables import knobs, ops
from oric_tables._native import lib
from oric_tables.op import IADD3, IADD3_X, IMAD, IMAD_X, LEA, MOV, SHF

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.facts import is_absent
from oric.ir.function import NONE, R2, R4, UR, Function, R
from oric.ir.operand import SIGNS
from oric.ir.optable import OPS
from oric.ir.passes import PassContext

from .classes import class_of

_FEATURE: Final = "balanced_pipes"
_UNSIGNED: Final[int] = ops.op(IMAD).pack(sign="U32")  # either sign makes the same: the one that ptxas writes
_SIGNED: Final[int] = ops.op(IMAD).pack(sign="S32")
_CARRIED: Final[int] = ops.op(IMAD_X).pack(sign="S32")
_LEFT: Final[int] = ops.op(SHF).pack(dir="L", type="U32")
_LEA_SHIFT: Final = ops.op(LEA).mods["shift"]
_WORD: Final = 32
_OTHER: Final = 2  # the pipe of an operation: none of the two
_CACHE: dict[int, tuple[Any, Any]] = {}


def balance_pipes(f: Function, ctx: PassContext) -> bool:
    """Returns whether anything goes to the other pipe."""
    if f.for_debugger or _FEATURE not in ctx.target.features:
        return False
    done = _Balance(f, *_pipes(ctx.target.isa)).run()
    ctx.count("sums on the pipe of products", done)
    return done != 0


def _pipes(isa: int) -> tuple[vec[i64], vec[i64]]:
    """By operation: 0 for the pipe of sums, 1 for that of products, 2 for any other; and how long it keeps its pipe."""
    if isa not in _CACHE:
        sums, products = (class_of(isa, number).pipe for number in (IADD3, IMAD))
        pipe, spacing = vec[i64](), vec[i64]()
        for number in range(len(lib.oric_op_schedules)):  # those behind are no instructions of the machine
            row = class_of(isa, number)
            pipe = append(pipe, 0 if row.pipe == sums else 1 if row.pipe == products else _OTHER)
            spacing = append(spacing, row.spacing)
        _CACHE[isa] = pipe, spacing
    return _CACHE[isa]


@final
class _Balance:
    """Walks over the blocks. ``ahead``: cycles that the pipe of sums has more to do than that of products."""

    def __init__(self, f: Function, pipe: vec[i64], spacing: vec[i64]) -> None:
        self.f = f
        self.cursor = Cursor(f)
        self.pipe = pipe
        self.spacing = spacing

    def run(self) -> int:
        """Rewrite instructions; returns how many."""
        f = self.f
        done = 0
        most: i64 = f.knobs.numbers[knobs.BALANCE_REACH]
        b: i64 = 0
        while b < f.blocks():
            ahead: i64 = 0
            i = f.head[b]
            while i != NONE:
                kind = self.pipe[f.op[i]]
                if kind == 0 and ahead > 0 and not self._is_awaited(i) and self._move(i):
                    kind = 1
                    done += 1
                if kind == 0:
                    ahead = min(ahead + self.spacing[f.op[i]], most)
                elif kind == 1:
                    ahead = max(ahead - self.spacing[f.op[i]], -most)
                i = f.next[i]
            b += 1
        return done

    def _is_awaited(self, i: i64) -> bool:
        """Whether one of the next instructions reads the result: that of a product comes later."""
        f = self.f
        dest = f.get(i, 0)
        left: i64 = f.knobs.numbers[knobs.BALANCE_NEAR]
        following = f.next[i]
        while left > 0 and following != NONE:
            at: i64 = 0
            while at < f.count[following]:
                operand = f.get(following, at)
                if opd.is_register(operand) and (operand ^ dest) & opd.INDEX == 0 and not OPS.writes_at(f.op[following], at):
                    return True
                at += 1
            following = f.next[following]
            left -= 1
        return False

    def _move(self, i: i64) -> bool:
        """Make a product of an instruction if that is one."""
        self.f.analyses.machine = None  # the arrays of the function grow
        op = self.f.op[i]
        if op == MOV:
            return self._copy(i)
        if op == IADD3:
            return self._sum(i)
        if op == IADD3_X:
            return self._carry(i)
        if op == SHF:
            return self._shift(i)
        return op == LEA and self._scaled(i)

    def _make(self, i: i64, a: i64, b: i64, c: i64, mods: i64 = _UNSIGNED) -> bool:
        self.cursor.rewrite(i, IMAD, mods, 4)
        self.f.set(i, 1, a)
        self.f.set(i, 2, b)
        self.f.set(i, 3, c)
        return True

    def _copy(self, i: i64) -> bool:
        f = self.f
        source = f.get(i, 1)
        if f.count[i] != 2 or f.mods[i] or not self._is_general(f.get(i, 0)) or source & SIGNS:
            return False
        if opd.is_register(source) and f.reg_type[source & opd.INDEX] == UR:
            return opd.count_of(source) == 1 and self._make(i, opd.RZ_OPERAND, opd.RZ_OPERAND, source)
        if opd.is_register(source) and (not self._is_general(source) or self._place(source) == self._place(f.get(i, 0))):
            return False
        form = source & opd.TYPE
        if form == opd.IS_POOL and f.links.get(source & opd.INDEX) is not None:
            return False
        if form not in (opd.IS_REG, opd.IS_IMM, opd.IS_POOL) and not (form == opd.IS_SYMBOL and source & opd.CONST_BANK):
            return False
        return self._make(i, opd.RZ_OPERAND, opd.RZ_OPERAND, source)

    def _sum(self, i: i64) -> bool:
        """Of two registers, without carries, of which one at most has a minus."""
        terms = self._terms(i)
        if len(terms) != 2 or not self._is_plain(i, 4) or not all(map(self._is_general, terms)):
            return False
        a, b = terms
        if a & SIGNS:
            a, b = b, a
        return not a & SIGNS and b & SIGNS in (0, opd.NEGATE) and self._make(i, a, opd.imm(1), b, _SIGNED)

    def _carry(self, i: i64) -> bool:
        """Of two registers and one carry, which carries nothing."""
        f = self.f
        terms = self._terms(i)
        carry, other = f.get(i, 6) if f.count[i] > 6 else opd.NO_OPERAND, f.get(i, 7) if f.count[i] > 7 else opd.NO_OPERAND
        if len(terms) > 2 or any(f.get(i, at) != opd.PT_OPERAND and not is_absent(f.get(i, at)) for at in (4, 5)):
            return False
        if (other != opd.NO_OPERAND and other != opd.NOT_PT_OPERAND) or not opd.is_register(carry):
            return False
        if any(not self._is_general(term) or term & SIGNS for term in terms):
            return False
        a = terms[0] if len(terms) > 1 else opd.RZ_OPERAND
        c = terms[-1] if terms else opd.RZ_OPERAND
        self.cursor.rewrite(i, IMAD_X, _CARRIED, 5)
        for at, operand in ((1, a), (2, opd.imm(1) if len(terms) > 1 else opd.RZ_OPERAND), (3, c), (4, carry)):
            f.set(i, at, operand)
        return True

    def _shift(self, i: i64) -> bool:
        f = self.f
        amount = f.get(i, 2)
        if f.mods[i] != _LEFT or f.get(i, 3) != opd.RZ_OPERAND or amount & opd.TYPE != opd.IS_IMM:
            return False
        by = f.imm_value(amount)
        if not 0 < by < _WORD or not self._is_general(f.get(i, 1)) or f.get(i, 1) & SIGNS:
            return False
        return self._make(i, f.get(i, 1), f.imm(1 << by), opd.RZ_OPERAND)

    def _scaled(self, i: i64) -> bool:
        f = self.f
        a, b = f.get(i, 1), f.get(i, 2)
        if not self._is_plain(i, 3) or not self._is_general(a) or not self._is_general(b) or a & SIGNS:
            return False
        if b & SIGNS not in (0, opd.NEGATE):
            return False
        return self._make(i, a, f.imm(1 << (f.mods[i] >> _LEA_SHIFT.shift & _LEA_SHIFT.mask)), b)

    def _terms(self, i: i64) -> list[int]:
        """The sources of a sum that are not nothing."""
        f = self.f
        return [f.get(i, at) for at in (1, 2, 3) if f.get(i, at) != opd.RZ_OPERAND]

    def _is_plain(self, i: i64, first: i64) -> bool:
        """Whether an instruction has no predicate from an operand on."""
        at = first
        while at < self.f.count[i]:
            if self.f.get(i, at) != opd.PT_OPERAND and not is_absent(self.f.get(i, at)):
                return False
            at += 1
        return True

    def _is_general(self, operand: i64) -> bool:
        """Whether an operand is one word of a general register."""
        return opd.is_register(operand) and opd.count_of(operand) == 1 and self.f.reg_type[operand & opd.INDEX] in (R, R2, R4)

    def _place(self, operand: i64) -> i64:
        """The hardware register of an operand of one word."""
        return self.f.physical[operand & opd.INDEX] + opd.first_of(operand)
