"""Who alone writes each word of a function's registers, and how often it is read."""

from __future__ import annotations

from typing import Final, final

from librt.vecs import vec
from mypy_extensions import i64
from oric_tables.registers import FLAG_FIXED

from oric.ir import operand as opd
from oric.ir.cfg import Cfg
from oric.ir.function import NONE, Function, control_flow
from oric.ir.optable import OPS

SEVERAL: Final = -2  # in place of the instruction that makes a word


def makers_of(f: Function) -> Makers:
    """The chains of a function as it is: those that were made before, where nothing has changed since."""
    known = f.analyses.uses
    if isinstance(known, Makers) and known.is_current():
        return known
    made = Makers(f)
    f.analyses.uses = made
    f.analyses.tracker.uses = False
    return made


@final
class Makers:
    """What is so while the function is not changed.

    ``maker``: word -> the only instruction that writes it, ``NONE`` or :data:`SEVERAL`; ``read``: word -> the instructions that
    read it, guards among them; ``place``: instruction -> its place in its block.
    """

    def __init__(self, f: Function) -> None:
        self.f = f
        self.cfg: Cfg = control_flow(f)
        self.epoch: int = f.code_epoch
        self.maker = vec[i64]([NONE] * int(f.words))
        self.read = vec[i64]([0] * int(f.words))
        self.place = vec[i64]([0] * len(f.op))
        b: i64 = 0
        while b < f.blocks():
            place: i64 = 0
            i = f.head[b]
            while i != NONE:
                self.place[i] = place
                place += 1
                self._note(i)
                i = f.next[i]
            b += 1

    def _note(self, i: i64) -> None:
        f = self.f
        if opd.is_register(f.guard[i]):
            self.read[f.words_of(f.guard[i])] += 1
        at: i64 = 0
        while at < f.count[i]:
            operand = f.get(i, at)
            if opd.is_register(operand):
                writes = OPS.writes_at(f.op[i], at)
                word = f.words_of(operand)
                end = word + opd.count_of(operand)
                while word < end:
                    if writes:
                        self.maker[word] = i if self.maker[word] == NONE else SEVERAL
                    else:
                        self.read[word] += 1
                    word += 1
            at += 1

    def is_current(self) -> bool:
        """Whether the function is as it was: its code, its graph, its registers."""
        f = self.f
        graph = f.analyses.cfg
        return (
            self.epoch == f.code_epoch
            and graph is self.cfg
            and graph.epoch == f.flow_epoch
            and len(self.maker) == f.words
            and len(self.place) == len(f.op)
        )

    def same(self, other: Makers) -> bool:
        """Whether another one says the same."""
        return self.maker == other.maker and self.read == other.read and self.place == other.place

    def of(self, operand: i64) -> i64:
        """The only instruction that writes the first word of a register, ``NONE`` or :data:`SEVERAL`."""
        return self.maker[self.f.words_of(operand)]

    def reaches(self, i: i64, j: i64) -> bool:
        """Whether an instruction is executed before another one whenever that is."""
        cfg, b, c = self.cfg, self.f.block[i], self.f.block[j]
        if cfg.number[b] < 0 or cfg.number[c] < 0:
            return False
        return self.place[i] < self.place[j] if b == c else cfg.dominates(b, c)

    def is_settled(self, operand: i64, before: i64) -> bool:
        """Whether an operand is what it was made once, in front of an instruction, until that is executed again."""
        f = self.f
        if not opd.is_register(operand):
            return True
        if f.reg_flags[operand & opd.INDEX] & FLAG_FIXED:
            return False
        word = f.words_of(operand)
        end = word + opd.count_of(operand)
        while word < end:
            made = self.maker[word]
            if made < 0 or f.guard[made] or not self.reaches(made, before):
                return False
            word += 1
        return True

    def can_move(self, made: i64, sources: i64, to: i64) -> bool:
        """Whether an instruction makes the same at the place of another one, in no deeper loop; ``sources``: one behind the last
        operand that it reads, the first one is its result.
        """
        f, loops = self.f, self.cfg.loops()
        if f.guard[made] or loops.header[f.block[made]] != loops.header[f.block[to]] or not self.reaches(made, to):
            return False
        at: i64 = 1
        while at < sources:
            if not self.is_settled(f.get(made, at), made):
                return False
            at += 1
        return True
