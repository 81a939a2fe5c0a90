"""Cursors: the one way to change which instructions and blocks a function has.

A cursor stands in front of an instruction or at the end of a block. :meth:`Cursor.make` puts a new instruction there and
:meth:`Cursor.put` gives it its operands, one after another.
"""

from __future__ import annotations

from typing import final

from librt.vecs import append, vec
from mypy_extensions import i64
from oric_tables.op import BSYNC

from . import operand as opd
from .function import NONE, Function
from .optable import CONTROL, OPS


@final
class Cursor:
    """A place in a function. ``line`` is the PTX line of what is made."""

    def __init__(self, f: Function) -> None:
        self.f = f
        self.block: int = NONE
        self.before: int = NONE  # the instruction in front of which the cursor stands, NONE at the end of the block
        self.line: int = 0

    # -- moving ------------------------------------------------------------------------------------------

    def at_end(self, block: i64) -> None:
        """To the end of a block."""
        self.block = block
        self.before = NONE

    def at_exit(self, block: i64) -> None:
        """To the end of a block, in front of what leads away: where threads go on behind a BSYNC nothing stands in between."""
        f = self.f
        self.block = block
        self.before = f.tail[block]
        if self.before != NONE and f.op[self.before] != BSYNC and not OPS.flags[f.op[self.before]] & CONTROL:
            self.before = NONE

    def at_start(self, block: i64) -> None:
        """To the start of a block, behind what merges the values of the ways into it."""
        f = self.f
        self.block = block
        before = f.head[block]
        while before != NONE and OPS.repeats[f.op[before]]:
            before = f.next[before]
        self.before = before

    def in_front(self, i: i64) -> None:
        """In front of an instruction, whose line counts from here on."""
        self.block = self.f.block[i]
        self.before = i
        self.line = self.f.line[i]

    def behind(self, i: i64) -> None:
        """Behind an instruction, whose line counts from here on."""
        self.block = self.f.block[i]
        self.before = self.f.next[i]
        self.line = self.f.line[i]

    # -- instructions ------------------------------------------------------------------------------------

    def make(self, op: i64, mods: i64 = 0, guard: i64 = 0) -> i64:
        """Put a new instruction in front of the cursor; its operands follow by :meth:`put`."""
        f = self.f
        i: i64 = len(f.op)
        f.op = append(f.op, op)
        f.mods = append(f.mods, mods)
        f.guard = append(f.guard, guard)
        f.line = append(f.line, self.line)
        f.aux = append(f.aux, 0)
        f.control = append(f.control, 0)
        f.first = append(f.first, len(f.operand))
        f.count = append(f.count, 0)
        f.room = append(f.room, 0)
        f.prev = append(f.prev, NONE)
        f.next = append(f.next, NONE)
        f.block = append(f.block, NONE)
        self.link(i)
        return i

    def put(self, operand: i64) -> None:
        """Give the instruction that was made last one more operand."""
        f = self.f
        last: i64 = len(f.op) - 1
        if f.first[last] + f.room[last] != len(f.operand):
            raise IndexError("operands go to the instruction that was made last")
        f.operand = append(f.operand, operand)
        f.count[last] += 1
        f.room[last] += 1

    def make1(self, op: i64, a: i64, mods: i64 = 0, guard: i64 = 0) -> i64:
        """An instruction with one operand."""
        i = self.make(op, mods, guard)
        self.put(a)
        return i

    def make2(self, op: i64, a: i64, b: i64, mods: i64 = 0, guard: i64 = 0) -> i64:
        """An instruction with two operands."""
        i = self.make(op, mods, guard)
        self.put(a)
        self.put(b)
        return i

    def make4(self, op: i64, a: i64, b: i64, c: i64, d: i64, mods: i64 = 0, guard: i64 = 0) -> i64:
        """An instruction with four operands."""
        i = self.make(op, mods, guard)
        self.put(a)
        self.put(b)
        self.put(c)
        self.put(d)
        return i

    def rewrite(self, i: i64, op: i64, mods: i64, count: i64) -> None:
        """Make another operation of an instruction, with ``count`` operands; those that it has keep their places."""
        f = self.f
        f.code_epoch += 1
        f.op[i] = op
        f.mods[i] = mods
        if count > f.room[i]:
            first: i64 = len(f.operand)
            at: i64 = 0
            while at < count:
                f.operand = append(f.operand, f.operand[f.first[i] + at] if at < f.count[i] else opd.NO_OPERAND)
                at += 1
            f.first[i] = first
            f.room[i] = count
        at = f.count[i]
        while at < count:
            f.operand[f.first[i] + at] = opd.NO_OPERAND
            at += 1
        f.count[i] = count

    def clone(self, i: i64) -> i64:
        """Put a copy of an instruction in front of the cursor: operation, modifiers, operands and marks, no guard."""
        f = self.f
        made = self.make(f.op[i], f.mods[i])
        at: i64 = 0
        while at < f.count[i]:
            self.put(f.operand[f.first[i] + at])
            at += 1
        f.aux[made] = f.aux[i]
        return made

    def empty(self, block: i64) -> i64:
        """Take all instructions out of a block; returns the first of their list. :meth:`link` puts them back, one by one."""
        f = self.f
        f.code_epoch += 1
        first = f.head[block]
        f.head[block] = NONE
        f.tail[block] = NONE
        return first

    def link(self, i: i64) -> None:
        """Put an instruction that is in no block in front of the cursor."""
        f = self.f
        f.code_epoch += 1
        behind = self.before
        front = f.tail[self.block] if behind == NONE else f.prev[behind]
        f.block[i] = self.block
        f.prev[i] = front
        f.next[i] = behind
        if front == NONE:
            f.head[self.block] = i
        else:
            f.next[front] = i
        if behind == NONE:
            f.tail[self.block] = i
        else:
            f.prev[behind] = i

    def remove(self, i: i64) -> None:
        """Take an instruction out of its block; its number is not used again."""
        f = self.f
        f.code_epoch += 1
        block = f.block[i]
        front = f.prev[i]
        behind = f.next[i]
        if front == NONE:
            f.head[block] = behind
        else:
            f.next[front] = behind
        if behind == NONE:
            f.tail[block] = front
        else:
            f.prev[behind] = front
        if self.before == i:
            self.before = behind
        f.block[i] = NONE
        f.prev[i] = NONE
        f.next[i] = NONE

    # -- blocks ------------------------------------------------------------------------------------------

    def new_block(self, label: str = "") -> i64:
        """Append an empty block without edges; returns its number."""
        f = self.f
        f.head = append(f.head, NONE)
        f.tail = append(f.tail, NONE)
        f.flags = append(f.flags, 0)
        f.succ_first = append(f.succ_first, len(f.succ))
        f.succ_count = append(f.succ_count, 0)
        f.labels.append(label)
        f.flow_epoch += 1
        return len(f.head) - 1

    def split_behind(self, i: i64) -> i64:
        """Move what follows an instruction into a new block at the end of the list; edges are left to the caller."""
        f = self.f
        block = f.block[i]
        rest = self.new_block()
        following = f.next[i]
        if following != NONE:
            f.head[rest] = following
            f.tail[rest] = f.tail[block]
            f.prev[following] = NONE
            f.next[i] = NONE
            f.tail[block] = i
            self._adopt(rest, following)
        return rest

    def append_block(self, into: i64, other: i64) -> None:
        """Move all instructions of block ``other`` to the end of block ``into``."""
        f = self.f
        head = f.head[other]
        if head == NONE:
            return
        tail = f.tail[into]
        if tail == NONE:
            f.head[into] = head
        else:
            f.next[tail] = head
            f.prev[head] = tail
        f.tail[into] = f.tail[other]
        f.head[other] = NONE
        f.tail[other] = NONE
        self._adopt(into, head)

    def _adopt(self, block: i64, i: i64) -> None:
        f = self.f
        f.code_epoch += 1
        while i != NONE:
            f.block[i] = block
            i = f.next[i]

    def begin_edges(self) -> None:
        """Forget all edges; :meth:`edge` makes new ones, block after block."""
        f = self.f
        f.succ = vec[i64]()
        f.flow_epoch += 1
        b: i64 = 0
        while b < f.blocks():
            f.succ_count[b] = 0
            b += 1

    def edge(self, b: i64, target: i64) -> None:
        """Give a block one more successor unless it has it; the block is the one that got the last edge, or has none."""
        f = self.f
        if f.goes_to(b, target):
            return
        if f.succ_count[b] == 0:
            f.succ_first[b] = len(f.succ)
        elif f.succ_first[b] + f.succ_count[b] != len(f.succ):
            raise IndexError("the edges of a block are made one after another")
        f.succ = append(f.succ, target)
        f.flow_epoch += 1
        f.succ_count[b] += 1

    def reorder(self, order: vec[i64]) -> None:
        """Make ``order`` the list of blocks: new numbers in edges, label operands and jump tables.

        Blocks that are left out are dropped; nothing may refer to them any more.
        """
        f = self.f
        count: i64 = len(order)
        place_of = _places(order, f.blocks())
        if count == f.blocks() and _is_identity(order):
            return
        f.flow_epoch += 1
        f.code_epoch += 1
        head, tail, flags, first, number = f.head, f.tail, f.flags, f.succ_first, f.succ_count
        labels = f.labels
        f.head, f.tail, f.flags, f.succ_first, f.succ_count = vec[i64](), vec[i64](), vec[i64](), vec[i64](), vec[i64]()
        f.labels = []
        place: i64 = 0
        while place < count:
            b = order[place]
            f.head = append(f.head, head[b])
            f.tail = append(f.tail, tail[b])
            f.flags = append(f.flags, flags[b])
            f.succ_first = append(f.succ_first, first[b])
            f.succ_count = append(f.succ_count, number[b])
            f.labels.append(labels[b])
            at = first[b]
            while at < first[b] + number[b]:
                f.succ[at] = place_of[f.succ[at]]
                at += 1
            self._renumber(place, place_of)
            place += 1
        for table in f.attributes.jump_tables:
            known = all(place_of[target] != NONE for target in table.targets)  # not so when its branch was unreachable
            table.targets = [place_of[target] for target in table.targets] if known else []

    def _renumber(self, block: i64, place_of: vec[i64]) -> None:
        f = self.f
        i = f.head[block]
        while i != NONE:
            f.block[i] = block
            at = OPS.label[f.op[i]]
            while 0 <= at < f.count[i]:
                operand = f.get(i, at)
                if operand & opd.TYPE == opd.IS_LABEL:
                    f.set(i, at, opd.label(place_of[operand & opd.INDEX]))
                at = at + OPS.repeats[f.op[i]] if OPS.repeats[f.op[i]] else -1
            i = f.next[i]


def _places(order: vec[i64], count: i64) -> vec[i64]:
    out = vec[i64]()
    b: i64 = 0
    while b < count:
        out = append(out, NONE)
        b += 1
    place: i64 = 0
    while place < len(order):
        out[order[place]] = place
        place += 1
    return out


def _is_identity(order: vec[i64]) -> bool:
    place: i64 = 0
    while place < len(order):
        if order[place] != place:
            return False
        place += 1
    return True
