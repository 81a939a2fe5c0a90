"""Changes that can be taken back, the last one first.

A record is an old value, the place that it is of, and a tag. Two things keep one: the naming of values, which takes back behind
the blocks that a block dominates what it named in there (:mod:`oric.phases.ssa`); and what reads memory of constant banks, which
gets its operands again where a reader among them has no form for the register that they were given (:mod:`oric.lower.bankwords`).
Source: Data structures, "Code Object", the rewrite journals of memory states (+1008) and of SSA handles (+1048).
"""

from __future__ import annotations

from typing import Final, final

from librt.vecs import append, vec
from mypy_extensions import i64

from .function import Function

OPERAND: Final = 0  # tags of changes of code
MODIFIERS: Final = 1
_PLACE_BITS: Final = 24  # of an operand's position; the number of its instruction stands above
_PLACE: Final = (1 << _PLACE_BITS) - 1


@final
class Journal:
    """A trail of records; ``count`` of them are not taken back."""

    def __init__(self) -> None:
        self.old = vec[i64]()
        self.target = vec[i64]()
        self.tag = vec[i64]()
        self.count: int = 0

    def note(self, target: i64, old: i64, tag: i64 = 0) -> None:
        """Something is about to change that holds ``old``."""
        at = self.count
        self.count = at + 1
        if at == len(self.old):
            self.old = append(self.old, old)
            self.target = append(self.target, target)
            self.tag = append(self.tag, tag)
            return
        self.old[at] = old
        self.target[at] = target
        self.tag[at] = tag

    def roll_back(self, values: vec[i64], mark: i64) -> None:
        """Take back the changes of an array behind the first ``mark`` ones."""
        while self.count > mark:
            self.count -= 1
            values[self.target[self.count]] = self.old[self.count]

    def keep(self, f: Function, i: i64) -> None:
        """The operands and modifiers of an instruction are about to change."""
        at: i64 = 0
        while at < f.count[i]:
            self.note(i << _PLACE_BITS | at, f.get(i, at), OPERAND)
            at += 1
        self.note(i, f.mods[i], MODIFIERS)

    def roll_back_code(self, f: Function, mark: i64) -> None:
        """Take back what :meth:`keep` noted behind the first ``mark`` records."""
        while self.count > mark:
            self.count -= 1
            target = self.target[self.count]
            if self.tag[self.count] == OPERAND:
                f.set(target >> _PLACE_BITS, target & _PLACE, self.old[self.count])
            else:
                f.set_mods(target, self.old[self.count])
