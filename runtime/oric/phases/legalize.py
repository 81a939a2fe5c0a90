"""Phase 132 and the contract behind phase 13: operations are the target's, or macros whose expansion is still to come.

What should not be there, by a mistake in a rule or a pass, ends here, with its place. Source: PTX-to-Ori lowering, "Timing
Boundary", "Error Detection During Lowering". Phase 5, which converts operations, is :mod:`oric.lower.convert`.
"""

from __future__ import annotations

from oric.ir.function import Function
from oric.ir.passes import PassContext
from oric.ir.standing import check_operations
from oric.ir.verify import verify_flow
from oric.support.diagnostics import InternalError


def check_ready(f: Function, ctx: PassContext) -> bool:
    """Behind phase 13: control flow complete and last in its blocks, operations of the target. (Phase 12 has verified the rest.)

    Raises:
        MalformedCode: the edges are not those of the code.
        InternalError: see :func:`oric.ir.standing.check_operations`, or control flow is not complete.
    """
    if not f.final_flow:
        raise InternalError(f"the control flow of '{f.name}' is not complete")
    verify_flow(f, "the early optimizer")
    check_operations(f, ctx, f.expanded)
    return False


def update_after_conversion(f: Function, ctx: PassContext) -> bool:
    """Phase 132: the same behind all phases that change code, when no macro operation is left.

    Raises:
        InternalError: see :func:`oric.ir.standing.check_operations`.
    """
    check_operations(f, ctx, f.expanded)
    return False
