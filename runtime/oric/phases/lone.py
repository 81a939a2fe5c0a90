"""Phase 27: where one thread of a warp was elected and no other came along, a loop over threads has one round.

What units of the warp do for each thread is lowered to a loop that elects one of the threads that are there, until all have had
their turn. Behind a branch that only an elected thread takes there is no need for it. Source: observed (ptxas 13.0.88 has no such
loop behind ``elect.sync``).
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64
from oric_tables import ops
from oric_tables.op import BRA, ELECT, EXIT, ISETP, PLOP3

from oric.ir import operand as opd
from oric.ir.cfg import Cfg, Loops
from oric.ir.cursor import Cursor
from oric.ir.edges import make_edges
from oric.ir.function import NONE, Function, control_flow
from oric.ir.optable import OPS
from oric.ir.passes import PassContext
from oric.ir.phis import drop_lost

from .comparing import OTHER, is_joined_by_and

_AMONG: Final = 1  # places of the operands of an election: the threads that take part ...
_ELECTED: Final = 2  # ... and whether it is this one
# Rows of the truth table of a PLOP3 in which its sources (operands 1 to 3) are true.
_ROWS: Final = (0xF0, 0xCC, 0xAA)
_TABLE: Final = ops.op(PLOP3).mods["lut"]


def trust_elections(f: Function, ctx: PassContext) -> bool:
    """Take the loops away."""
    elections = _elections(f)
    if len(elections) < 2:
        return False
    lone = lone_blocks(f, _narrowed(f, elections))
    cursor = Cursor(f)
    settled = 0
    for predicate, i in elections.items():
        if lone[f.block[i]] and _trust(f, cursor, predicate, i):
            settled += 1
    if settled:
        f.merged = True
        make_edges(f)
        drop_lost(f)
    ctx.count("elections of threads that are alone", settled)
    return settled != 0


def _elections(f: Function) -> dict[int, int]:
    """The predicates that only an election among all threads writes, and which one."""
    found: dict[int, int] = {}
    for i in only_writers(f):
        if f.op[i] == ELECT and f.get(i, _AMONG) in (0, opd.NO_OPERAND, opd.PT_OPERAND):
            elected = f.get(i, _ELECTED)
            if opd.is_register(elected):
                found[int(elected & opd.INDEX)] = i
    return found


def only_writers(f: Function) -> list[int]:
    """The instructions without a guard that write a predicate which nothing else writes."""
    writers: dict[int, int] = {}  # predicate -> the instruction, NONE for several or one under a guard
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            at: i64 = 0
            while at < f.count[i]:
                operand = f.get(i, at)
                if opd.is_register(operand) and f.is_predicate(operand) and OPS.writes_at(f.op[i], at):
                    index = int(operand & opd.INDEX)
                    writers[index] = NONE if index in writers or f.guard[i] else int(i)
                at += 1
            i = f.next[i]
        b += 1
    return [i for i in writers.values() if i != NONE]


def _narrowed(f: Function, elections: dict[int, int]) -> dict[int, int]:
    """The same with predicates that are true only where one of them is, of which more has been asked."""
    found = dict(elections)
    combined = {int(f.get(i, 0) & opd.INDEX): _needs(f, i) for i in only_writers(f) if opd.is_register(f.get(i, 0))}
    more = True
    while more:
        more = False
        for predicate, needed in combined.items():
            if predicate not in found and any(n in found for n in needed):
                found[predicate] = next(found[n] for n in needed if n in found)
                more = True
    return found


def _needs(f: Function, i: int) -> list[int]:
    """Predicates without which an instruction that combines predicates does not make its first result true."""
    if f.op[i] == ISETP:
        other = f.get(i, OTHER)
        if not is_joined_by_and(f, i) or not opd.is_register(other) or other & opd.NEGATE:
            return []
        return [int(other & opd.INDEX)]
    if f.op[i] != PLOP3:
        return []
    table = f.mods[i] >> _TABLE.shift & _TABLE.mask
    found: list[int] = []
    for place, rows in enumerate(_ROWS, 1):
        operand = f.get(i, place)
        if opd.is_register(operand) and not table & (rows if operand & opd.NEGATE else ~rows):
            found.append(int(operand & opd.INDEX))
    return found


def truth(operand: i64) -> int:
    """A predicate operand as what :func:`lone_blocks` knows it by: the register, and whether it is inverted."""
    return int(operand & (opd.INDEX | opd.NEGATE))


def lone_blocks(f: Function, elections: dict[int, int]) -> list[bool]:
    """Which blocks only a thread reaches that was elected in front of them.

    ``elections``: what is true for one thread of a warp at most (:func:`truth`), and the instruction that says so.
    """
    graph = control_flow(f)
    before: list[list[int]] = [[] for _ in range(f.blocks())]
    for source in range(f.blocks()):
        e: i64 = graph.succ_start[source]
        while e < graph.succ_start[source + 1]:
            before[graph.succ[e]].append(source)
            e += 1
    loops = graph.loops()
    if loops.irreducible:
        return [False] * f.blocks()
    # Blocks behind branches that only elected threads take, with the loop of the branch or NONE.
    heads: list[tuple[int, int]] = []
    b: i64 = 0
    while b < f.blocks():
        head = _of_elected(f, loops, elections, b)
        if head != NONE and head != b and _enters_from(graph, before[head], head, int(b)):
            heads.append((head, int(loops.header[b])))
        b += 1
    # Behind a loop are the threads of all rounds, of which each has elected another.
    return [
        any(graph.dominates(head, block) and (loop < 0 or loops.contains(loop, block)) for head, loop in heads)
        for block in range(f.blocks())
    ]


def _of_elected(f: Function, loops: Loops, elections: dict[int, int], b: i64) -> int:
    """The block to which only an elected thread goes at the end of a block, ``NONE`` without one."""
    last = f.tail[b]
    if last == NONE or not f.guard[last]:
        return NONE
    taking = truth(f.guard[last])
    takes = taking in elections
    elected = taking if takes else truth(f.guard[last] ^ opd.NEGATE)
    if elected not in elections or not _is_within(loops, f.block[elections[elected]], b):
        return NONE
    if f.op[last] == EXIT and f.succ_count[b] == 1:
        return NONE if takes else int(f.successor(b, 0))
    if f.op[last] != BRA or f.succ_count[b] != 2:
        return NONE
    taken = int(f.get(last, 0) & opd.INDEX)
    falls = int(f.successor(b, 0)) if int(f.successor(b, 1)) == taken else int(f.successor(b, 1))
    return taken if takes else falls


def _is_within(loops: Loops, election: i64, b: i64) -> bool:
    """Whether a block is in all loops in which an election is: behind one are the threads of all its rounds."""
    inner = loops.header[election]
    return inner == NONE or loops.contains(inner, b)


def _enters_from(graph: Cfg, before: list[int], head: int, block: int) -> bool:
    """Whether a block is come to from another one and else only from where it has led."""
    return all(source == block or graph.dominates(head, source) for source in before)


def _trust(f: Function, cursor: Cursor, predicate: int, election: int) -> bool:
    """Take an election away whose outcome is read in its own block and nowhere else; returns whether it was so."""
    block = f.block[election]
    guarded: list[int] = []
    read: list[tuple[int, int]] = []  # instructions with the places of operands
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            if f.guard[i] and int(f.guard[i] & opd.INDEX) == predicate:
                if f.block[i] != block or (f.guard[i] & opd.NEGATE and f.op[i] != BRA):
                    return False
                guarded.append(int(i))
            at: i64 = 0
            while at < f.count[i]:
                operand = f.get(i, at)
                if i != election and opd.is_register(operand):
                    if int(operand & opd.INDEX) == predicate:
                        if f.block[i] != block:
                            return False
                        read.append((int(i), int(at)))
                    if operand == f.get(election, 0):
                        return False
                at += 1
            i = f.next[i]
        b += 1
    for i in guarded:
        if f.guard[i] & opd.NEGATE:
            cursor.remove(i)
        else:
            f.set_guard(i, 0)
    for i, at in read:
        f.set(i, at, opd.PT_OPERAND | f.get(i, at) & opd.NEGATE)
    cursor.remove(election)
    return True
