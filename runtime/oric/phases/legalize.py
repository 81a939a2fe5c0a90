"""Phases 5, 132 and the contract behind phase 13: operations are the target's, or macros whose expansion is still to come.

The lowering rules make operations of the target at once, so that there is nothing to convert; what should not be there all the
same, by a mistake in a rule or a pass, ends here, with its place. Source: PTX-to-Ori lowering, "Phase 5", "Timing Boundary",
"Error Detection During Lowering".
"""

from __future__ import annotations

from array import array
from typing import Final

from librt.vecs import vec
from mypy_extensions import i64
from oric_tables import op_tables, ops

from oric.ir.function import NONE, Function
from oric.ir.optable import OPS
from oric.ir.passes import PassContext
from oric.ir.text import format_instruction
from oric.ir.verify import verify
from oric.support.diagnostics import InternalError


def _models() -> vec[i64]:
    numbers = array(op_tables.ISAS[0])
    numbers.frombytes(op_tables.ISAS[1])
    return vec[i64](numbers.tolist())


_MODELS: Final = _models()


def convert_unsupported_ops(f: Function, ctx: PassContext) -> bool:
    """Phase 5.

    Raises:
        InternalError: an operation that the target does not have; the text names the instruction and its line.
    """
    _sweep(f, ctx, 0)
    return False


def check_ready(f: Function, ctx: PassContext) -> bool:
    """Behind phase 13: well formed, control flow complete and last in its blocks, operations of the target.

    Raises:
        MalformedCode: the function breaks a rule of Ori.
        InternalError: see :func:`convert_unsupported_ops`, or control flow is not complete.
    """
    if not f.final_flow:
        raise InternalError(f"the control flow of '{f.name}' is not complete")
    verify(f, "the early optimizer")
    _sweep(f, ctx, f.expanded)
    return False


def update_after_conversion(f: Function, ctx: PassContext) -> bool:
    """Phase 132: the same behind all phases that change code, when no macro operation is left.

    Raises:
        InternalError: see :func:`convert_unsupported_ops`.
    """
    _sweep(f, ctx, f.expanded)
    return False


def _sweep(f: Function, ctx: PassContext, expanded: i64) -> None:
    model: i64 = ctx.target.isa
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            number = f.op[i]
            known = 0 < number < len(_MODELS)
            if not known or not _stands(number, model, expanded):
                raise _stranger(f, ctx, i, known)
            i = f.next[i]
        b += 1


def _stands(number: i64, model: i64, expanded: i64) -> bool:
    """Whether an operation may be there."""
    phase = OPS.expansion[number]
    return phase > expanded if phase else _MODELS[number] >> model & 1 != 0


def _stranger(f: Function, ctx: PassContext, i: i64, known: bool) -> InternalError:
    """The error about an operation that the target does not have."""
    if not known:
        return InternalError(f"no operation has the number {f.op[i]:#x}, in line {f.line[i]} of the PTX")
    name = ops.op(f.op[i]).name
    return InternalError(f"{ctx.target.name} has no {name}: '{format_instruction(f, i)}' from line {f.line[i]} of the PTX")
