"""Removal of code without effect, and the structural checks at the two ends of the bridge phases."""

from __future__ import annotations

from collections.abc import Callable

from oric.ir import operand as opd
from oric.ir.code import AUX_VOLATILE, CodeObject, Instruction
from oric.ir.optable import ATOMIC, FLAGS, INFO, PINNED
from oric.ir.passes import PassContext
from oric.ir.slots import slot_map
from oric.ir.verify import verify


def check_initial_program(code: CodeObject, ctx: PassContext) -> bool:
    """Phase 0: refuse malformed code; control flow may still stand inside blocks."""
    verify(code, "lowering", final_flow=False)
    return False


def sanitize(code: CodeObject, ctx: PassContext) -> bool:
    """Phase 12: the same with control flow last in its block."""
    verify(code, "the bridge phases", final_flow=True)
    return False


def remove_dead_code(code: CodeObject, ctx: PassContext) -> bool:
    """Remove instructions whose results nobody reads, also round loops.

    Registers are taken as wholes in time: a register component is live when any instruction that stays reads it.
    """
    slots = slot_map(code)
    live = bytearray(slots.count)
    of = slots.of
    waiting: list[Instruction] = []
    atomics: list[Instruction] = []
    for block in reversed(code.blocks):
        node = block.tail
        while node is not None:
            if FLAGS[node.op] & PINNED or node.aux & AUX_VOLATILE or _writes_live(node, live, of):
                _mark_sources(node, live, of)
                if FLAGS[node.op] & ATOMIC:
                    atomics.append(node)
            else:
                waiting.append(node)
            node = node.prev
    changed = True
    while changed and waiting:
        changed = False
        rest: list[Instruction] = []
        for node in waiting:
            if _writes_live(node, live, of):
                _mark_sources(node, live, of)
                changed = True
            else:
                rest.append(node)
        waiting = rest
    for node in waiting:
        code.remove(node)
    for node in atomics:
        if not _writes_live(node, live, of):
            _drop_results(node)
    ctx.count("dead instructions", len(waiting))
    return bool(waiting)


def _drop_results(node: Instruction) -> None:
    """Let an instruction that stays for its effect write RZ and PT."""
    info = INFO[node.op]
    for place in info.writes:
        if place < len(node.operands) and node.operands[place] != opd.NO_OPERAND:
            node.operands[place] = opd.PT_OPERAND if info.kinds[place] == "pred" else opd.RZ_OPERAND


def _writes_live(node: Instruction, live: bytearray, of: Callable[[int], range]) -> bool:
    operands = node.operands
    count = len(operands)
    for place in INFO[node.op].writes:
        if place < count:
            for slot in of(operands[place]):
                if live[slot]:
                    return True
    return False


def _mark_sources(node: Instruction, live: bytearray, of: Callable[[int], range]) -> None:
    operands = node.operands
    count = len(operands)
    for place in INFO[node.op].reads:
        if place < count:
            for slot in of(operands[place]):
                live[slot] = 1
    if node.guard:
        for slot in of(node.guard):
            live[slot] = 1
