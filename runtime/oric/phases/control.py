"""Phases on the shape of the control-flow graph.

Source: PTX-to-Ori, phases 0, 3, 6 and 12.
"""

from __future__ import annotations

from librt.vecs import append, vec
from mypy_extensions import i64

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.edges import make_edges
from oric.ir.function import NONE, Function
from oric.ir.optable import BRANCH, EXIT, OPS
from oric.ir.passes import PassContext

from .flow import COND, COND_STOP, GONE, JUMP, STOP, Flow, can_invert


def analyze_control_flow(f: Function, ctx: PassContext) -> bool:
    """Phase 3: edges of every block from its instructions; nothing jumps to the entry block afterwards."""
    make_edges(f)
    b: i64 = 0
    while b < f.blocks():
        if f.goes_to(b, 0):
            _add_entry(f)
            make_edges(f)
            break
        b += 1
    return True


def _add_entry(f: Function) -> None:
    order = vec[i64]()
    order = append(order, Cursor(f).new_block())
    b: i64 = 0
    while b < f.blocks() - 1:
        order = append(order, b)
        b += 1
    Cursor(f).reorder(order)


def set_control_flow_last(f: Function, ctx: PassContext) -> bool:
    """Phase 6: a block ends behind its first control-flow instruction; the rest becomes a block of its own."""
    f.final_flow = True
    cursor = Cursor(f)
    order = vec[i64]()
    count = f.blocks()
    b: i64 = 0
    while b < count:
        order = append(order, b)
        i = _control_before_tail(f, b)
        while i != NONE:
            rest = cursor.split_behind(i)
            order = append(order, rest)
            i = _control_before_tail(f, rest)
        b += 1
    if len(order) == count:
        return False
    cursor.reorder(order)
    analyze_control_flow(f, ctx)
    return True


def _control_before_tail(f: Function, b: i64) -> i64:
    tail = f.tail[b]
    i = f.head[b]
    while i != tail and i != NONE:
        if OPS.flags[f.op[i]] & (BRANCH | EXIT):
            return i
        i = f.next[i]
    return NONE


def simplify_control_flow(f: Function, ctx: PassContext) -> bool:
    """Straightens jumps: jumps to jumps, branches round jumps, empty blocks, blocks with one way in, jumps to exits."""
    if f.blocks() == 1:
        return False
    flow = Flow(f)
    flow.drop_unreachable()
    turn: i64 = f.blocks()
    while turn > 0:
        turn -= 1
        thread_jumps(flow)
        flow.drop_unreachable()
        if not _merge_chains(flow):
            break
    flow.rebuild()
    return True


def thread_jumps(flow: Flow) -> None:
    """Retarget ends that go to empty blocks; branches to blocks that only exit become exits."""
    f = flow.f
    ahead: dict[int, int] = {}
    b: i64 = 0
    while b < flow.blocks():
        kind = flow.kind[b]
        if kind != GONE:
            for target in flow.successors(b):
                final = _through_empty(flow, target, ahead)
                if final != target and not flow.has_other_value(b, target, final):
                    flow.redirect(b, target, final)
            if kind == COND and flow.target[b] == flow.other[b]:
                flow.set_end(b, JUMP, NONE, flow.target[b], -1)
            elif kind == COND:
                _exit_early(flow, b)
            elif kind == JUMP and flow.is_bare_stop(flow.target[b]):
                line: i64 = f.line[flow.node[flow.target[b]]]
                flow.set_end(b, STOP, _copy(flow, flow.node[flow.target[b]], line), -1, -1)
        b += 1


def _through_empty(flow: Flow, target: i64, ahead: dict[int, int]) -> i64:
    """Where a way to ``target`` leads behind blocks that hold nothing; ``ahead``: how far those led that were passed before."""
    if flow.f.head[target] != NONE or flow.kind[target] != JUMP:
        return target
    passed = list[int]()
    seen: set[int] = {target}
    while flow.f.head[target] == NONE and flow.kind[target] == JUMP:
        following: i64 = ahead.get(target, flow.target[target])
        if following in seen:
            break
        passed.append(target)
        seen.add(following)
        target = following
    for b in passed:
        ahead[b] = target
    return target


def _exit_early(flow: Flow, b: i64) -> None:
    """``@P BRA x`` where block x is a bare EXIT becomes ``@P EXIT``."""
    f = flow.f
    branch = flow.node[b]
    if not can_invert(f, branch):
        return
    for taken in (True, False):
        target, rest = (flow.target[b], flow.other[b]) if taken else (flow.other[b], flow.target[b])
        if not taken and rest <= b:
            continue  # the branch closes a loop: a jump behind an exit would be one instruction more
        if flow.is_bare_stop(target):
            node = _copy(flow, flow.node[target], f.line[branch])
            f.set_guard(node, f.guard[branch] if taken else f.guard[branch] ^ opd.NEGATE)
            flow.set_end(b, COND_STOP, node, -1, rest)
            return


def _copy(flow: Flow, i: i64, line: i64) -> i64:
    """A copy of an exit, in no block."""
    cursor = flow.cursor
    cursor.at_end(0)
    cursor.line = line
    made = cursor.clone(i)
    cursor.remove(made)
    return made


def _merge_chains(flow: Flow) -> bool:
    """Append blocks with one way in to the block that alone goes there."""
    preds = flow.pred_counts()
    merged = False
    b: i64 = 0
    while b < flow.blocks():
        while flow.kind[b] == JUMP:
            target = flow.target[b]
            if target == b or target == 0 or preds[target] != 1:
                break
            flow.settle(target, b)
            flow.cursor.append_block(b, target)
            flow.move_end(b, target)
            merged = True
        b += 1
    if merged:
        flow.f.merged = True
    return merged
