"""What register words are known to hold while a pass walks over a function.

A *fact* says that a word (or predicate) holds the same as an operand: another register word, an immediate, a word of a
constant bank. Facts of words with several definitions hold within a block until either side changes (versions). Facts of
words with one definition hold wherever that definition dominates, provided that the register they name has one definition as
well, which dominates the fact.
"""

from __future__ import annotations

from typing import Final

from librt.vecs import append, vec
from mypy_extensions import i64
from oric_tables.op import MOV

from oric.support.arrays import nones, zeros

from . import operand as opd
from .cfg import Cfg
from .cursor import Cursor
from .function import NONE, Function, R
from .legality import Legality, legality_of
from .operand import SIGNS
from .optable import OPS, SLOTS

MASK32: Final = 0xFFFFFFFF
WORD_BITS: Final = 32
# Mark on an immediate that stands for the upper word of a 64-bit value whose lower word is 0; only inside this package.
HIGH_WORD: Final = 1 << 60
WHOLE: Final = 1 << 61  # mark on an immediate that is a 64-bit constant with a lower word; only inside this package
MARKS: Final = HIGH_WORD | WHOLE
NOT_CONSTANT: Final = -1  # constants are 32-bit patterns


class Facts:
    """Facts and definitions during a walk in reverse post-order."""

    def __init__(self, f: Function, graph: Cfg, isa: str) -> None:
        self.f = f
        self.graph = graph
        self.legality: Legality = legality_of(isa)
        n = f.words
        self.block: int = 0
        self.defs = zeros(n)
        self.reads = zeros(n)
        self.version = zeros(n)
        self.fact = zeros(n)
        self.fact_block = zeros(n)
        self.fact_source = nones(n)
        self.fact_version = zeros(n)
        self.fact_global = zeros(n)
        self.fact_clock = zeros(n)
        self.home = nones(n)  # of words that a MovPhi names: the number of what they are values of ...
        self.home_clock = vec[i64]()  # ... and when one of these was defined last
        self.def_of = nones(n)
        self.def_block = nones(n)
        self.def_clock = zeros(n)
        self.clock: int = 0
        self.changed: int = 0
        self.combined: int = 0  # instructions that were combined with the makers of their sources
        self.fired: int = -1  # number of the rule that fired last
        self.inner = nones(SLOTS)  # makers of the sources of the instruction that is looked at
        self._constants: dict[int, int] = {}
        self._count()
        if f.homes:
            self._find_homes()

    def _find_homes(self) -> None:
        """Number what words that meet are values of, each word of a register by itself."""
        f = self.f
        numbers: dict[int, int] = {}
        for register, home in f.homes.items():
            if home not in numbers:
                numbers[home] = len(numbers)
            word: i64 = f.reg_word[register]
            end: i64 = word + f.reg_size[register]
            while word < end:
                self.home[word] = numbers[home]
                word += 1
        self.home_clock = zeros(len(numbers))

    def is_last(self, word: i64, clock: i64) -> bool:
        """Whether nothing that a word meets has been defined since: both would have to be kept, and copied where they meet."""
        home = self.home[word]
        return home < 0 or self.home_clock[home] <= clock

    def _count(self) -> None:
        """Numbers of definitions and of reads of each word, 2 for more than one."""
        f = self.f
        b: i64 = 0
        while b < f.blocks():
            i = f.head[b]
            while i != NONE:
                mask = OPS.writes[f.op[i]]
                at: i64 = 0
                while at < f.count[i]:
                    operand = f.operand[f.first[i] + at]
                    if opd.is_register(operand):
                        if mask >> at & 1:
                            self._count_words(self.defs, operand)
                        else:
                            self._count_words(self.reads, operand)
                    at += 1
                i = f.next[i]
            b += 1

    def _count_words(self, counts: vec[i64], operand: i64) -> None:
        word = self.f.words_of(operand)
        end = word + opd.count_of(operand)
        while word < end:
            counts[word] = 2 if counts[word] else 1
            word += 1

    # -- facts -------------------------------------------------------------------------------------------

    def is_stable(self, word: i64, block: i64) -> bool:
        """Whether a word has one definition, and that one reaches all of ``block`` from here on."""
        at = self.def_block[word]
        return self.defs[word] == 1 and at >= 0 and (at == block or self.graph.dominates(at, block))

    def learn(self, word: i64, value: i64) -> None:
        """The word, just defined in the current block, holds the same as ``value``."""
        source: i64 = -1
        if opd.is_register(value):
            source = self.f.words_of(value)
            if source == word:
                return
            self.fact_version[word] = self.version[source]
        self.fact[word] = value
        self.fact_clock[word] = self.clock
        self.fact_block[word] = self.block
        self.fact_source[word] = source
        lasting = self.defs[word] == 1 and (source < 0 or self.is_stable(source, self.block))
        self.fact_global[word] = 1 if lasting else 0

    def known(self, word: i64) -> i64:
        """What the word holds here, 0 when nothing is known."""
        value = self.fact[word]
        if not value:
            return 0
        source = self.fact_source[word]
        if source >= 0 and not self.is_last(source, self.fact_clock[word]):
            return 0
        if self.fact_block[word] == self.block:
            return value if source < 0 or self.version[source] == self.fact_version[word] else 0
        if self.fact_global[word] and self.graph.dominates(self.fact_block[word], self.block):
            return value
        return 0

    def define(self, i: i64) -> None:
        """Note that an instruction writes its destinations: what was known of them is no more."""
        f = self.f
        self.clock += 1
        mask = OPS.writes[f.op[i]]
        at: i64 = 0
        while mask >> at and at < f.count[i]:
            operand = f.operand[f.first[i] + at]
            if mask >> at & 1 and opd.is_register(operand):
                word = f.words_of(operand)
                end = word + opd.count_of(operand)
                while word < end:
                    self.version[word] += 1
                    if self.home[word] >= 0:
                        self.home_clock[self.home[word]] = self.clock
                    self.fact[word] = 0
                    self.def_of[word] = NONE if f.guard[i] else i
                    self.def_block[word] = self.block
                    self.def_clock[word] = self.clock
                    word += 1
            at += 1

    # -- operands ----------------------------------------------------------------------------------------

    def source_def(self, operand: i64) -> i64:
        """The instruction that made the value of a register word, if its sources still hold what it read; else ``NONE``."""
        if not opd.is_register(operand):
            return NONE
        f = self.f
        word = f.words_of(operand)
        i = self.last_def(word)
        if i == NONE:
            return NONE
        mask = OPS.writes[f.op[i]]
        place: i64 = 0
        while place < f.count[i]:
            if not mask >> place & 1 and not self.is_as_read(word, f.operand[f.first[i] + place]):
                return NONE
            place += 1
        return i

    def last_def(self, word: i64) -> i64:
        """The instruction that made the value of a register word, ``NONE`` where that is not known."""
        i = self.def_of[word]
        if i == NONE or self.f.block[i] == NONE:
            return NONE
        return i if self.def_block[word] == self.block or self.is_stable(word, self.block) else NONE

    def is_as_read(self, word: i64, source: i64) -> bool:
        """Whether a source of the instruction that made a word still holds what was read."""
        return not opd.is_register(source) or self._is_unchanged(source, self.def_block[word], self.def_clock[word])

    def _is_unchanged(self, source: i64, block: i64, clock: i64) -> bool:
        """Whether a source that was read in a block at that time still holds the same."""
        word = self.f.words_of(source)
        end = word + opd.count_of(source)
        while word < end:
            if self.home[word] >= 0 and self.home_clock[self.home[word]] >= clock:
                return False
            if block == self.block:
                if self.def_block[word] == block and self.def_clock[word] >= clock:
                    return False
            elif not self.is_stable(word, block):
                return False
            word += 1
        return True

    def constant_register(self, value: i64) -> i64:
        """A register that holds a 32-bit constant from the function's entry on."""
        known = self._constants.get(value)
        if known is not None:
            return known
        f = self.f
        word = f.words
        operand = opd.reg(f.new_reg(R))
        self._constants[value] = operand
        self._add_word()
        cursor = Cursor(f)
        cursor.at_start(0)
        if f.head[0] != NONE:
            cursor.line = f.line[f.head[0]]
        self.defs[word] = 1
        self.def_of[word] = cursor.make2(MOV, operand, f.imm(value))
        self.def_block[word] = 0
        return operand

    def _add_word(self) -> None:
        self.defs = append(self.defs, 0)
        self.reads = append(self.reads, 0)
        self.version = append(self.version, 0)
        self.fact = append(self.fact, 0)
        self.fact_block = append(self.fact_block, 0)
        self.fact_source = append(self.fact_source, -1)
        self.fact_version = append(self.fact_version, 0)
        self.fact_global = append(self.fact_global, 0)
        self.fact_clock = append(self.fact_clock, 0)
        self.home = append(self.home, -1)
        self.def_of = append(self.def_of, NONE)
        self.def_block = append(self.def_block, -1)
        self.def_clock = append(self.def_clock, 0)

    def constant(self, operand: i64) -> i64:
        """The 32-bit pattern of an operand with its signs applied as those of an integer; ``NOT_CONSTANT`` when unknown."""
        if opd.is_register(operand):
            if operand & opd.SPAN:
                return NOT_CONSTANT
            value = self.known(self.f.words_of(operand))
            if not value or value & opd.CONST_BANK or value & (opd.TYPE | opd.INDEX) == opd.PT_OPERAND:
                return NOT_CONSTANT
            operand = value | operand & SIGNS
        form = operand & opd.TYPE
        if form == opd.IS_IMM or form == opd.IS_POOL:
            return with_signs(self.f.imm_value(operand & ~SIGNS) & MASK32, operand, False, False) & MASK32
        if operand & (opd.TYPE | opd.INDEX) == opd.RZ_OPERAND:
            return with_signs(0, operand, False, False) & MASK32
        return NOT_CONSTANT

    # -- constants of 64 bits ------------------------------------------------------------------------------

    def has_whole(self, operand: i64) -> bool:
        """Whether a 64-bit operand of an operation that takes whole constants is known to be one."""
        form = operand & opd.TYPE
        if form == opd.IS_IMM or form == opd.IS_POOL or operand == opd.RZ_OPERAND:
            return True
        if not is_pair(operand) or self.constant(opd.word(operand, 0)) == NOT_CONSTANT:
            return False
        return self.constant(opd.word(operand, 1)) != NOT_CONSTANT

    def whole(self, operand: i64) -> i64:
        """That constant, signed."""
        if operand == opd.RZ_OPERAND:
            return 0
        if operand & opd.TYPE != opd.IS_REG:
            return self.f.imm_value(operand)
        return joined(self.constant(opd.word(operand, 0)), self.constant(opd.word(operand, 1)))

    def is_whole(self, operand: i64, number: i64) -> bool:
        """Whether a 64-bit operand is known to be a number."""
        return self.has_whole(operand) and self.whole(operand) == number

    def lower(self, operand: i64) -> i64:
        """The lower word of a 64-bit operand, ``NOT_CONSTANT`` when unknown."""
        return self.constant(opd.word(operand, 0)) if is_pair(operand) else self.constant(operand)

    def whole_number(self, value: i64) -> i64:
        """The operand for a 64-bit constant; its bits above are cut off."""
        value = joined(value, value >> 32)
        return self.f.imm(value) if value else opd.RZ_OPERAND

    def copied(self, word: i64) -> i64:
        """What a register word is a copy of, itself when it is none."""
        value = self.known(self.f.words_of(word))
        return value if value else word

    # -- rewriting: what matchers call ---------------------------------------------------------------------


def is_pair(operand: i64) -> bool:
    """Whether an operand is two words of a register, without signs."""
    return opd.is_register(operand) and opd.count_of(operand) == 2 and not operand & SIGNS


def joined(low: i64, high: i64) -> i64:
    """The signed 64-bit number of two words, whose bits above are cut off."""
    high &= MASK32
    return (high - (1 << 32) if high >> 31 else high) << 32 | low & MASK32


def is_absent(operand: i64) -> bool:
    """Whether an operand is left out."""
    return operand == 0 or operand == opd.NO_OPERAND


def with_signs(bits: i64, operand: i64, is_float: bool, halves: bool) -> i64:
    """A 32-bit pattern with the sign changes of ``operand`` applied."""
    if not operand & SIGNS:
        return bits
    if is_float:
        top: i64 = 0x80008000 if halves else 0x80000000
        if operand & opd.ABSOLUTE:
            bits &= ~top
        return bits ^ top if operand & opd.NEGATE else bits
    if operand & opd.ABSOLUTE and bits >> 31:
        bits = -bits & MASK32
    if operand & opd.COMPLEMENT:
        bits = ~bits
    return -bits if operand & opd.NEGATE else bits
