"""Sweeps over the register words that instructions read and write.

All words of all registers have one numbering (``Function.reg_word``); predicates have one word. Analyses that need sets or
tables of registers index them by word.
"""

from __future__ import annotations

from typing import final

from librt.vecs import append, vec
from mypy_extensions import i64

from . import operand as opd
from .function import Function
from .optable import OPS


@final
class WordList:
    """The words that one instruction touches, filled anew for each."""

    def __init__(self) -> None:
        self.words = vec[i64]()
        self.count: int = 0

    def clear(self) -> None:
        """Forget all."""
        self.count = 0

    def add(self, f: Function, operand: i64) -> None:
        """Add the words of an operand; RZ, PT and other kinds of operand have none."""
        if not opd.is_register(operand):
            return
        word = f.words_of(operand)
        end = word + opd.count_of(operand)
        while word < end:
            if self.count == len(self.words):
                self.words = append(self.words, word)
            else:
                self.words[self.count] = word
            self.count += 1
            word += 1

    def add_reads(self, f: Function, i: i64) -> None:
        """Add what an instruction reads, its guard included."""
        mask = OPS.writes[f.op[i]]
        at: i64 = 0
        while at < f.count[i]:
            if not mask >> at & 1:
                self.add(f, f.operand[f.first[i] + at])
            at += 1
        if f.guard[i]:
            self.add(f, f.guard[i])

    def add_writes(self, f: Function, i: i64) -> None:
        """Add what an instruction writes."""
        mask = OPS.writes[f.op[i]]
        at: i64 = 0
        while mask >> at and at < f.count[i]:
            if mask >> at & 1:
                self.add(f, f.operand[f.first[i] + at])
            at += 1
