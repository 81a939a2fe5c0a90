"""Distances and return addresses of calls and jumps by table, once it is known where the code of a kernel and its functions lies.

A call and a return say how far it is from the instruction behind them: to the function, or to the start of the code, from where
on return addresses and the addresses of functions count. Source: observed (ptxas 13.0.88).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from oric_tables.op import BRX, CALL_ABS, CALL_REL, CALL_REL_R, LEPC, RET

from oric.ir import operand as opd
from oric.ir.calls import FUNCTION_SLOT, INDIRECT, reached
from oric.ir.function import Function

if TYPE_CHECKING:
    from oric.ir.encoded import EncodedFunction

    from .encode import Emitted

_WORD_BYTES: Final = 16


def settle_calls(units: list[Function], emitted: list[Emitted]) -> None:
    """Put distances and return addresses into the immediates that calls and returns have for them, and the functions' places
    into the table of functions.

    ``units``: a kernel and its functions; ``emitted``: the same units with other immediates.
    """
    starts = {unit.callee: part.start for unit, part in zip(units, emitted, strict=True)}
    for unit, part in zip(units, emitted, strict=True):
        here: dict[int, int] = {}  # call of a function of the driver -> what its return address is told from
        for word, _, i in part.marks:
            behind = _WORD_BYTES * (word + 1)
            op = unit.op[i]
            if op == CALL_REL:
                call = unit.kept[unit.aux[i]]
                unit.immediates[call.back] = behind
                unit.immediates[unit.get(i, 0) & opd.INDEX] = starts[call.callee] - behind
            elif op == LEPC:
                here[unit.aux[i]] = behind if unit.count[i] > 1 else behind - _WORD_BYTES
            elif op == CALL_ABS:
                unit.immediates[unit.kept[unit.aux[i]].back] = behind - here[unit.aux[i]]
            elif op == CALL_REL_R:
                unit.immediates[unit.kept[unit.aux[i]].back] = behind
                unit.immediates[unit.get(i, 1) & opd.INDEX] = -behind
            elif op == RET:
                unit.immediates[unit.get(i, 1) & opd.INDEX] = -behind
    table = units[0].attributes.constant2
    for number, callee in enumerate(units[0].addressed):
        if callee in starts:
            struct.pack_into("<Q", table, FUNCTION_SLOT * (1 + number), starts[callee])


def settle_tables(units: list[Function], emitted: list[Emitted]) -> bool:
    """Put the distance from each jump by table to the start of the code into its immediate; returns whether there is one.

    ``units`` and ``emitted`` as above.
    """
    found = False
    for unit, part in zip(units, emitted, strict=True):
        for word, _, i in part.marks if unit.attributes.jump_tables else ():
            if unit.op[i] == BRX:
                unit.immediates[unit.get(i, 1) & opd.INDEX] = -_WORD_BYTES * (word + 1)
                found = True
    return found


def add_up(codes: list[Function], encoded: list[EncodedFunction]) -> None:
    """Tell kernels what the functions need that they may call and that are code of their own: registers, stack, barriers."""
    functions = {code.callee: (code, made) for code, made in zip(codes, encoded, strict=True) if not code.is_entry}
    calls = {code.callee: {call.callee for call in code.kept} for code, _ in functions.values()}
    calls[INDIRECT] = set(functions)
    for kernel, out in zip(codes, encoded, strict=True):
        if kernel.is_entry and kernel.kept:
            first = {call.callee for call in kernel.kept}
            below = first.union(*(reached(callee, calls) for callee in first if callee in calls))
            found = [functions[n] for n in sorted(below) if n in functions]
            kernel.attributes.take_needs([code.attributes for code, _ in found])
            out.num_regs = max([out.num_regs, *(made.num_regs for _, made in found)])
            out.stack = stack_of([kernel, *(code for code, _ in found)], list(functions))
            out.recursive = any(n in reached(n, calls) for n in below if n in functions)


def calls_of(units: list[Function], addressed: list[int]) -> dict[int, set[int]]:
    """What a kernel and its functions call: by unit, the functions here that it calls itself. ``addressed``: those that a call
    through a register may call."""
    here = {unit.callee for unit in units}
    return {
        unit.callee: {
            callee for call in unit.kept for callee in (addressed if call.callee == INDIRECT else [call.callee]) if callee in here
        }
        for unit in units
    }


def is_recursive(kernel: Function) -> bool:
    """Whether a kernel has functions that call themselves, by whatever way."""
    calls = calls_of([kernel, *kernel.functions], kernel.addressed)
    return any(unit.callee in reached(unit.callee, calls) for unit in kernel.functions)


def stack_of(units: list[Function], addressed: list[int]) -> int:
    """Bytes of the stack that a thread takes in a kernel and its functions, when each is active once at the most.

    ``addressed``: functions that a call through a register may call. How deep functions go that call themselves nobody knows.
    """
    by_callee = {unit.callee: unit for unit in units}
    calls = calls_of(units, addressed)
    below_of = {callee: reached(callee, calls) for callee in by_callee}
    deepest: dict[int, int] = {}

    def depth(callee: int) -> int:
        if callee not in deepest:
            group = {other for other in below_of[callee] if callee in below_of[other]} | {callee}
            below = {other for member in group for other in calls[member]} - group
            frames = sum(by_callee[member].attributes.frame_size for member in group)
            deepest.update(dict.fromkeys(group, frames + max((depth(other) for other in below), default=0)))
        return deepest[callee]

    return depth(units[0].callee)
