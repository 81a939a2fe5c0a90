"""Words that are multiples of a power of two by what they are made of: shifted words, and sums, masks and products of such.

An address of this kind is a smaller number, shifted, plus a number: ``word = (smaller << amount) + number``, modulo 2^32. A shift
is a *leaf*, of which the smaller number is there already; the others become it when their sources do and their constants are
divided. Source: this project; observed (ptxas 13.0.88: which addresses it scales).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64
from oric_tables import ops
from oric_tables.op import IADD3, IMAD, LEA, LOP3, MOV, SHF
from oric_tables.registers import FLAG_FIXED

from oric.ir import operand as opd
from oric.ir.conditions import exponent
from oric.ir.facts import is_absent
from oric.ir.function import NONE, Function, R

from .makers import Makers

LEFT: Final[int] = ops.op(SHF).pack(dir="L", type="U32")  # modifiers of a shift to the left
_LEA_SHIFT: Final = ops.op(LEA).mods["shift"]
_LUT: Final = ops.op(LOP3).mods["lut"]
_PLAIN_LEA: Final[int] = ~(_LEA_SHIFT.mask << _LEA_SHIFT.shift)
_PLAIN_LOGIC: Final[int] = ~(_LUT.mask << _LUT.shift)
_SIGN: Final = ops.op(IMAD).mods["sign"]
_PLAIN_PRODUCT: Final[int] = ~(_SIGN.mask << _SIGN.shift)
_MOST: Final = 31  # bits that a word may be shifted by
_WORD: Final = 0xFFFFFFFF
_SOURCES: Final = 4  # one behind the last


@final
class Multiple:
    """An instruction ``at`` whose result is a multiple of 2^``amount``, plus ``number``.

    ``smaller``: of a leaf the operand that is shifted, else ``NO_OPERAND``; ``copied``: of a leaf the word of another one that it
    copies, else -1; ``terms``: words that it is made of and that must be such multiples, too.
    """

    __slots__ = ("amount", "at", "copied", "number", "smaller", "terms", "word")

    def __init__(self, at: int, word: int, amount: int, number: int) -> None:
        self.at = at
        self.word = word
        self.amount = amount
        self.number = number
        self.copied: int = -1
        self.smaller: int = opd.NO_OPERAND
        self.terms: list[int] = []


@final
class Multiples:
    """All such words of a function, found in one walk: what a word is made of comes before it."""

    def __init__(self, f: Function, makers: Makers) -> None:
        self.f = f
        self.makers = makers
        self.of: dict[int, Multiple] = {}  # by word
        self.order: list[Multiple] = []

    def find(self) -> None:
        """Walk over the function."""
        f, cfg = self.f, self.makers.cfg
        at: i64 = 0
        while at < cfg.reachable:
            i = f.head[cfg.order[at]]
            while i != NONE:
                op = f.op[i]
                if (op == SHF or op == IMAD or op == LEA or op == IADD3 or op == LOP3 or op == MOV) and self._is_plain(i):
                    found = self._made(i, op)
                    if found is not None:
                        self.of[found.word] = found
                        self.order.append(found)
                i = f.next[i]
            at += 1

    def _is_plain(self, i: i64) -> bool:
        """Whether an instruction makes one general register, alone and always, and has nothing to do with predicates."""
        f = self.f
        made = f.get(i, 0)
        if f.guard[i] or not opd.is_register(made) or opd.count_of(made) != 1 or self.makers.of(made) != i:
            return False
        if f.reg_type[made & opd.INDEX] != R or f.reg_flags[made & opd.INDEX] & FLAG_FIXED:
            return False
        at: i64 = 1
        while at < f.count[i]:
            operand = f.get(i, at)
            if opd.is_register(operand) and f.is_predicate(operand):
                return False
            at += 1
        return f.count[i] >= (2 if f.op[i] == MOV else _SOURCES - 1 if f.op[i] == LEA else _SOURCES)

    def _made(self, i: i64, op: i64) -> Multiple | None:
        if op == MOV:
            return self._copied(i) if not self.f.mods[i] else None
        if op == SHF:
            return self._shifted(i)
        if op == IMAD:
            return self._product(i) if not self.f.mods[i] & _PLAIN_PRODUCT else None
        if op == LEA:
            return self._shifted_sum(i) if not self.f.mods[i] & _PLAIN_LEA and self._is_absent_from(i, _SOURCES - 1) else None
        if op == IADD3:
            return self._sum(i) if not self.f.mods[i] and self._is_absent_from(i, _SOURCES) else None
        return self._masked(i) if not self.f.mods[i] & _PLAIN_LOGIC and self._is_absent_from(i, _SOURCES) else None

    def _is_absent_from(self, i: i64, at: i64) -> bool:
        """Whether an instruction has nothing but PT from an operand on."""
        while at < self.f.count[i]:
            operand = self.f.get(i, at)
            if not is_absent(operand) and operand & opd.INDEX != opd.PT:
                return False
            at += 1
        return True

    # -- numbers and terms ------------------------------------------------------------------------------

    def number(self, operand: i64) -> i64:
        """The number that an operand is, or a register that holds one throughout; -1 for anything else."""
        f = self.f
        if operand == opd.RZ_OPERAND or is_absent(operand):
            return 0
        if opd.is_register(operand) and opd.count_of(operand) == 1 and not operand & opd.SIGNS:
            maker = self.makers.of(operand)
            if maker >= 0 and f.op[maker] == MOV and not f.guard[maker] and not f.mods[maker]:
                if f.reg_flags[operand & opd.INDEX] & FLAG_FIXED:
                    return -1
                operand = f.get(maker, 1)
        form = operand & opd.TYPE
        if operand & opd.SIGNS or (form != opd.IS_IMM and form != opd.IS_POOL):
            return -1
        value = f.imm_value(operand)
        if form == opd.IS_POOL and 0 <= value <= opd.INDEX:  # room for a number that is told later
            return -1
        return value & _WORD

    def _leaf(self, i: i64, value: i64, amount: i64, number: i64) -> Multiple | None:
        f = self.f
        if not 0 < amount <= _MOST or value & opd.SIGNS or not opd.is_register(value) or opd.count_of(value) != 1:
            return None
        if f.reg_type[value & opd.INDEX] != R or not self.makers.is_settled(value, i):
            return None
        found = Multiple(int(i), int(f.words_of(f.get(i, 0))), int(amount), int(number))
        found.smaller = int(value)
        return found

    def _whole(self, i: i64, amount: i64, terms: list[int]) -> Multiple | None:
        """A word made of terms that are multiples; ``amount``: what the rest of it is a multiple of."""
        found = Multiple(int(i), int(self.f.words_of(self.f.get(i, 0))), int(amount), 0)
        for term in terms:
            word = int(self.f.words_of(term))
            if term & opd.SIGNS or opd.count_of(term) != 1 or word not in self.of:
                return None
            one = self.of[word]
            found.terms.append(word)
            found.amount = min(found.amount, one.amount)
            found.number = int((found.number + one.number) & _WORD)
        return found if found.terms else None

    def _copied(self, i: i64) -> Multiple | None:
        """A copy is a shift where it copies one."""
        source = self.f.get(i, 1)
        if not opd.is_register(source):
            return None
        copied = self.of.get(int(self.f.words_of(source)))
        if copied is None or copied.smaller == opd.NO_OPERAND:
            return self._whole(i, _MOST, [int(source)])
        if source & opd.SIGNS or opd.count_of(source) != 1 or not self.makers.reaches(copied.at, i):
            return None
        found = self._leaf(i, copied.smaller, copied.amount, copied.number)
        if found is not None:
            found.copied = copied.word
        return found

    # -- operations -------------------------------------------------------------------------------------

    def _shifted(self, i: i64) -> Multiple | None:
        f = self.f
        if f.mods[i] != LEFT or f.get(i, 3) != opd.RZ_OPERAND or opd.is_register(f.get(i, 2)):
            return None
        return self._leaf(i, f.get(i, 1), self.number(f.get(i, 2)), 0)

    def _product(self, i: i64) -> Multiple | None:
        """A product with a number: a shifted word, or what is a multiple for its number."""
        f = self.f
        a, b, c = f.get(i, 1), f.get(i, 2), f.get(i, 3)
        number = self.number(b) if not opd.is_register(b) else -1
        if number <= 0:
            return None
        amount, added = exponent(number), self.number(c)
        if number == 1 << amount and added >= 0:
            return self._leaf(i, a, amount, added)
        if added >= 0:
            return None
        return self._whole(i, amount, [int(c)]) if opd.is_register(c) and not a & opd.SIGNS else None

    def _shifted_sum(self, i: i64) -> Multiple | None:
        f = self.f
        a, b = f.get(i, 1), f.get(i, 2)
        amount = f.mods[i] >> _LEA_SHIFT.shift & _LEA_SHIFT.mask
        added = self.number(b)
        if added >= 0:
            return self._leaf(i, a, amount, added)
        if not opd.is_register(a) or a & opd.SIGNS or not opd.is_register(b):
            return None
        return self._whole(i, amount, [int(b)])

    def _sum(self, i: i64) -> Multiple | None:
        terms: list[int] = []
        number: i64 = 0
        at: i64 = 1
        while at < _SOURCES:
            operand = self.f.get(i, at)
            value = self.number(operand) if not opd.is_register(operand) else -1
            if value >= 0:
                number += value
            elif opd.is_register(operand):
                terms.append(int(operand))
            else:
                return None
            at += 1
        found = self._whole(i, _MOST, terms)
        if found is not None:
            found.number = int((found.number + number) & _WORD)
        return found

    def _masked(self, i: i64) -> Multiple | None:
        """A bitwise operation whose low bits are zeros when those of its terms are: they have no numbers, and it has none."""
        f = self.f
        terms: list[int] = []
        lowest: i64 = 0  # bits of the table that say what the low bits become
        amount: i64 = _MOST
        at: i64 = 1
        while at < _SOURCES:
            operand = f.get(i, at)
            if opd.is_register(operand):
                terms.append(int(operand))
            else:
                value = self.number(operand)
                if value < 0:
                    return None
                if value:
                    lowest |= 1 << (_SOURCES - 1 - at)
            at += 1
        if lowest & (lowest - 1):  # of two numbers the low bits may be any
            return None
        table = f.mods[i] >> _LUT.shift & _LUT.mask
        if table & 1:
            return None
        if lowest and table >> lowest & 1:  # the low bits of a number are seen: it must not have any
            at = 1
            while at < _SOURCES:
                if not opd.is_register(f.get(i, at)) and self.number(f.get(i, at)):
                    amount = min(amount, exponent(self.number(f.get(i, at))))
                at += 1
        found = self._whole(i, amount, terms)
        if found is None:
            return None
        for word in found.terms:
            if self.of[word].number:
                return None
        return found
