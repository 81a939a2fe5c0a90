"""The instructions that wait for a phase: found in one walk, visited in order of the code, whatever happens to them meanwhile.

Source: Data Structures, Function Object (the list of pending legalization, which visits one base opcode, and its cursor).
"""

from __future__ import annotations

from typing import final

from librt.vecs import append, vec
from mypy_extensions import i64

from .function import NONE, Function
from .optable import OPS


@final
class Worklist:
    """The macro operations that the phase of that index takes apart.

    Args:
        f: the function; its instructions may be moved, removed and made during the visit. What is made is not visited.
        phase: index of the phase (:data:`oric_tables.macros.EXPANSIONS`).
        without: flags of operations that stay out (:mod:`oric.ir.optable`).
    """

    def __init__(self, f: Function, phase: i64, without: i64 = 0) -> None:
        self.f = f
        self.phase: int = phase
        self.items = vec[i64]()
        self.at: int = 0
        expansion = OPS.expansion
        b: i64 = 0
        while b < f.blocks():
            i = f.head[b]
            while i != NONE:
                op = f.op[i]
                if expansion[op] == phase and not OPS.flags[op] & without:
                    self.items = append(self.items, i)
                i = f.next[i]
            b += 1

    def __len__(self) -> int:
        return len(self.items)

    def next(self) -> i64:
        """The next one that still is in the code and waits; ``NONE`` behind the last."""
        f = self.f
        at: i64 = self.at
        while at < len(self.items):
            i = self.items[at]
            at += 1
            if f.block[i] != NONE and OPS.expansion[f.op[i]] == self.phase:
                self.at = at
                return i
        self.at = at
        return NONE

    def rewind(self) -> None:
        """Begin again."""
        self.at = 0
