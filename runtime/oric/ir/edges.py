"""Edges of the control-flow graph as the instructions say.

Source: PTX-to-Ori, "Phase 3: AnalyzeControlFlow".
"""

from __future__ import annotations

from mypy_extensions import i64

from . import operand as opd
from .cursor import Cursor
from .function import NONE, Function
from .optable import BRANCH, EXIT, INDIRECT, OPS, RETURN


def is_conditional(f: Function, i: i64) -> bool:
    """Whether control may go on behind a branch or exit."""
    guard = f.guard[i]
    if guard and guard != opd.PT_OPERAND:
        return True
    return not OPS.flags[f.op[i]] & (INDIRECT | RETURN) and has_register(f, i)


def has_register(f: Function, i: i64) -> bool:
    """Whether an instruction has a register other than PT among its operands: a branch then depends on more than its guard."""
    at: i64 = 0
    while at < f.count[i]:
        operand = f.get(i, at)
        if operand & opd.TYPE == opd.IS_REG and operand != opd.PT_OPERAND:
            return True
        at += 1
    return False


def target_of(f: Function, i: i64) -> i64:
    """The block that a direct branch names; ``NONE`` when it names none."""
    at = OPS.label[f.op[i]]
    if 0 <= at < f.count[i]:
        operand = f.get(i, at)
        if operand & opd.TYPE == opd.IS_LABEL:
            return operand & opd.INDEX
    return NONE


def set_target(f: Function, i: i64, target: i64) -> None:
    """Let a direct branch go to another block."""
    f.set(i, OPS.label[f.op[i]], opd.label(target))


def make_edges(f: Function) -> None:
    """Make the edges of all blocks from their control-flow instructions, the fall-through one last."""
    cursor = Cursor(f)
    cursor.begin_edges()
    b: i64 = 0
    while b < f.blocks():
        _edges_of_block(f, cursor, b)
        b += 1


def _edges_of_block(f: Function, cursor: Cursor, b: i64) -> None:
    i = f.tail[b]
    if i == NONE or not OPS.flags[f.op[i]] & (BRANCH | EXIT):  # the usual case: control flow is last or absent
        i = f.head[b]
    found: list[int] = []
    falls = True
    while i != NONE and falls:
        flags = OPS.flags[f.op[i]]
        if flags & INDIRECT:
            found.extend(f.attributes.jump_tables[f.aux[i]].targets)
        elif flags & BRANCH:
            found.append(target_of(f, i))
        if flags & (BRANCH | EXIT) and not is_conditional(f, i):
            falls = False
        i = f.next[i]
    for target in found:
        if not (falls and target == b + 1):
            cursor.edge(b, target)
    if falls:
        cursor.edge(b, b + 1)
