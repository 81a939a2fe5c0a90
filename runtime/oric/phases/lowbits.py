"""What is known of the low bits of words: which multiples of small powers of two addresses are, and what they are off by.

A word is known by so many of its low bits, written ``bits << 4 | value``; the more bits, the more is known. Words that several
instructions write, counters of loops among them, are what all of these make: what is asked for is assumed to be known
altogether, and loses what does not hold until all that is left agrees. Source: this project; observed (where ptxas 13.0.88
knows the alignment of addresses: counters, sums, multiples by constants, masks).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64
from oric_tables import ops
from oric_tables.op import IADD3, IMAD, LEA, LOP3, MOV, SEL, SHF, MovPhi
from oric_tables.registers import FLAG_FIXED

from oric.ir import operand as opd
from oric.ir.calls import CALLER_ALIGN, STACK_ALIGN
from oric.ir.conditions import exponent
from oric.ir.function import NONE, Function
from oric.ir.optable import OPS, written_registers

BITS: Final = 4  # that are looked at: no access is larger than 16 bytes
_SHIFT: Final = 4  # of the number of bits
_VALUE: Final = 15
_NOTHING: Final = 0
_ALL: Final = BITS << _SHIFT  # and the bits themselves
_ANY: Final = -1  # of a word that nothing has been seen to write yet
_LEFT: Final[int] = ops.op(SHF).pack(dir="L", type="U32")
_AND: Final[int] = ops.op(LOP3).pack(lut=0xC0)  # of the first two sources
_LEA_SHIFT: Final = ops.op(LEA).mods["shift"]
_MOST_SHIFT: Final = 31
_THIRD: Final = 3  # operand


def _known(bits: i64, value: i64) -> i64:
    """So many low bits of a value, none but those that are looked at."""
    bits = min(bits, BITS)
    return bits << _SHIFT | value & ((1 << bits) - 1)


def _both(a: i64, b: i64) -> i64:
    """What two words have in common."""
    if a == _ANY or b == _ANY:
        return b if a == _ANY else a
    bits = min(a >> _SHIFT, b >> _SHIFT, exponent((a ^ b) & _VALUE))
    return _known(bits, a)


def _sum(a: i64, b: i64) -> i64:
    if a == _ANY or b == _ANY:
        return _ANY
    return _known(min(a >> _SHIFT, b >> _SHIFT), (a & _VALUE) + (b & _VALUE))


def _times(a: i64, number: i64) -> i64:
    """A known word by a number."""
    if a == _ANY:
        return _ANY
    return _known((a >> _SHIFT) + exponent(number & 0xFFFFFFFF), (a & _VALUE) * (number & _VALUE))


@final
class LowBits:
    """What is known of the words of a function while its instructions stay."""

    def __init__(self, f: Function, stack: i64) -> None:
        """``stack``: the place of the stack pointer in bank 0."""
        self.f = f
        self.stack: int = opd.const_bank(0, stack)
        self.writers: dict[int, list[int]] = {}  # word -> the instructions that write it
        self.known: dict[int, int] = {}
        self._note_writers()
        if f.sp:
            self.known[int(f.words_of(f.sp))] = int(_known(exponent(CALLER_ALIGN), 0))

    def _note_writers(self) -> None:
        f = self.f
        b: i64 = 0
        while b < f.blocks():
            i = f.head[b]
            while i != NONE:
                for operand in written_registers(f, i):
                    word = f.words_of(operand)
                    end = word + opd.count_of(operand)
                    while word < end:
                        self.writers.setdefault(int(word), []).append(int(i))
                        word += 1
                i = f.next[i]
            b += 1

    def alignment(self, operand: i64, offset: i64) -> i64:
        """The largest power of two, 16 at most, that the sum of a word and a number is surely a multiple of."""
        found = _sum(self._of(operand), _known(BITS, offset))
        return 1 << min(found >> _SHIFT, exponent(found & _VALUE))

    def _of(self, operand: i64) -> i64:
        if not opd.is_register(operand) or operand & opd.INDEX == opd.RZ:
            return self._source(operand, self.known)
        word = int(self.f.words_of(operand))
        if word not in self.known:
            self._learn(word)
        return self.known[word]

    def _learn(self, word: int) -> None:
        """Find out about a word and all that it is made of."""
        assumed: dict[int, int] = {word: _ANY}
        order = [word]
        at = 0
        while at < len(order):
            for i in self.writers.get(order[at], []):
                for source in self._sources(i):
                    if source not in assumed and source not in self.known:
                        assumed[source] = _ANY
                        order.append(source)
            at += 1
        changed = True
        while changed:
            changed = False
            for one in reversed(order):
                found = self._made(one, assumed)
                if found != assumed[one]:
                    assumed[one] = found
                    changed = True
        for one in order:
            self.known[one] = assumed[one] if assumed[one] != _ANY else _NOTHING

    def _sources(self, i: int) -> list[int]:
        """The words that an instruction reads."""
        f = self.f
        found: list[int] = []
        at: i64 = 1
        while at < f.count[i]:
            operand = f.get(i, at)
            if opd.is_register(operand) and operand & opd.INDEX not in (opd.RZ, opd.PT):
                found.append(int(f.words_of(operand)))
            at += 1
        return found

    def _made(self, word: int, assumed: dict[int, int]) -> int:
        """What all instructions that write a word make of it, with what is assumed of others."""
        found: i64 = _ANY
        writers = self.writers.get(word, [])
        if not writers:
            return _NOTHING
        for i in writers:
            found = _both(found, self._result(i, word, assumed))
            if found == _NOTHING:
                break
        return int(found)

    def _is_number(self, operand: i64) -> bool:
        """Whether an operand is a number without a sign of its own, and not room for one that is told later."""
        if operand & opd.SIGNS:
            return False
        form = operand & opd.TYPE
        return form == opd.IS_IMM or (form == opd.IS_POOL and not 0 <= self.f.imm_value(operand) <= opd.INDEX)

    def _result(self, i: i64, word: int, assumed: dict[int, int]) -> i64:
        """What an instruction makes of a word: of the operations that form addresses, others may make anything."""
        f = self.f
        dest = f.get(i, 0)
        if f.words_of(dest) != word or f.reg_flags[dest & opd.INDEX] & FLAG_FIXED:
            return _NOTHING
        op, mods = f.op[i], f.mods[i]
        if op == MOV:
            return _NOTHING if mods else self._source(f.get(i, 1), assumed)
        if op == MovPhi:
            return self._met(i, assumed)
        if op == SEL:
            return _both(self._source(f.get(i, 1), assumed), self._source(f.get(i, 2), assumed))
        if not self._is_plain(i):
            return _NOTHING
        if op == LEA:
            number = mods >> _LEA_SHIFT.shift & _LEA_SHIFT.mask
            return _sum(_times(self._source(f.get(i, 1), assumed), 1 << number), self._source(f.get(i, 2), assumed))
        if f.count[i] <= _THIRD:
            return _NOTHING
        first, second, third = f.get(i, 1), f.get(i, 2), f.get(i, _THIRD)
        if op == SHF and mods == _LEFT and third == opd.RZ_OPERAND:
            return self._shifted(first, second, assumed)
        if op == LOP3 and mods == _AND:
            return self._masked(first, second, assumed)
        if op == IADD3:
            return _sum(_sum(self._source(first, assumed), self._source(second, assumed)), self._source(third, assumed))
        if op == IMAD:
            return _sum(self._product(first, second, assumed), self._source(third, assumed))
        return _NOTHING

    def _met(self, i: i64, assumed: dict[int, int]) -> i64:
        """What the values of all ways into a block have in common."""
        found: i64 = _ANY
        at: i64 = 1
        while at < self.f.count[i]:
            found = _both(found, self._source(self.f.get(i, at), assumed))
            at += 2
        return found

    def _is_plain(self, i: i64) -> bool:
        """Whether an instruction has no predicates that carry or are combined."""
        f = self.f
        at: i64 = 1
        while at < f.count[i]:
            operand = f.get(i, at)
            if opd.is_register(operand) and f.is_predicate(operand) and not OPS.writes_at(f.op[i], at):
                return False
            at += 1
        return True

    def _shifted(self, value: i64, amount: i64, assumed: dict[int, int]) -> i64:
        if not self._is_number(amount):
            return _NOTHING
        number = self.f.imm_value(amount)
        return _times(self._source(value, assumed), 1 << number) if 0 <= number <= _MOST_SHIFT else _NOTHING

    def _product(self, one: i64, other: i64, assumed: dict[int, int]) -> i64:
        if self._is_number(one):
            one, other = other, one
        if other == opd.RZ_OPERAND or one == opd.RZ_OPERAND:
            return _ALL
        return _times(self._source(one, assumed), self.f.imm_value(other)) if self._is_number(other) else _NOTHING

    def _masked(self, one: i64, other: i64, assumed: dict[int, int]) -> i64:
        """Both of two words: the bits in front of the first one of a mask are zeros."""
        if self._is_number(one):
            one, other = other, one
        if not self._is_number(other):
            return _NOTHING
        value, mask = self._source(one, assumed), self.f.imm_value(other)
        if value == _ANY:
            return _ANY
        zeros = exponent(mask & 0xFFFFFFFF)
        return _known(max(value >> _SHIFT, zeros), value & mask & _VALUE) if zeros <= value >> _SHIFT else _known(zeros, 0)

    def _source(self, operand: i64, assumed: dict[int, int]) -> i64:
        """What is known of a source, its sign applied."""
        f = self.f
        if operand == self.stack:
            return _known(exponent(STACK_ALIGN), 0)
        if self._is_number(operand):
            return _known(BITS, f.imm_value(operand))
        if operand & opd.TYPE == opd.IS_REG and operand & opd.INDEX == opd.RZ:
            return _ALL
        if not opd.is_register(operand):
            return _NOTHING
        word = int(f.words_of(operand))
        found: i64 = assumed[word] if word in assumed else self.known.get(word, _NOTHING)
        if operand & opd.SIGNS and found != _ANY:
            return _known(found >> _SHIFT, -(found & _VALUE)) if operand & opd.SIGNS == opd.NEGATE else _NOTHING
        return found
