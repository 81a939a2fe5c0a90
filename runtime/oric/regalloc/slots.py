"""Slots of the stack frame that hold nothing at the same time share their place.

Spilling gives every register that it splits a slot of its own. Where the values of two slots never wait at the same time the
second one needs none: so the frame is as large as what waits at one point, not as what ever waits. Source: observed (frames of
ptxas), the method is that of any register file.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Final, final

from oric_tables.op import LDL

from oric.ir import operand as opd
from oric.ir.function import NONE, Function, control_flow

from .spill import FRAME_ALIGN, WORD, Memory

_LARGEST: Final = 4  # words of a slot
_NOWHERE: Final = 1 << 60


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

    def lives(self) -> list[tuple[int, int]]:
        """By slot, the first and the last place in the code, blocks in order, where something waits in it or goes there."""
        entry = self._entries()
        first, last = [_NOWHERE] * len(self.words), [-1] * len(self.words)
        starts: list[int] = []  # of the blocks; their ends are one in front of those
        place = 0
        for accesses in self.blocks:
            starts.append(place)
            for access in accesses:
                place += 1
                first[access.slot] = min(first[access.slot], place)
                last[access.slot] = place
            place += 2
        seen = 0
        for b, start in enumerate(starts):  # once for every slot: where it is soonest
            for slot in _bits(entry[b] & ~seen):
                first[slot] = min(first[slot], start)
            seen |= entry[b]
        seen = 0
        for b in reversed(range(len(starts))):
            end = starts[b] + len(self.blocks[b]) + 1
            behind = self._behind(b, entry)
            for slot in _bits(behind & ~seen):
                last[slot] = max(last[slot], end)
            seen |= behind
        return list(zip(first, last, strict=True))

    def _entries(self) -> list[int]:
        """By block, the slots in which something waits at its start, as bits."""
        f = self.f
        cfg = control_flow(f)
        entry = [0] * f.blocks()
        needs = [self._needs(b) for b in range(f.blocks())]
        waiting = list(range(f.blocks()))
        queued = set(waiting)
        while waiting:
            b = waiting.pop()
            queued.discard(b)
            read, written = needs[b]
            live = self._behind(b, entry) & ~written | read
            if live == entry[b]:
                continue
            entry[b] = live
            for p in cfg.predecessors(b):
                if p not in queued:
                    queued.add(p)
                    waiting.append(p)
        return entry

    def _behind(self, b: int, entry: list[int]) -> int:
        """What waits at the end of a block."""
        live = 0
        for s in control_flow(self.f).successors(b):
            live |= entry[s]
        return live

    def _needs(self, b: int) -> tuple[int, int]:
        """The slots that a block reads from those in front of it, and those in which nothing needs to wait there, as bits."""
        read: set[int] = set()
        written: set[int] = set()
        for access in self.blocks[b]:
            if access.slot in read or access.slot in written:
                continue
            if access.load:
                read.add(access.slot)
            elif access.whole:
                written.add(access.slot)
        return _mask(read), _mask(written)


@final
class Frame:
    """Words of a frame by the buddy system: pieces of 1, 2, 4 words, at multiples of their sizes from the top of the stack."""

    def __init__(self, base: int) -> None:
        self.top = -(-base // _LARGEST) * _LARGEST
        self.free: dict[int, list[int]] = {1: [], 2: [], _LARGEST: []}
        self.pieces: set[tuple[int, int]] = set()  # that are free: (first word, size)
        for word in range(base, self.top):
            self.give(word, 1)

    def take(self, size: int) -> int:
        """The first word of a piece; the frame grows when none is free."""
        heap = self.free[size]
        while heap:
            first = heappop(heap)
            if (first, size) in self.pieces:
                self.pieces.discard((first, size))
                return first
        if size == _LARGEST:
            self.top += size
            return self.top - size
        first = self.take(2 * size)
        self._put(first + size, size)
        return first

    def give(self, first: int, size: int) -> None:
        """A piece is free again; with its other half it is a larger one."""
        while size < _LARGEST and (first ^ size, size) in self.pieces:
            self.pieces.discard((first ^ size, size))
            first &= ~size
            size *= 2
        self._put(first, size)

    def _put(self, first: int, size: int) -> None:
        self.pieces.add((first, size))
        heappush(self.free[size], first)


def share_slots(f: Function, memory: Memory) -> None:
    """Move slots onto each other as far as can be, and make the frame smaller; no view of the function may be held.

    The function has its final order.
    """
    slots = _Slots(f, memory)
    lives = slots.lives()
    frame = Frame(-(-f.attributes.local_size // WORD))
    homes = [0] * len(lives)  # by slot, words from the top of the stack down to it
    taken: list[tuple[int, int, int]] = []  # (last place, first word, size), soonest free first
    for slot in sorted(range(len(lives)), key=lambda slot: (lives[slot][0], -slots.words[slot], slot)):
        start, end = lives[slot]
        while taken and taken[0][0] < start:
            _, word, size = heappop(taken)
            frame.give(word, size)
        size = 1 << (slots.words[slot] - 1).bit_length()
        word = frame.take(size)
        heappush(taken, (end, word, size))
        homes[slot] = word + slots.words[slot]
    for accesses in slots.blocks:
        for access in accesses:
            f.set(access.i, 2 if access.load else 1, f.imm(WORD * (access.word - homes[access.slot])))
    top = max(f.attributes.local_size, WORD * max(homes, default=0))
    f.attributes.frame_size = -(-top // FRAME_ALIGN) * FRAME_ALIGN


def _mask(bits: set[int]) -> int:
    """The number with these bits."""
    octets = bytearray(max(bits, default=0) // 8 + 1)
    for bit in bits:
        octets[bit >> 3] |= 1 << (bit & 7)
    return int.from_bytes(octets, "little")


def _bits(mask: int) -> list[int]:
    """The numbers of the bits that are set, ascending."""
    found: list[int] = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found
