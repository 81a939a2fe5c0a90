"""Instructions met on a walk, found again by what they compute: an open hash table over keys of native ints.

The key of an instruction is its operation, its modifiers and its operands; a written register counts as any other, and one that
holds a constant as that constant, since each template puts its constants into registers of its own. Where a source may change
later, its version and the block belong to the key.
"""

from __future__ import annotations

from typing import Final, final

from librt.vecs import append, vec
from mypy_extensions import i64

from oric.ir import operand as opd
from oric.ir.function import NONE, Function
from oric.ir.optable import OPS
from oric.ir.values import Values
from oric.support.arrays import zeros

_WRITTEN: Final = -1
_CONSTANT: Final = -2  # in front of a number that is in a register
_SMALLEST: Final = 64  # slots of a new table
_PRIME: Final = 0x9E3779B1  # below 2**32: products with 31 bits fit
_MASK40: Final = 0xFFFFFFFFFF


@final
class Seen:
    """``slot[h]``: 1 + the number of an entry; entry e: ``insn[e]`` and the key ``keys[start[e]] .. keys[start[e + 1] - 1]``."""

    def __init__(self, f: Function, values: Values) -> None:
        self.f = f
        self.values = values
        self.slot = zeros(_SMALLEST)
        self.insn = vec[i64]()
        self.hash = vec[i64]()
        self.start = vec[i64]()
        self.start = append(self.start, 0)
        self.keys = vec[i64]()
        self.key = zeros(64)  # of the last lookup
        self.length: int = 0
        self.last: int = 0  # its hash
        self.found: int = NONE  # its entry

    def lookup(self, i: i64) -> i64:
        """The instruction remembered under the key of ``i``, ``NONE`` when there is none."""
        self._make_key(i)
        mask: i64 = len(self.slot) - 1
        at = self.last & mask
        while self.slot[at] != 0:
            entry = self.slot[at] - 1
            if self.hash[entry] == self.last and self._equals(entry):
                self.found = entry
                return self.insn[entry]
            at = (at + 1) & mask
        self.found = NONE
        return NONE

    def remember(self, i: i64) -> None:
        """Put an instruction under the key of the last lookup, which was for it."""
        if self.found != NONE:
            self.insn[self.found] = i
            return
        if 2 * len(self.insn) >= len(self.slot):
            self._grow()
        self.insn = append(self.insn, i)
        self.hash = append(self.hash, self.last)
        at: i64 = 0
        while at < self.length:
            self.keys = append(self.keys, self.key[at])
            at += 1
        self.start = append(self.start, len(self.keys))
        self._place(len(self.insn) - 1)

    def _place(self, entry: i64) -> None:
        mask: i64 = len(self.slot) - 1
        at = self.hash[entry] & mask
        while self.slot[at] != 0:
            at = (at + 1) & mask
        self.slot[at] = entry + 1

    def _grow(self) -> None:
        self.slot = zeros(2 * len(self.slot))
        entry: i64 = 0
        while entry < len(self.insn):
            self._place(entry)
            entry += 1

    def _equals(self, entry: i64) -> bool:
        start = self.start[entry]
        if self.start[entry + 1] - start != self.length:
            return False
        at: i64 = 0
        while at < self.length:
            if self.keys[start + at] != self.key[at]:
                return False
            at += 1
        return True

    def _push(self, value: i64) -> None:
        if self.length == len(self.key):
            self.key = append(self.key, value)
        else:
            self.key[self.length] = value
        self.length += 1
        mixed = (self.last ^ value ^ value >> 31) & 0x7FFFFFFF
        self.last = (mixed * _PRIME & _MASK40) ^ mixed >> 15

    def _make_key(self, i: i64) -> None:
        f = self.f
        values = self.values
        self.length = 0
        self.last = 0
        self._push(f.op[i])
        self._push(f.mods[i])
        stable = True
        mask = OPS.writes[f.op[i]]
        at: i64 = 0
        while at < f.count[i]:
            operand = f.operand[f.first[i] + at]
            if mask >> at & 1:
                self._push(_WRITTEN if opd.is_register(operand) else operand)
            elif self._constant_in(operand):
                self._push(_CONSTANT)
                self._push(self._constant_in(operand))
                self._push(operand & opd.SIGNS)
            else:
                self._push(operand)
                if opd.is_register(operand):
                    word = f.words_of(operand)
                    end = word + opd.count_of(operand)
                    while word < end:
                        if not values.is_stable(word, values.block):
                            stable = False
                            self._push(values.version[word])
                        word += 1
            at += 1
        if not stable:
            self._push(-3 - values.block)

    def _constant_in(self, operand: i64) -> i64:
        """The number that a register of one word is known to hold, where a source has to be a register; 0 for anything else."""
        if not opd.is_register(operand) or operand & opd.SPAN:
            return 0
        value = self.values.known(self.f.words_of(operand))
        form = value & opd.TYPE
        return value if form == opd.IS_IMM or form == opd.IS_POOL else 0
