"""Phases on the shape of the control-flow graph.

Source: PTX-to-Ori, phases 0, 3, 6 and 12.
"""

from __future__ import annotations

from typing import Final

from oric.ir import cfg
from oric.ir import operand as opd
from oric.ir.code import Block, CodeObject, Instruction
from oric.ir.optable import BRANCH, EXIT, FLAGS, INDIRECT
from oric.ir.passes import PassContext
from oric.ir.verify import FINAL_FLOW

from .flow import COND, COND_STOP, JUMP, STOP, End, Flow, can_invert, is_conditional, take_apart, target_of

BLOCKS_MERGED: Final = "blocks_merged"  # in CodeObject.analyses when blocks were merged since the last general optimization


def analyze_control_flow(code: CodeObject, ctx: PassContext) -> bool:
    """Phase 3: edges of every block from its instructions; nothing jumps to the entry block afterwards."""
    blocks = code.blocks
    for block in blocks:
        block.succs = _targets(code, block)
    if any(0 in block.succs for block in blocks):
        _add_entry(code)
    for block in blocks:
        block.preds = []
    for block in code.blocks:
        for target in block.succs:
            code.blocks[target].preds.append(block.index)
    cfg.invalidate(code)
    return False


def _targets(code: CodeObject, block: Block) -> list[int]:
    found: list[int] = []
    node = block.tail
    if node is None or not FLAGS[node.op] & (BRANCH | EXIT):  # the usual case: control flow is last or absent
        node = block.head
    while node is not None:
        flags = FLAGS[node.op]
        if flags & INDIRECT:
            found.extend(code.attributes.jump_tables[node.aux].targets)
        elif flags & BRANCH:
            found.append(target_of(node))
        if flags & (BRANCH | EXIT) and not is_conditional(node):
            return list(dict.fromkeys(found))
        node = node.next
    found = [target for target in found if target != block.index + 1]
    return [*dict.fromkeys(found), block.index + 1]


def _add_entry(code: CodeObject) -> None:
    first = code.new_block()
    first.succs = [0]
    code.reorder([first, *code.blocks[:-1]])


def set_control_flow_last(code: CodeObject, ctx: PassContext) -> bool:
    """Phase 6: a block ends behind its first control-flow instruction; the rest becomes a block of its own."""
    code.analyses[FINAL_FLOW] = True
    order: list[Block] = []
    for block in list(code.blocks):
        order.append(block)
        node = _control_before_tail(block)
        while node is not None:
            rest = code.split_after(node)
            order.append(rest)
            node = _control_before_tail(rest)
    if len(order) == len(code.blocks) == sum(1 for a, b in zip(order, code.blocks, strict=True) if a is b):
        return False
    code.reorder(order)
    analyze_control_flow(code, ctx)
    return True


def _control_before_tail(block: Block) -> Instruction | None:
    tail = block.tail
    node = block.head
    while node is not tail and node is not None:
        if FLAGS[node.op] & (BRANCH | EXIT):
            return node
        node = node.next
    return None


def simplify_control_flow(code: CodeObject, ctx: PassContext) -> bool:
    """Straightens jumps: jumps to jumps, branches round jumps, empty blocks, blocks with one way in, jumps to exits."""
    if len(code.blocks) == 1:
        return False
    flow = take_apart(code)
    flow.drop_unreachable()
    for _ in range(len(code.blocks)):
        thread_jumps(flow)
        flow.drop_unreachable()
        if not _merge_chains(flow):
            break
    flow.rebuild()
    return True


def thread_jumps(flow: Flow) -> None:
    """Retarget ends that go to empty blocks; branches to blocks that only exit become exits."""
    blocks = flow.code.blocks
    for index, end in flow.live():
        for target in end.succs():
            final = _through_empty(flow, target)
            if final != target:
                end.redirect(target, final)
        if end.kind == COND and end.target == end.other:
            flow.ends[index] = End(JUMP, target=end.target)
        elif end.kind == COND:
            _exit_early(flow, index, end)
        elif end.kind == JUMP and blocks[end.target].head is None and flow.end(end.target).kind == STOP:
            flow.ends[index] = End(STOP, _copy(flow.end(end.target).node, end.node))


def _through_empty(flow: Flow, target: int) -> int:
    seen = {target}
    while flow.code.blocks[target].head is None:
        end = flow.end(target)
        if end.kind != JUMP or end.target in seen:
            break
        target = end.target
        seen.add(target)
    return target


def _exit_early(flow: Flow, index: int, end: End) -> None:
    """``@P BRA x`` where block x is a bare EXIT becomes ``@P EXIT``."""
    blocks = flow.code.blocks
    branch = end.node
    if branch is None or not can_invert(branch):
        return
    for taken in (True, False):
        target, rest = (end.target, end.other) if taken else (end.other, end.target)
        if not taken and rest <= index:
            continue  # the branch closes a loop: a jump behind an exit would be one instruction more
        if blocks[target].head is None and flow.end(target).kind == STOP:
            node = _copy(flow.end(target).node, branch)
            node.guard = branch.guard if taken else branch.guard ^ opd.NEGATE
            flow.ends[index] = End(COND_STOP, node, other=rest)
            return


def _copy(node: Instruction | None, place: Instruction | None) -> Instruction:
    assert node is not None
    return Instruction(node.op, list(node.operands), node.mods, 0, place.line if place is not None else node.line)


def _merge_chains(flow: Flow) -> bool:
    """Append blocks with one way in to the block that alone goes there."""
    preds = flow.preds()
    blocks = flow.code.blocks
    merged = False
    for index, end in list(flow.live()):
        if flow.ends[index] is None:
            continue
        while end.kind == JUMP and end.target not in (index, 0) and len(preds[end.target]) == 1:
            target = end.target
            flow.code.append_all(blocks[index], blocks[target])
            end = flow.ends[index] = flow.end(target)
            flow.ends[target] = None
            for succ in end.succs():
                preds[succ] = [index if p == target else p for p in preds[succ]]
            merged = flow.code.analyses[BLOCKS_MERGED] = True
    return merged
