"""Slots of the stack frame that hold nothing at the same time share their place.

Spilling gives every register that it splits a slot of its own. Where the values of two slots never wait at the same time the
second one needs none: so the frame is as large as what waits at one point, not as what ever waits. Source: observed (frames of
ptxas), the method is that of any register file.
"""

from __future__ import annotations

from typing import final

from oric_tables.op import LDL

from oric.ir import operand as opd
from oric.ir.function import NONE, Function, control_flow

from .spill import FRAME_ALIGN, WORD, Memory


@final
class _Access:
    """An access to a slot: ``word`` of it is the first; ``whole``: it writes all of it in any case."""

    def __init__(self, i: int, slot: int, word: int, load: bool, whole: bool) -> None:
        self.i = i
        self.slot = slot
        self.word = word
        self.load = load
        self.whole = whole


@final
class _Slots:
    """The slots of a function and what accesses them."""

    def __init__(self, f: Function, memory: Memory) -> None:
        self.f = f
        self.words: list[int] = []  # by slot, its size
        self.blocks: list[list[_Access]] = []
        at: dict[int, tuple[int, int]] = {}  # words from the top down to one -> slot, which of its words it is
        sizes = {home: f.reg_size[n] for n, home in memory.home.items()}
        for home in sorted(sizes):
            for word in range(sizes[home]):
                at[home // WORD - word] = len(self.words), word
            self.words.append(sizes[home])
        for b in range(f.blocks()):
            self.blocks.append([])
            i = f.head[b]
            while i != NONE:
                if i in memory.loads or i in memory.stores:
                    self._note(b, i, at)
                i = f.next[i]

    def _note(self, b: int, i: int, at: dict[int, tuple[int, int]]) -> None:
        f = self.f
        load = f.op[i] == LDL
        slot, word = at[-f.imm_value(f.get(i, 2 if load else 1)) // WORD]
        count = opd.count_of(f.get(i, 0 if load else 2))
        self.blocks[b].append(_Access(i, slot, word, load, not f.guard[i] and count == self.words[slot]))

    def together(self) -> list[int]:
        """By slot, those that wait where it is written, as bits; nothing when all wait at one point."""
        f = self.f
        cfg = control_flow(f)
        entry = [0] * f.blocks()
        waiting = list(range(f.blocks()))
        queued = set(waiting)
        while waiting:
            b = waiting.pop()
            queued.discard(b)
            live = self._through(b, self._behind(b, entry), None)
            if live == entry[b]:
                continue
            entry[b] = live
            for p in cfg.predecessors(b):
                if p not in queued:
                    queued.add(p)
                    waiting.append(p)
        found = [0] * len(self.words)
        for b in range(f.blocks()):
            self._through(b, self._behind(b, entry), found)
        return found if all(others.bit_count() < len(found) - 1 for others in found) else []

    def _behind(self, b: int, entry: list[int]) -> int:
        """What waits at the end of a block."""
        live = 0
        for s in control_flow(self.f).successors(b):
            live |= entry[s]
        return live

    def _through(self, b: int, live: int, found: list[int] | None) -> int:
        """What waits at the start of a block with that at its end; ``found`` gets what waits where slots are written."""
        for access in reversed(self.blocks[b]):
            one = 1 << access.slot
            if access.load:
                live |= one
                continue
            if found is not None:
                found[access.slot] |= live & ~one
            if access.whole:
                live &= ~one
        return live


def share_slots(f: Function, memory: Memory) -> None:
    """Move slots onto each other as far as can be, and make the frame smaller; no view of the function may be held.

    The function has its final order.
    """
    slots = _Slots(f, memory)
    together = slots.together()
    if not together:
        return
    there: list[int] = []  # by word below the variables, the slots that have it, as bits
    barred: list[int] = []  # by word, those that wait where one of these is written
    base = -(-f.attributes.local_size // WORD)
    homes = [0] * len(slots.words)  # by slot, words from the top of the stack down to it
    for slot in sorted(range(len(slots.words)), key=lambda slot: (-slots.words[slot], slot)):
        size = slots.words[slot]
        first = -base % size  # slots lie at multiples of their size
        while any(
            there[word] & together[slot] or barred[word] >> slot & 1 for word in range(first, min(first + size, len(there)))
        ):
            first += size
        while len(there) < first + size:
            there.append(0)
            barred.append(0)
        for word in range(first, first + size):
            there[word] |= 1 << slot
            barred[word] |= together[slot]
        homes[slot] = base + first + size
    for accesses in slots.blocks:
        for access in accesses:
            f.set(access.i, 2 if access.load else 1, f.imm(WORD * (access.word - homes[access.slot])))
    top = max(f.attributes.local_size, WORD * max(homes, default=0))
    f.attributes.frame_size = -(-top // FRAME_ALIGN) * FRAME_ALIGN
