"""Registers of products of warp groups that are under way: nothing else may have them until a wait is over that ends them.

Marks behind waits, and where a thread ends, read them; they are taken away behind allocation. They have no place in memory, which
would have to be filled before they are there. An arrival waits for what products behind it read. Source: this project.
"""

from __future__ import annotations

from mypy_extensions import i64
from oric_tables.op import NOP, WARPGROUP, WARPGROUP_DEPBAR, YIELD

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function, control_flow
from oric.ir.optable import CALL_READS
from oric.ir.warpgroup import ADDEND, PRODUCTS, RESULT, Flight, flights, fragments, has_products, leaves, left_by

from .spill import SPILLED


def hold(f: Function) -> list[int]:
    """Place the marks."""
    if not has_products(f):
        return []
    marks: list[int] = []
    cursor = Cursor(f)
    for b, entry in enumerate(flights(f)):
        state = entry.copy()
        i: i64 = f.head[b]
        while i != NONE:
            over: list[int] = []
            following = f.next[i]
            if f.op[i] == WARPGROUP_DEPBAR:
                over = state.wait(left_by(f, i))
                cursor.behind(i)
            else:
                if leaves(f, i):
                    over = state.all()
                    cursor.in_front(i)
                state.step(f, i)
            for first in range(0, len(over), CALL_READS):
                marks.append(int(cursor.make1(YIELD, opd.PT_OPERAND)))
                for register in over[first : first + CALL_READS]:
                    cursor.put(opd.reg(register, 0, f.reg_size[register]))
            if int(f.op[i]) in PRODUCTS:
                _pin(f, i)
            i = following
    _wait_at_arrivals(f, cursor)
    return marks


def release(f: Function, marks: list[int]) -> None:
    """Take the marks away."""
    cursor = Cursor(f)
    for i in marks:
        cursor.behind(i)
        cursor.remove(i)


def _pin(f: Function, i: i64) -> None:
    """No register of a product waits in memory."""
    state = Flight()
    state.begin(f, i)
    for register in state.all():
        f.reg_flags[register] |= SPILLED


def _wait_at_arrivals(f: Function, cursor: Cursor) -> None:
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            if f.op[i] == WARPGROUP and not f.count[i]:
                wanted = _wanted_behind(f, i)
                if len(wanted) > CALL_READS:
                    cursor.in_front(i)
                    cursor.make(NOP)
                elif wanted:
                    cursor.rewrite(i, WARPGROUP, f.mods[i], len(wanted))
                    for at, register in enumerate(wanted):
                        f.set(i, at, opd.reg(register, 0, f.reg_size[register]))
            i = f.next[i]
        b += 1


def _wanted_behind(f: Function, arrival: i64) -> list[int]:
    """The registers that products behind an arrival read before one of them writes all of it, up to the next arrival."""
    graph = control_flow(f)
    found: set[int] = set()
    seen: set[int] = set()
    work: list[tuple[int, int]] = [(int(f.block[arrival]), int(f.next[arrival]))]
    while work:
        b, at = work.pop()
        made: set[int] = set()
        i: i64 = at
        while i != NONE and f.op[i] != WARPGROUP:
            if int(f.op[i]) in PRODUCTS:
                addend = f.get(i, ADDEND)
                read = fragments(f, i)
                if opd.is_register(addend):
                    read.append(int(addend & opd.INDEX))
                found.update(r for r in read if r not in made)
                result = f.get(i, RESULT)
                if opd.is_register(result):
                    made.add(int(result & opd.INDEX))
            i = f.next[i]
        if i != NONE or made:
            continue
        e: i64 = graph.succ_start[b]
        while e < graph.succ_start[b + 1]:
            after = int(graph.succ[e])
            if after not in seen:
                seen.add(after)
                work.append((after, int(f.head[after])))
            e += 1
    return sorted(found)
