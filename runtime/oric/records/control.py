"""Sections about order: control bits, scoreboards, dependences, scopes of convergence, counters, blocks.

Source: Data structures, "Section Type Tag Catalog" (tags 55, 58, 68, 83, 88, 0x1210, 0x1217, 0x1221); what the elements of each
are is this project's.
"""

from __future__ import annotations

from typing import Final

from oric_tables import numbers as n

from oric.ir import operand as opd
from oric.ir.optable import BARRIER, BRANCH, LOAD, OPS, SLOTS, STORE

from .shown import Content, Shown, packed

# Kinds of dependences.
TRUE: Final = 0  # read behind a write
OUTPUT: Final = 1  # written behind a write
ANTI: Final = 2  # written behind a read
_MASK64: Final = (1 << 64) - 1


def _fields(control: int) -> tuple[int, int, int, int, int, int]:
    """Stall count, yield, the scoreboards of results and of operands, those waited for, and reuse."""
    return (
        control >> n.STALL_SHIFT & n.STALL_MASK,
        control >> n.YIELD_SHIFT & n.YIELD_MASK,
        control >> n.WRITE_BARRIER_SHIFT & n.WRITE_BARRIER_MASK,
        control >> n.READ_BARRIER_SHIFT & n.READ_BARRIER_MASK,
        control >> n.WAIT_SHIFT & n.WAIT_MASK,
        control >> n.CONTROL_BITS & 0xF,
    )


def is_scheduled(s: Shown) -> bool:
    """Whether any instruction has control bits."""
    return any(s.f.control[i] for i in s.view.order)


def barriers(s: Shown) -> Content:
    """Tag 55: instructions that set a scoreboard or wait for some."""
    rows = []
    for at, i in enumerate(s.view.order):
        control = int(s.f.control[i])
        stall, _, write, read, wait, _ = _fields(control)
        if control and (write != n.NO_SCOREBOARD or read != n.NO_SCOREBOARD or wait):
            rows.append((at, write, read, wait, stall))
    return packed("barriers", rows, n.SCOREBOARDS)


def schedule(s: Shown) -> Content:
    """Tag 88: the control bits of every instruction."""
    return packed("schedule", [(at, *_fields(int(s.f.control[i]))) for at, i in enumerate(s.view.order)])


def dependences(s: Shown) -> Content:
    """Tag 58: what stands before what within its block because of a register, the nearest only."""
    rows: set[tuple[int, int, int]] = set()
    for first, count in s.view.blocks:
        written: dict[int, int] = {}
        read: dict[int, list[int]] = {}
        for at in range(first, first + count):
            reads, writes = s.view.accesses[at]
            for word in reads:
                if word in written:
                    rows.add((written[word], at, TRUE))
                read.setdefault(word, []).append(at)
            for word in writes:
                if word in written:
                    rows.add((written[word], at, OUTPUT))
                rows.update((other, at, ANTI) for other in read.pop(word, ()) if other != at)
                written[word] = at
    return packed("dependences", sorted(rows))


def scopes(s: Shown) -> Content:
    """Tag 83: where each convergence barrier is first and last named, by its number in the code."""
    found: dict[int, tuple[int, int]] = {}
    for at, i in enumerate(s.view.order):
        for slot in range(min(int(s.f.count[i]), int(OPS.slots[s.f.op[i]]))):
            if OPS.kind[s.f.op[i] * SLOTS + slot] == n.K_BREG:
                barrier = int(s.f.get(i, slot) & opd.INDEX)
                found[barrier] = found.get(barrier, (at, at))[0], at
    return packed("scopes", [(barrier, *found[barrier]) for barrier in sorted(found)])


def counters(s: Shown) -> Content:
    """Tag 68: instructions, stall counts, and instructions that load, store, branch and wait for others."""
    flags = [int(OPS.flags[s.f.op[i]]) for i in s.view.order]
    stalls = sum(_fields(int(s.f.control[i]))[0] for i in s.view.order)
    counts = [sum(1 for flag in flags if flag & kind) for kind in (LOAD, STORE, BRANCH, BARRIER)]
    return packed("counters", [(len(flags), stalls, *counts)])


def blocks(s: Shown) -> Content:
    """Tag 0x1210: position and number of instructions of each block, words read and written there."""
    rows = []
    for b, (first, count) in enumerate(s.view.blocks):
        inside = s.view.accesses[first : first + count]
        rows.append((b, first, count, sum(len(reads) for reads, _ in inside), sum(len(writes) for _, writes in inside)))
    return packed("blocks", rows)


def scheduled(s: Shown) -> Content:
    """Tag 0x1217: 1 when the instructions have control bits."""
    return packed("scheduled", [(int(is_scheduled(s)),)])


def level(s: Shown) -> Content:
    """Tag 0x1221: the level of optimization."""
    return packed("level", [(s.level,)])
