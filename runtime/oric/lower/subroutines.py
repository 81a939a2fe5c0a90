"""Code that a kernel has once and calls, in place of many copies: divisions of 64 bits, slow paths of divisions and reciprocals.

``shared`` of ``spec/macros.yaml`` says what may be shared, and which registers such code changes. Source: observed (ptxas 13.0.88
has the same code behind each kernel, ``$__internal_0_$__cuda_sm20_div_rn_f64_full``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mypy_extensions import i64
from oric_tables import knobs
from oric_tables.macros import SHARED
from oric_tables.op import ARG_IN, ARG_OUT, CALL_SHARED, CALL_SHARED64, RETURN

from oric.ir import operand as opd
from oric.ir.calls import SHARED_NUMBER, STACK_POINTER, shared_callee
from oric.ir.cursor import Cursor
from oric.ir.edges import make_edges
from oric.ir.function import NONE, Function, R
from oric.ir.optable import OPS
from oric.ir.passes import PassContext
from oric.ir.worklist import Worklist

if TYPE_CHECKING:
    from oric_tables.targets import Target


def share(f: Function, ctx: PassContext, waiting: Worklist) -> None:
    """Make calls of the macros of a kernel that stand in it often enough; they are no longer among those that wait.

    Kernels alone have such code, not functions nor objects, and only where registers are not scarce.
    """
    limit = f.attributes.register_limit(ctx.target, ctx.maxrregcount or 0)
    if not f.is_entry or ctx.module.separate or limit < f.knobs.numbers[knobs.SHARED_ROOM]:
        return
    counts: dict[int, int] = {}
    i = waiting.next()
    while i != NONE:
        if f.op[i] in SHARED and not f.guard[i]:
            counts[f.op[i]] = counts.get(f.op[i], 0) + 1
        i = waiting.next()
    waiting.rewind()
    often = [op for op, count in counts.items() if count >= f.knobs.numbers[knobs.SHARED_COPIES]]
    if not often:
        return
    f.shared_code += [op for op in often if op not in f.shared_code]
    cursor = Cursor(f)
    i = waiting.next()
    while i != NONE:
        if f.op[i] in often and not f.guard[i]:
            _call(f, cursor, i)
        i = waiting.next()
    waiting.rewind()


def _call(f: Function, cursor: Cursor, i: i64) -> None:
    op: int = f.op[i]
    words = SHARED[op][3]
    sources = f.count[i] - 1
    cursor.rewrite(i, CALL_SHARED if words == 1 else CALL_SHARED64, 0, SHARED_NUMBER + 1)
    if sources == 1:
        f.set(i, 2, opd.RZ_OPERAND)
    f.set(i, SHARED_NUMBER, f.imm(op))


def subroutine(op: int, number: int, target: Target) -> Function:
    """The code that kernels call in place of a macro, as phase 1 would leave it; ``number``: of the kernel's."""
    name, end, _, words = SHARED[op]
    f = Function(f"$__internal_{number}_${name}", target.name, is_entry=False)
    f.callee = shared_callee(op)
    f.subroutine = True
    f.attributes.maxnreg = end + target.reserved_regs
    cursor = Cursor(f)
    cursor.at_end(cursor.new_block())
    f.sp = opd.reg(f.new_reg(R))
    _word(f, cursor, ARG_IN, f.sp, STACK_POINTER)
    operands = [opd.reg(f.new_reg(R, words), 0, words) for _ in range(OPS.slots[op])]
    for n, source in enumerate(operands[1:]):
        for k in range(words):
            _word(f, cursor, ARG_IN, opd.word(source, k), n * words + k)
    cursor.make(op)
    for operand in operands:
        cursor.put(operand)
    for k in range(words):
        _word(f, cursor, ARG_OUT, opd.word(operands[0], k), k)
    cursor.make(RETURN)
    f.given, f.returned = words * (len(operands) - 1), words
    make_edges(f)
    return f


def _word(f: Function, cursor: Cursor, op: i64, operand: i64, word: int) -> None:
    made = cursor.make1(op, operand)
    f.aux[made] = word
