"""MovPhi: what merges the values of the ways into a block, while a function is in partial SSA form.

``MovPhi R3, R7, bix1, R9, bix2``: a thread that comes from bix1 has R7 in R3 behind it, one that comes from bix2 has R9. Those of
a block stand in front of everything else in it and are done at once, on the way into the block: what they read is read at the
ends of the blocks before. Source: Ori IR, "MovPhi Instruction Format".
"""

from __future__ import annotations

from mypy_extensions import i64
from oric_tables.op import MOV, MovPhi

from oric.support.arrays import zeros

from . import operand as opd
from .cursor import Cursor
from .function import NONE, Function, R
from .optable import written_registers


def phis_of(f: Function, b: i64) -> list[int]:
    """The phis of a block in order."""
    out: list[int] = []
    i = f.head[b]
    while i != NONE and f.op[i] == MovPhi:
        out.append(i)
        i = f.next[i]
    return out


def all_phis(f: Function) -> dict[int, list[int]]:
    """The phis of a function by their blocks, in order."""
    found: dict[int, list[int]] = {}
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        if i != NONE and f.op[i] == MovPhi:
            found[b] = phis_of(f, b)
        b += 1
    return found


def place_of(f: Function, i: i64, block: i64) -> i64:
    """The place of the value that a phi has for a way from a block, -1 when it has none."""
    at: i64 = 1
    label = opd.label(block)
    while at + 1 < f.count[i]:
        if f.get(i, at + 1) == label:
            return at
        at += 2
    return -1


def value_from(f: Function, i: i64, block: i64) -> i64:
    """What a phi gives a thread that comes from a block; 0 when none does."""
    at = place_of(f, i, block)
    return f.get(i, at) if at >= 0 else 0


def add(cursor: Cursor, i: i64, value: i64, block: i64) -> None:
    """Give a phi one more way."""
    f = cursor.f
    count = f.count[i]
    cursor.rewrite(i, MovPhi, 0, count + 2)
    f.set(i, count, value)
    f.set(i, count + 1, opd.label(block))


def drop(cursor: Cursor, i: i64, at: i64) -> None:
    """Take the way away whose value stands at a place."""
    f = cursor.f
    while at + 2 < f.count[i]:
        f.set(i, at, f.get(i, at + 2))
        at += 1
    cursor.rewrite(i, MovPhi, 0, f.count[i] - 2)


def renamed(f: Function, phis: list[int], old: i64, new: i64) -> None:
    """Threads come to phis from block ``new`` that came from ``old``."""
    for i in phis:
        at = place_of(f, i, old)
        if at >= 0:
            f.set(i, at + 1, opd.label(new))


def drop_lost(f: Function) -> None:
    """Take the ways away that are no edges any more."""
    cursor = Cursor(f)
    for b, phis in all_phis(f).items():
        for i in phis:
            at = f.count[i] - 2
            while at > 0:
                source = f.get(i, at + 1) & opd.INDEX
                if not f.goes_to(source, b):
                    drop(cursor, i, at)
                at -= 2


def move_words(cursor: Cursor, moves: list[tuple[int, int]]) -> None:
    """Put copies in front of the cursor that are as if done at once; the destinations are registers, each once."""
    f = cursor.f
    words: list[tuple[int, int]] = []
    for dest, source in moves:
        at: i64 = 0
        while at < opd.count_of(dest):
            one = opd.word(dest, at)
            other = opd.word(source, at) if opd.is_register(source) else source
            if one != other:
                words.append((int(one), int(other)))
            at += 1
    readers: dict[int, int] = {}
    for _, source in words:
        readers[source] = readers.get(source, 0) + 1
    while words:
        ready = [move for move in words if not readers.get(move[0])]
        if ready:
            for dest, source in ready:
                cursor.make2(MOV, dest, source)
                readers[source] -= 1
            words = [move for move in words if move not in ready]
            continue
        dest, _ = words[0]  # the rest are rings: one value waits elsewhere
        kept = int(opd.reg(f.new_reg(R)))
        cursor.make2(MOV, kept, dest)
        words = [(d, kept if s == dest else s) for d, s in words]
        readers[kept] = readers.pop(dest)


def become_moves(cursor: Cursor, b: i64, source: i64) -> None:
    """Make copies of the phis of a block that is come to from one block alone."""
    f = cursor.f
    phis = phis_of(f, b)
    moves = [(int(f.get(i, 0)), int(value_from(f, i, source))) for i in phis]
    for i in phis:
        cursor.remove(i)
    cursor.at_start(b)
    cursor.line = f.line[f.head[b]] if f.head[b] != NONE else 0
    move_words(cursor, moves)


def leave_several(f: Function) -> None:
    """Registers that templates write at several places leave partial SSA form."""
    if not f.window:
        return
    for register in several(f):
        f.window.discard(register)


def several(f: Function) -> list[int]:
    """The registers of partial SSA form of which a word is written at several places, in order."""
    written = zeros(f.words)
    found: dict[int, int] = {}
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            for operand in written_registers(f, i):
                word = f.words_of(operand)
                end = word + opd.count_of(operand)
                while word < end:
                    if written[word] and int(operand & opd.INDEX) in f.window:
                        found[int(operand & opd.INDEX)] = 1
                    written[word] = 1
                    word += 1
            i = f.next[i]
        b += 1
    return sorted(found)
