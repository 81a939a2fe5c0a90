"""A Code Object as the documented sections see it: instructions by their position in the code, operands in a row, liveness."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from oric.ir import operand as opd
from oric.ir.function import NONE, Function
from oric.ir.optable import OPS
from oric.ir.text import all_instructions


class View:
    """A function, read once. ``order``: the instruction at each position; ``blocks``: position of the first and number of
    instructions of each block.
    """

    def __init__(self, f: Function) -> None:
        self.f = f
        self.order = all_instructions(f)
        self.position = {i: at for at, i in enumerate(self.order)}
        self.blocks: list[tuple[int, int]] = []
        first = 0
        for b in range(f.blocks()):
            i, count = int(f.head[b]), 0
            while i != NONE:
                i, count = int(f.next[i]), count + 1
            self.blocks.append((first, count))
            first += count

    @cached_property
    def operands(self) -> list[tuple[int, int, bool]]:
        """Position, operand, and whether it is written, of every operand in the order of the code; guards are none."""
        f, found = self.f, []
        for at, i in enumerate(self.order):
            writes: int = OPS.writes[f.op[i]]
            first: int = f.first[i]
            found += [(at, int(f.operand[first + n]), writes >> n & 1 != 0) for n in range(f.count[i])]
        return found

    @cached_property
    def accesses(self) -> list[tuple[list[int], list[int]]]:
        """By position: the words that are read, guards among them, and those that are written, by their numbers."""
        f = self.f
        found: list[tuple[list[int], list[int]]] = [([], []) for _ in self.order]
        for at, operand, writes in self.operands:
            found[at][writes].extend(self._words(operand))
        for at, i in enumerate(self.order):
            if f.guard[i]:
                found[at][0].extend(self._words(f.guard[i]))
        return found

    def _words(self, operand: int) -> range:
        if not opd.is_register(operand):
            return range(0)
        first = int(self.f.words_of(operand))
        return range(first, first + int(opd.count_of(operand)))

    @cached_property
    def definitions(self) -> dict[int, int]:
        """Word -> position of its first definition."""
        found: dict[int, int] = {}
        for at, (_, written) in enumerate(self.accesses):
            for word in written:
                found.setdefault(word, at)
        return found

    @cached_property
    def live(self) -> tuple[list[int], list[int]]:
        """Live-in and live-out of each block: sets of words, as bits."""
        f, count = self.f, int(self.f.blocks())
        used, killed = [0] * count, [0] * count
        for b, (first, length) in enumerate(self.blocks):
            for at in range(first, first + length):
                reads, writes = self.accesses[at]
                used[b] |= _bits(reads) & ~killed[b]
                if not f.guard[self.order[at]]:  # under a guard a register may keep what it has
                    killed[b] |= _bits(writes)
        before: list[list[int]] = [[] for _ in range(count)]
        for b in range(count):
            for n in range(f.succ_count[b]):
                before[int(f.successor(b, n))].append(b)
        live_in, live_out = list(used), [0] * count
        waiting = list(range(count))
        while waiting:
            b = waiting.pop()
            for other in before[b]:
                if live_in[b] & ~live_out[other]:
                    live_out[other] |= live_in[b]
                    grown = used[other] | live_out[other] & ~killed[other]
                    if grown != live_in[other]:
                        live_in[other] = grown
                        waiting.append(other)
        return live_in, live_out

    @cached_property
    def ranges(self) -> dict[int, tuple[int, int]]:
        """Word -> first and last position at which it is live or accessed."""
        found: dict[int, tuple[int, int]] = {}

        def meet(word: int, at: int) -> None:
            low, high = found.get(word, (at, at))
            found[word] = min(low, at), max(high, at)

        for at, (reads, writes) in enumerate(self.accesses):
            for word in (*reads, *writes):
                meet(word, at)
        for b, (first, length) in enumerate(self.blocks):
            for word in numbers(self.live[0][b]):
                meet(word, first)
            for word in numbers(self.live[1][b]):
                meet(word, max(first + length - 1, first))
        return found

    @cached_property
    def owner(self) -> list[int]:
        """Of each word, its register."""
        f = self.f
        return [r for r in range(f.registers()) for _ in range(f.reg_size[r])]


def _bits(words: list[int]) -> int:
    found = 0
    for word in words:
        found |= 1 << word
    return found


def numbers(bits: int) -> Iterator[int]:
    """The members of a set, in order."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
