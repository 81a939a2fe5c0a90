"""Behind allocation: the frame of a function. What it has to keep is saved, the stack pointer moves at calls.

Where somebody unwinds frames, each instruction that changes what he has to know says so (``Function.frame_moves``).
Source: ``convention`` of ``spec/registers.yaml``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mypy_extensions import i64
from oric_tables import registers
from oric_tables.op import IADD3, LDL, STL
from oric_tables.ori_operands import KIND_SPILL_REFILL

from oric.ir import operand as opd
from oric.ir.calls import CALLER_ALIGN, CFA, LEFT, RESTORED, SAVED, WORD, FrameMove
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, UP, UR, Function, P, R
from oric.ir.optable import CALL, OPS
from oric.ir.optable import RETURN as RETURNS

from .convention import FRAME_ALIGN, GENERAL_USED, LATER
from .spill import size_mods

if TYPE_CHECKING:
    from oric_tables.targets import Target

_UNTOUCHED: Final = registers.UNTOUCHED_UNIFORM


def finish_frame(f: Function, target: Target, debugger: bool = False) -> None:
    """Behind allocation: save what a function has to keep, move the stack pointer at calls, place arguments on the stack.

    ``debugger``: who unwinds frames finds return addresses in memory.
    """
    facts = f.attributes
    facts.num_regs = max(facts.num_regs, GENERAL_USED)
    facts.num_uregs = max(facts.num_uregs, _own_uniforms(f))
    cursor = Cursor(f)
    saved = [] if f.is_entry or f.subroutine else _written(f)
    if debugger and f.kept and not f.is_entry:
        saved += [registers.RETURN_ADDRESS, registers.RETURN_ADDRESS + 1]
    for i in (*f.marks, *f.watching):
        cursor.behind(i)
        cursor.remove(i)
    top = max(facts.frame_size, facts.local_size) + (CALLER_ALIGN if f.realigned != NONE else 0)
    slots = {number: top + WORD * (n + 1) for n, number in enumerate(saved)}
    outgoing = max((offset + WORD for _, offset in f.outgoing), default=0)
    for place in f.below_free:
        f.immediates[place] = -outgoing
    facts.frame_size = -(-(top + WORD * len(saved) + outgoing) // FRAME_ALIGN) * FRAME_ALIGN
    for place, offset in f.outgoing:
        if not f.below_free:
            f.immediates[place] = offset - facts.frame_size
    for low, high, own in f.stack_moves:
        source = f.get(high, 1)
        if int(source & opd.INDEX) == own:  # else it waits in memory, and nobody finds the frame
            f.frame_moves.append(FrameMove(low, CFA, int(f.physical[own] + opd.first_of(source))))
            f.frame_moves.append(FrameMove(high, CFA, registers.STACK_REGISTER))
    if not f.is_entry:
        mark = f.head[0]
        cursor.behind(mark)
        cursor.remove(mark)
        cursor.at_start(0)
        _save(f, cursor, slots)
    general = _all_of(f, R, facts.num_regs)
    others: list[int] = [
        _all_of(f, P, facts.num_preds),
        _all_of(f, UR, facts.num_uregs),
        _all_of(f, UP, target.uniform_predicates),
    ]
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            following = f.next[i]
            if OPS.flags[f.op[i]] & RETURNS:
                _fill(f, i, [general, *others])
                cursor.in_front(i)
                _restore(f, cursor, slots)
                f.frame_moves.append(FrameMove(int(i), LEFT))
            elif OPS.flags[f.op[i]] & CALL and not f.kept[f.aux[i]].shared:
                _fill(f, i, [general])
                if facts.frame_size and not f.below_free:
                    cursor.in_front(i)
                    _add(f, cursor, -facts.frame_size)
                    cursor.behind(i)
                    _add(f, cursor, facts.frame_size)
            i = following
        b += 1


def settle_free_stack(f: Function) -> None:
    """Behind all that makes the frame: where free stack begins."""
    for place in f.below_frame:
        f.immediates[place] = -f.attributes.frame_size // FRAME_ALIGN * FRAME_ALIGN


def _own_uniforms(f: Function) -> int:
    """How many uniform registers a kernel takes for what lasts, which have their places from the start."""
    taken = (int(f.hint[n] + f.reg_size[n]) for n in range(f.registers()) if f.reg_type[n] == UR and f.hint[n] in _UNTOUCHED)
    return max(taken, default=0)


def _all_of(f: Function, kind: i64, count: int) -> i64:
    """All registers of a file that the function uses."""
    if not count:
        return opd.NO_OPERAND
    made = f.new_reg(kind, count)
    f.physical[made] = 0
    return opd.reg(made, 0, count)


def _fill(f: Function, i: i64, operands: list[int]) -> None:
    """Let other code write these: it goes on when nothing is left that reads them."""
    at: i64 = f.count[i] - len(LATER)
    for operand in operands:
        f.set(i, at, operand)
        at += 1


def _add(f: Function, cursor: Cursor, bytes_: int) -> None:
    made = cursor.make4(IADD3, f.sp, f.sp, f.imm(bytes_ & 0xFFFFFFFF), opd.RZ_OPERAND)
    f.frame_moves.append(FrameMove(int(made), CFA, registers.STACK_REGISTER, max(-bytes_, 0)))


def _save(f: Function, cursor: Cursor, slots: dict[int, int]) -> None:
    for number, home in slots.items():
        i = cursor.make(STL, size_mods(STL, 1))
        f.attributes.marks[i] = KIND_SPILL_REFILL
        cursor.put(f.sp)
        cursor.put(f.imm(-home))
        cursor.put(_hardware(f, number))
        f.attributes.spill_stores += WORD
        f.frame_moves.append(FrameMove(int(i), SAVED, number, home))


def _restore(f: Function, cursor: Cursor, slots: dict[int, int]) -> None:
    for number, home in slots.items():
        i = cursor.make(LDL, size_mods(LDL, 1))
        f.attributes.marks[i] = KIND_SPILL_REFILL
        cursor.put(_hardware(f, number))
        cursor.put(f.sp)
        cursor.put(f.imm(-home))
        f.attributes.spill_loads += WORD
        f.frame_moves.append(FrameMove(int(i), RESTORED, number))


def _hardware(f: Function, number: int) -> i64:
    """A register of the function that is a hardware register."""
    made = f.new_reg(R)
    f.physical[made] = number
    return opd.reg(made)


def _written(f: Function) -> list[int]:
    """The general registers that a function writes itself and has to keep, ascending."""
    found: set[int] = set()
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            at: i64 = 0
            while at < f.count[i] and at < OPS.slots[f.op[i]]:
                operand = f.get(i, at)
                if OPS.writes_at(f.op[i], at) and opd.is_register(operand) and f.physical[operand & opd.INDEX] >= 0:
                    if f.reg_type[operand & opd.INDEX] in _GENERAL:
                        first = f.physical[operand & opd.INDEX] + opd.first_of(operand)
                        found.update(range(first, first + opd.count_of(operand)))
                at += 1
            i = f.next[i]
        b += 1
    return sorted(found & registers.KEPT)


_GENERAL: Final = frozenset(number for number, letters in enumerate(registers.DISPLAY) if letters == "R")
