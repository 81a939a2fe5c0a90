"""Uniform registers that do not fit wait in general ones: ``MOV r, ur`` behind each write, ``R2UR ur', r`` in front of each read.

Uniform registers keep their values over whole stretches of code (``alloc/spans.h``), so what is named again last goes first.
A word of a constant bank that cannot stay where other code may run meanwhile is read there once more instead; in loops not by
LDCU, for which the reader waits. Source: observed (R2UR and its counterpart; ULDC behind each place where threads wait, and R2UR
where LDCU would be); the documents know uniform registers only as a file of the allocator.
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64
from oric_tables._native import lib
from oric_tables.op import BMOV_B, BMOV_R, BREAK, BSSY, MOV, R2UR, YIELD
from oric_tables.ori_operands import KIND_SPILL_REFILL

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import NONE, Function, R, control_flow
from oric.ir.machine import MachineFunction
from oric.ir.optable import BARRIER, CALL, CONSTANT, CONTROL, CONVERGENCE, LOAD, MEMORY, OPS, PINNED, SPECIAL, WARP

from .homes import Spiller, choose

_GO_ON: Final = frozenset((BMOV_B, BMOV_R, BREAK, BSSY))  # of what is on barriers: nobody waits
_WAITS: Final = BARRIER | CALL | CONVERGENCE
_EFFECTS: Final = MEMORY | PINNED | WARP | CONTROL | SPECIAL


def may_wait(f: Function, i: i64) -> bool:
    """Whether other threads of the warp may run other code at an instruction, which writes uniform registers."""
    return f.op[i] == YIELD or (OPS.flags[f.op[i]] & _WAITS != 0 and f.op[i] not in _GO_ON)


def choose_uniforms(f: Function, view: MachineFunction, limit: int) -> list[int]:
    """The uniform registers to be kept in general ones so that no more than ``limit`` words are in their file at any point.

    Those of earlier spills stay. ``view``: the function as it stands, in its own order.
    """
    return choose(f, view, lambda fn, stays, chosen: int(lib.oric_uniform_choose(fn, stays, limit, chosen)))


def spill_uniforms(f: Function, victims: list[int]) -> None:
    """Move uniform registers into general ones; no view of the function may be held."""
    _UniformSpiller(f, {n: [f.new_reg(R) for _ in range(f.reg_size[n])] for n in victims}).rewrite_all()


@final
class _UniformSpiller(Spiller):
    def load(self, short: i64, home: i64) -> None:
        self.f.attributes.marks[self.cursor.make2(R2UR, short, home)] = KIND_SPILL_REFILL

    def keep(self, short: i64, home: i64) -> None:
        self.f.attributes.marks[self.cursor.make2(MOV, home, short)] = KIND_SPILL_REFILL


def make_again(f: Function, registers: list[int]) -> list[int]:
    """Make uniform registers once more in each stretch of code that reads them; returns those for which that cannot be done.

    A stretch ends with its block and where threads may wait. One instruction makes such a register, of constants alone; where
    that is a load, for which the reader waits, nobody in a loop reads the register.
    """
    makers = _constant_makers(f, registers)
    cursor = Cursor(f)
    b: i64 = 0
    while makers and b < f.blocks():
        short: dict[int, int] = {}  # register -> the one that stands for it in this stretch
        i = f.head[b]
        while i != NONE:
            following = f.next[i]
            _read_short(f, cursor, i, makers, short)
            if may_wait(f, i):
                short.clear()
            i = following
        b += 1
    for i in makers.values():
        cursor.remove(i)
    return [n for n in registers if n not in makers]


def _read_short(f: Function, cursor: Cursor, i: i64, makers: dict[int, int], short: dict[int, int]) -> None:
    """Let an instruction read the registers of its stretch, which are made in front of it when it is the first one."""
    at: i64 = 0
    while at < f.count[i]:
        operand = f.get(i, at)
        n = int(operand & opd.INDEX)
        if opd.is_register(operand) and n in makers and not OPS.writes_at(f.op[i], at):
            if n not in short:
                short[n] = f.new_reg(f.reg_type[n], f.reg_size[n])
                cursor.in_front(i)
                made = cursor.clone(makers[n])
                f.set(made, 0, opd.with_index(f.get(made, 0), short[n]))
            f.set(i, at, opd.with_index(operand, short[n]))
        at += 1


def _constant_makers(f: Function, registers: list[int]) -> dict[int, int]:
    """Register -> the only instruction that writes it, all of it and of nothing that changes."""
    wanted = set(registers)
    writers: dict[int, list[int]] = {}
    repeated: set[int] = set()  # registers that are read in loops
    loops = control_flow(f).loops()
    b: i64 = 0
    while b < f.blocks():
        in_loop = loops.irreducible or loops.depth[b] > 0
        i = f.head[b]
        while i != NONE:
            at: i64 = 0
            while at < f.count[i]:
                operand = f.get(i, at)
                n = int(operand & opd.INDEX)
                if opd.is_register(operand) and n in wanted:
                    if OPS.writes_at(f.op[i], at):
                        writers.setdefault(n, []).append(int(i))
                    elif in_loop:
                        repeated.add(n)
                at += 1
            i = f.next[i]
        b += 1
    found = {n: writers[n][0] for n in registers if len(writers.get(n, ())) == 1}
    return {n: i for n, i in found.items() if _is_constant(f, n, i) and not (OPS.flags[f.op[i]] & LOAD and n in repeated)}


def _is_constant(f: Function, n: int, i: i64) -> bool:
    """Whether an instruction makes all of a register of what does not change."""
    flags = OPS.flags[f.op[i]]
    dest = f.get(i, 0)
    if (flags & ~LOAD if flags & CONSTANT else flags) & _EFFECTS or f.guard[i]:
        return False
    if dest & opd.INDEX != n or opd.count_of(dest) != f.reg_size[n]:
        return False
    at: i64 = 1
    while at < f.count[i]:
        if opd.is_register(f.get(i, at)) or f.get(i, at) & opd.TYPE == opd.IS_SPECIAL:
            return False
        at += 1
    return True
