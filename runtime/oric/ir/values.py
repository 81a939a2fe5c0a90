"""Putting what words are known to hold (:mod:`oric.ir.facts`) into operands, and making of instructions what rules say."""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64
from oric_tables.op import MOV, ST, STG, STL, STS
from oric_tables.rewrites import COMMUTE, NARROW_FIRST, NARROW_VALUES, NEGATED, TABLE

from . import legality as legal
from . import operand as opd
from .commuting import change_places, is_only_result, other_place, reordered
from .cursor import Cursor
from .facts import HIGH_WORD, MARKS, MASK32, NOT_CONSTANT, WHOLE, WORD_BITS, Facts, is_absent, is_pair, joined, with_signs
from .function import NONE, UP, UR
from .operand import SIGNS
from .optable import CONTROL, KIND_PRED, KIND_UPRED, OPS, SLOTS

_STORES: Final = frozenset({ST, STG, STL, STS})  # what they store is RZ for four words of zeros, too


@final
class Values(Facts):
    """Facts and definitions during a walk in reverse post-order, and what matchers do with them."""

    def substitute(self, i: i64) -> None:
        """Put what is known into the sources and the guard of an instruction."""
        f = self.f
        mask = OPS.writes[f.op[i]]
        at: i64 = 0
        while at < f.count[i]:
            operand = f.operand[f.first[i] + at]
            if not mask >> at & 1 and opd.is_register(operand):
                word = f.words_of(operand)
                count = opd.count_of(operand)
                if count == 1:
                    value = self.known(word)
                    if value:
                        self.replace(i, at, operand, value)
                elif count == 2 and self.fact[word] and self.fact[word + 1]:
                    value = self.pair_of(self.known(word), self.known(word + 1))
                    if not value and self.legality.whole[f.op[i]] and self.has_whole(operand):
                        value = f.imm(self.whole(operand)) | WHOLE
                    if value:
                        self.replace(i, at, operand, value)
                elif count == 4 and f.op[i] in _STORES and self._is_zero(word, count):
                    self.replace(i, at, operand, opd.RZ_OPERAND)
            at += 1
        guard = f.guard[i]
        if guard and guard & opd.INDEX != opd.PT:
            value = self.known(f.words_of(guard))
            if value and self._same_file(value, guard) and not (OPS.flags[f.op[i]] & CONTROL and value & opd.INDEX == opd.PT):
                f.set_guard(i, value ^ (guard & opd.NEGATE))
                self.changed += 1

    def _is_zero(self, word: i64, count: i64) -> bool:
        """Whether so many words are known to be zeros: RZ is as wide as is asked for."""
        end = word + count
        while word < end and self.known(word) == opd.RZ_OPERAND:
            word += 1
        return word == end

    def _same_file(self, value: i64, operand: i64) -> bool:
        """Whether a predicate may stand where another stands: uniform ones have places of their own."""
        index = value & opd.INDEX
        return index == opd.PT or (self.f.reg_type[index] == UP) == (self.f.reg_type[operand & opd.INDEX] == UP)

    def pair_of(self, low: i64, high: i64) -> i64:
        """The 64-bit operand whose words are ``low`` and ``high``; 0 when they are none."""
        if not low or not high or (low | high) & SIGNS:
            return 0
        form = low & opd.TYPE
        if low == opd.RZ_OPERAND:
            if high == opd.RZ_OPERAND:
                return opd.RZ_OPERAND
            if high & opd.TYPE == opd.IS_IMM or high & opd.TYPE == opd.IS_POOL:
                return high | HIGH_WORD
            return self._pair_above(low, high)
        if form == opd.IS_REG and not opd.first_of(low) & 1 and high == opd.word(low, 1):
            return opd.with_span(low, 1)
        if low & opd.CONST_BANK and high == low + 4 and not low & 7:
            return low
        return 0

    def _pair_above(self, low: i64, high: i64) -> i64:
        """The pair of registers whose upper word is ``high``, if its lower word is known to hold ``low`` as well; else 0."""
        first = opd.first_of(high)
        if not opd.is_register(high) or not first & 1 or self.f.reg_type[high & opd.INDEX] == UR:
            return 0
        lower = opd.reg(high & opd.INDEX, first - 1, 1)
        return opd.with_span(lower, 1) if self.known(self.f.words_of(lower)) == low else 0

    def replace(self, i: i64, at: i64, operand: i64, value: i64) -> bool:
        """Put ``value`` for the register ``operand`` at a place if the operation takes it there; keeps the signs."""
        f = self.f
        kind = OPS.kind[f.op[i] * SLOTS + at]
        if kind == KIND_PRED or kind == KIND_UPRED:
            if not self._same_file(value, operand):
                return False
            f.set(i, at, value ^ (operand & opd.NEGATE))
            self.changed += 1
            return True
        index = value & opd.INDEX
        if value & opd.TYPE != opd.IS_REG:
            return self._replace_by_kind(i, at, operand, value, legal.KIND_CBANK if value & opd.CONST_BANK else legal.KIND_IMM)
        if index != opd.RZ:
            file = f.reg_type[index]
            if (file == UR or file == UP) and f.reg_type[operand & opd.INDEX] != UR:
                return self._replace_by_kind(i, at, operand, value, legal.KIND_UGPR)
        f.set(i, at, value | operand & SIGNS)
        self.changed += 1
        return True

    def _replace_by_kind(self, i: i64, at: i64, operand: i64, value: i64, kind: i64) -> bool:
        f = self.f
        op = f.op[i]
        legality = self.legality
        if not legality.is_source(op, at) or legality.halves[op]:
            return False
        if kind == legal.KIND_IMM and legality.sources(op) == 1 and op != MOV:
            return False
        target = at
        format_ = legality.format_with(f, i, at, value & ~MARKS)
        if format_ == 0:
            target = other_place(f, legality, i, at, value & ~MARKS, self._numbers(i))
            if target < 0:
                return False
            format_ = legality.format_with_two(f, i, target, value & ~MARKS, at, f.get(i, target))
        new = self._fitted(operand, value, kind, format_)
        if not new:
            return False
        if target != at:
            change_places(f, i, at, target)
        f.set(i, target, new)
        self.changed += 1
        return True

    def _numbers(self, i: i64) -> i64:
        """Places that hold constants where one of two constants needs a register in either order, as bits."""
        if self.f.op[i] not in NEGATED:
            return 0
        places: i64 = 0
        for place in COMMUTE[self.f.op[i]][0]:
            if place < self.f.count[i] and self.is_number(self.f.get(i, place)):
                places |= 1 << place
        return places

    def is_number(self, operand: i64) -> bool:
        """Whether a source is a constant that needs a register where the operation takes none."""
        value = self.constant(operand)
        return value != NOT_CONSTANT and value != 0

    def _fitted(self, operand: i64, value: i64, kind: i64, format_: i64) -> i64:
        """``value`` with the signs of ``operand``, as an operand of that number format; 0 when it does not fit."""
        if kind != legal.KIND_IMM:
            return value | operand & SIGNS
        bits = self.f.imm_value(value & ~MARKS) & MASK32
        if format_ == legal.WHOLE:
            return self.f.imm(joined(0, bits)) if value & HIGH_WORD else value & ~WHOLE if value & WHOLE else 0
        if (value & HIGH_WORD != 0) != (format_ == legal.F64_HIGH) or value & WHOLE:
            return 0
        width = legal.BITS[format_]
        if width:
            return value if not operand & SIGNS and bits >> width == 0 else 0
        if not legal.IS_WORD[format_] and format_ != legal.F64_HIGH:
            return 0
        return self.f.imm(with_signs(bits, operand, legal.IS_FLOAT[format_] != 0, legal.IS_HALVES[format_] != 0) & MASK32)

    # -- definitions -------------------------------------------------------------------------------------

    def maker_of(self, operand: i64) -> i64:
        """The instruction whose first result is a source, signs apart; ``NONE`` when there is none."""
        if not opd.is_register(operand):
            return NONE
        i = self.source_def(opd.with_span(operand, 0)) if operand & opd.SPAN else self.source_def(operand)
        if i == NONE or self.f.get(i, 0) != operand & ~SIGNS:
            return NONE
        if operand & opd.SPAN and (opd.count_of(operand) != 2 or self.source_def(opd.word(operand, 1)) != i):
            return NONE
        return i

    def is_only_result(self, i: i64) -> bool:
        """Whether an instruction writes nothing but its first operand."""
        return is_only_result(self.f, i)

    def is_read_once(self, i: i64) -> bool:
        """Whether one place at most read the first result of an instruction when the walk began."""
        return self.reads[self.f.words_of(self.f.get(i, 0))] < 2

    def width_of(self, operand: i64, signed: i64) -> i64:
        """How many bits a source has, the sign among them if ``signed``: above them are zeros, or copies of the sign."""
        if operand & SIGNS:
            return WORD_BITS
        i = self.maker_of(operand)
        if i == NONE:
            return WORD_BITS
        at = NARROW_FIRST[self.f.op[i]]
        while at < NARROW_FIRST[self.f.op[i] + 1]:
            if self.f.mods[i] & NARROW_VALUES[at] == NARROW_VALUES[at + 1]:
                return NARROW_VALUES[at + 2 + signed]
            at += 4
        return WORD_BITS

    def rest_is_default(self, i: i64, start: i64) -> bool:
        """Whether the sources from an operand on are left out or the constant true predicate, which is the same."""
        f = self.f
        mask = OPS.writes[f.op[i]]
        at = start
        while at < f.count[i]:
            operand = f.operand[f.first[i] + at]
            if not mask >> at & 1 and operand != opd.PT_OPERAND and not is_absent(operand):
                return False
            at += 1
        return True

    def carries_in(self, i: i64, at: i64) -> bool:
        """Whether a source is a predicate that is added: neither left out nor the false one, which is the same."""
        if at >= self.f.count[i]:
            return False
        operand = self.f.get(i, at)
        return not is_absent(operand) and operand != opd.NOT_PT_OPERAND

    def number(self, value: i64) -> i64:
        """The operand for a 32-bit pattern."""
        value &= MASK32
        return self.f.imm(value) if value else opd.RZ_OPERAND

    def negated(self, operand: i64) -> i64:
        """An integer operand with the other sign."""
        value = self.constant(operand)
        if value != NOT_CONSTANT and not opd.is_register(operand):
            return self.number(-value)
        return operand ^ opd.NEGATE

    def make_copy(self, i: i64, operand: i64) -> bool:
        """Make an instruction a copy of an operand if there is one."""
        f = self.f
        if not self.legality.takes(f, MOV, operand, 0, 0):
            return False
        Cursor(f).rewrite(i, MOV, 0, 2)
        f.set(i, 1, operand)
        self.changed += 1
        return True

    def make_copies(self, i: i64, operand: i64) -> bool:
        """Make an instruction, and a new one in front of it, copies of the words of a 64-bit operand if there are such."""
        f = self.f
        low, high = operand, operand
        form = operand & opd.TYPE
        if form == opd.IS_IMM or form == opd.IS_POOL:
            value = f.imm_value(operand)
            low, high = self.number(value), self.number(value >> 32)
        elif is_pair(operand):
            low, high = opd.word(operand, 0), opd.word(operand, 1)
        elif legal.kind_of(f, operand) == legal.KIND_CBANK:
            high = operand + 4
        elif operand != opd.RZ_OPERAND:
            return False
        if f.guard[i]:
            return False
        dest = f.get(i, 0)
        cursor = Cursor(f)
        cursor.in_front(i)
        first = cursor.make2(MOV, opd.word(dest, 0), low)
        self.define(first)
        self.learn(f.words_of(opd.word(dest, 0)), low)
        cursor.rewrite(i, MOV, 0, 2)
        f.set(i, 0, opd.word(dest, 1))
        f.set(i, 1, high)
        self.changed += 1
        return True

    def make_with_register(self, i: i64, op: i64, mods: i64, count: i64, a: i64, b: i64, c: i64, at: i64) -> bool:
        """Make an instruction another operation with source ``at``, a constant that is not 0, in a register."""
        number = self.constant(a if at == 0 else b if at == 1 else c)
        if number == NOT_CONSTANT or not number:
            return False
        register = opd.RZ_OPERAND  # of the same kind
        if not self.legality.takes(
            self.f, op, register if at == 0 else a, register if at == 1 else b, register if at == 2 else c
        ):
            return False
        register = self.constant_register(number)
        return self._made(i, op, mods, count, register if at == 0 else a, register if at == 1 else b, register if at == 2 else c)

    def make(self, i: i64, op: i64, mods: i64, count: i64, a: i64, b: i64, c: i64) -> bool:
        """Make an instruction another operation of up to three sources, in the first order of them that has a form."""
        if self.legality.takes(self.f, op, a, b, c if self.legality.sources(op) > 2 else 0):
            return self._made(i, op, mods, count, a, b, c)
        commute = COMMUTE.get(op)
        if commute is None or commute[1] or op in NEGATED:
            return False
        table: i64 = TABLE.get(op, -1)
        if self.legality.takes(self.f, op, b, a, c):
            return self._made(i, op, reordered(mods, table, 2), count, b, a, c)
        if len(commute[0]) < 3:
            return False
        if self.legality.takes(self.f, op, a, c, b):
            return self._made(i, op, reordered(mods, table, 1), count, a, c, b)
        if self.legality.takes(self.f, op, c, a, b):
            return self._made(i, op, reordered(mods, table, 4), count, c, a, b)
        if self.legality.takes(self.f, op, b, c, a):
            return self._made(i, op, reordered(mods, table, 3), count, b, c, a)
        if self.legality.takes(self.f, op, c, b, a):
            return self._made(i, op, reordered(mods, table, 5), count, c, b, a)
        return False

    def _made(self, i: i64, op: i64, mods: i64, count: i64, a: i64, b: i64, c: i64) -> bool:
        f = self.f
        Cursor(f).rewrite(i, op, mods, count + 1)
        f.set(i, 1, a)
        if count > 1:
            f.set(i, 2, b)
        if count > 2:
            f.set(i, 3, c)
        self.changed += 1
        return True

    def put_predicate(self, i: i64, at: i64, source: i64) -> None:
        """Give an instruction that was just made a predicate as its source ``at``, behind results that it does not have."""
        Cursor(self.f).rewrite(i, self.f.op[i], self.f.mods[i], at + 1)
        self.f.set(i, at, source)

    def put_source(self, i: i64, at: i64, term: i64, source: i64) -> bool:
        """Put a float operand for the source ``term`` at a place, the signs of ``term`` on top of its own, if there is a form."""
        if term & opd.ABSOLUTE:
            source = source & ~opd.NEGATE | opd.ABSOLUTE
        made = source ^ (term & opd.NEGATE)
        if legal.kind_of(self.f, made) == legal.KIND_IMM and made & SIGNS:
            bare = made & ~SIGNS
            format_ = self.legality.format_with(self.f, i, at, bare)
            if not legal.IS_FLOAT[format_]:
                return False
            made = self.f.imm(with_signs(self.f.imm_value(bare), made, True, legal.IS_HALVES[format_] != 0) & MASK32)
        if not self.legality.takes_with(self.f, i, at, made):
            return False
        self.f.set(i, at, made)
        self.changed += 1
        return True

    def make_address(self, i: i64, base: i64, register: i64, offset: i64, total: i64) -> bool:
        """Put a base register and an offset into a memory operation; offsets are sign-extended."""
        f = self.f
        if legal.kind_of(f, register) != legal.KIND_GPR or register & SIGNS:
            return False
        total &= MASK32
        f.set(i, base, register)
        f.set(i, offset, f.imm(total - (1 << 32) if total >> 31 else total))
        self.changed += 1
        return True
