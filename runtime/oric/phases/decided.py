"""Branches and exits whose guards are known go one way: the other one is no way any more."""

from __future__ import annotations

from oric_tables.phases import CONTROL_FLOW, DOMINATORS, LOOPS

from oric.ir.function import Function
from oric.ir.register_changes import changes

from .flow import COND, COND_STOP, JUMP, STOP, Flow


def settle_branches(f: Function, decided: dict[int, bool]) -> bool:
    """Let blocks end as what is decided of their ends says (whether they are taken); returns whether it is done: not in
    code for a debugger, and not where warps change how many registers they have: a block has as many as there are at the worst of
    its places, and wide vectors in blocks of their own fit where they do not fit together.

    Blocks that nothing leads to are removed, and values that came from them; what joined is one value then, and blocks may be
    merged, so that another walk sees more.
    """
    if f.for_debugger or changes(f):
        return False
    flow = Flow(f)
    for b, taken in decided.items():
        kind = flow.kind[b]
        if kind == COND:
            flow.set_end(b, JUMP, -1, flow.target[b] if taken else flow.other[b], -1)
        elif kind == COND_STOP and taken:
            f.set_guard(flow.node[b], 0)
            flow.set_end(b, STOP, flow.node[b], -1, -1)
        elif kind == COND_STOP:
            flow.set_end(b, JUMP, -1, flow.other[b], -1)
    flow.drop_unreachable()
    flow.rebuild()
    f.analyses.forget(CONTROL_FLOW | DOMINATORS | LOOPS)
    f.merged = True
    return True
