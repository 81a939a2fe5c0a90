"""Phase 63: short conditional blocks become predicated instructions.

A block of a few instructions with one way in and one way out is moved in front of the branch that skips it. What has an
effect, or defines a register that is known elsewhere, runs under the branch's condition; computations of registers that
only the block itself uses run always. Blocks with loads stay: a load under a condition would keep its destination live
from the function's entry on.
"""

from __future__ import annotations

from typing import Final

from oric_tables import ops

from oric.ir import operand as opd
from oric.ir.code import CodeObject, Instruction
from oric.ir.optable import ATOMIC, BARRIER, CONSTANT, CONTROL, CONVERGENCE, FENCE, FLAGS, INFO, LOAD, STORE, WARP
from oric.ir.passes import PassContext
from oric.ir.slots import SlotMap, slot_map

from .flow import COND, JUMP, End, Flow, can_invert, take_apart

MAX_INSTRUCTIONS: Final = 6  # of all blocks that one branch chooses from
_NEVER: Final = CONTROL | BARRIER | CONVERGENCE | FENCE | WARP | ops.E_CALL | ops.E_SIDE_EFFECT | ops.E_SPECIAL
_EFFECTS: Final = STORE | ATOMIC


def predicate_short_blocks(code: CodeObject, ctx: PassContext) -> bool:
    """Replace branches round short blocks by predicates."""
    if not any(len(block.succs) > 1 for block in code.blocks):
        return False
    flow = take_apart(code)
    flow.drop_unreachable()
    slots = slot_map(code)
    users = _blocks_of_slots(flow, slots)
    preds = flow.preds()
    done = 0
    for index, end in list(flow.live()):
        if end.kind == COND and flow.ends[index] is end and can_invert(end.node):
            done += _predicate(flow, slots, users, preds, index, end)
    flow.rebuild()
    ctx.count("predicated branches", done)
    return True


def _blocks_of_slots(flow: Flow, slots: SlotMap) -> list[int]:
    """The block that alone mentions a slot, -1 for none, -2 for several."""
    users = [-1] * slots.count
    for index, end in flow.live():
        nodes = list(flow.code.blocks[index])
        if end.node is not None:
            nodes.append(end.node)
        for node in nodes:
            for operand in (*node.operands, node.guard):
                for slot in slots.of(operand) if operand else ():
                    users[slot] = index if users[slot] in (-1, index) else -2
    return users


def _predicate(flow: Flow, slots: SlotMap, users: list[int], preds: list[list[int]], index: int, end: End) -> int:
    """Predicate the blocks that the branch at the end of ``index`` chooses from, if they are fit; 1 when done."""
    node = end.node
    assert node is not None
    condition = node.guard
    sides = []
    meet = -1
    for target, guard, other in ((end.target, condition, end.other), (end.other, condition ^ opd.NEGATE, end.target)):
        side = flow.ends[target]
        if side is not None and side.kind == JUMP and preds[target] == [index] and target not in (index, 0):
            if side.target == other:
                sides, meet = [(target, guard)], other
                break
            sides.append((target, guard))
    if meet < 0:
        if len(sides) != 2 or flow.end(sides[0][0]).target != flow.end(sides[1][0]).target:
            return 0
        meet = flow.end(sides[0][0]).target
    bodies = [(list(flow.code.blocks[target]), guard, target) for target, guard in sides]
    if meet == index or sum(len(body) for body, _, _ in bodies) > MAX_INSTRUCTIONS:
        return 0
    (condition_slot,) = slots.of(condition)
    if not all(_is_fit(body, slots, condition_slot) for body, _, _ in bodies):
        return 0
    block = flow.code.blocks[index]
    for body, guard, target in bodies:
        carried = _read_before_written(body, slots)
        for item in body:
            if FLAGS[item.op] & _EFFECTS or not _is_local(item, slots, users, target, carried):
                item.guard = guard
        flow.code.append_all(block, flow.code.blocks[target])
        flow.ends[target] = None
    flow.ends[index] = End(JUMP, target=meet)
    preds[meet] = [p for p in preds[meet] if p not in [t for t, _ in sides] and p != index] + [index]
    return 1


def _is_fit(body: list[Instruction], slots: SlotMap, condition: int) -> bool:
    for node in body:
        flags = FLAGS[node.op]
        if node.guard or node.aux or flags & _NEVER or (flags & LOAD and not flags & (CONSTANT | ATOMIC)):
            return False
        op = ops.OPS[INFO[node.op].number]
        if op is None or op.guard != "P":
            return False
        for place in INFO[node.op].writes:
            if place < len(node.operands) and condition in slots.of(node.operands[place]):
                return False
    return True


def _read_before_written(body: list[Instruction], slots: SlotMap) -> set[int]:
    """Slots whose value comes from before the block, be it from its own last run."""
    written: set[int] = set()
    carried: set[int] = set()
    for node in body:
        info = INFO[node.op]
        operands = node.operands
        for place in info.reads:
            if place < len(operands):
                carried.update(s for s in slots.of(operands[place]) if s not in written)
        for place in info.writes:
            if place < len(operands):
                written.update(slots.of(operands[place]))
    return carried


def _is_local(node: Instruction, slots: SlotMap, users: list[int], block: int, carried: set[int]) -> bool:
    """Whether nobody outside this run of ``block`` knows what ``node`` defines."""
    for place in INFO[node.op].writes:
        if place < len(node.operands):
            for slot in slots.of(node.operands[place]):
                if users[slot] != block or slot in carried:
                    return False
    return True
