"""Which values may differ between the threads of a warp, and which loops wait for other threads.

Forward data flow over register components, not sensitive to the order of instructions: a component is *divergent* when
one of its definitions is. Definitions are divergent when the operation makes values that differ by thread, when a source
is divergent, or when threads that took different ways meet (definitions under a divergent branch of a component that has
several; definitions in a loop that threads leave at different times).
"""

from __future__ import annotations

from oric.ir.cfg import Cfg
from oric.ir.code import AUX_VOLATILE, UP, UR, CodeObject, Instruction
from oric.ir.optable import INFO, is_strong
from oric.ir.slots import slot_map

from .flow import COND, COND_STOP, TABLE, Flow


class Definitions:
    """The definitions of a function in the form that the analyses here iterate over.

    ``rows`` holds (block, destination slots, source slots, instruction) of every instruction that defines something.
    """

    __slots__ = ("count", "defs_of", "rows", "uniform")

    def __init__(self, flow: Flow) -> None:
        code = flow.code
        slots = slot_map(code)
        self.count = slots.count
        self.rows: list[tuple[int, list[int], list[int], Instruction]] = []
        self.defs_of = [0] * slots.count
        self.uniform = bytearray(slots.count)
        for reg in code.regs:
            if reg is not None and reg.reg_type in (UR, UP):
                for slot in range(slots.bases[reg.id], slots.bases[reg.id] + reg.size):
                    self.uniform[slot] = 1
        of = slots.of
        for index, _ in flow.live():
            for node in code.blocks[index]:
                info = INFO[node.op]
                operands = node.operands
                dests = [s for at in info.writes if at < len(operands) for s in of(operands[at])]
                if dests:
                    sources = [s for at in info.reads if at < len(operands) for s in of(operands[at])]
                    if node.guard:
                        sources.extend(of(node.guard))
                    self.rows.append((index, dests, sources, node))
                    for slot in dests:
                        self.defs_of[slot] += 1


def _spread(definitions: Definitions, marked: bytearray) -> None:
    """Mark what depends on marked components."""
    pending = definitions.rows
    uniform = definitions.uniform
    while True:
        rest = []
        changed = False
        for row in pending:
            for slot in row[2]:
                if marked[slot]:
                    for dest in row[1]:
                        if not uniform[dest] and not marked[dest]:
                            marked[dest] = 1
                            changed = True
                    break
            else:
                rest.append(row)
        if not changed:
            return
        pending = rest


def condition_slots(code: CodeObject, node: Instruction) -> list[int]:
    """Components that decide where a control-flow instruction goes."""
    of = slot_map(code).of
    slots = [slot for operand in node.operands for slot in of(operand)]
    if node.guard:
        slots.extend(of(node.guard))
    return slots


def divergent_branches(flow: Flow, cfg: Cfg, definitions: Definitions, ipdom: list[int]) -> set[int]:
    """Blocks at whose end the threads of a warp may go different ways."""
    code = flow.code
    marked = bytearray(definitions.count)
    for _, dests, _, node in definitions.rows:
        if INFO[node.op].varies(node):
            for slot in dests:
                marked[slot] = 1
    ends = [(index, condition_slots(code, end.node)) for index, end in flow.live() if end.kind in (COND, TABLE) and end.node]
    found: set[int] = set()
    while True:
        _spread(definitions, marked)
        fresh = [index for index, slots in ends if index not in found and any(marked[s] for s in slots)]
        if not fresh:
            return found
        found.update(fresh)
        _mark_meeting(cfg, definitions, ipdom, fresh, marked)


def _mark_meeting(cfg: Cfg, definitions: Definitions, ipdom: list[int], branches: list[int], marked: bytearray) -> None:
    """Mark components that get values on some of the ways that lead away from divergent branches."""
    several: set[int] = set()
    left: set[int] = set()
    for branch in branches:
        several |= _between(cfg.succs, branch, ipdom[branch])
        header = cfg.loops.header[branch]
        while header >= 0:
            if any(not cfg.loops.contains(header, target) for target in cfg.succs[branch]):
                left.add(header)
            header = cfg.loops.outer[header]
    bodies = cfg.loops.bodies() if left else {}
    leaving = {block for header in left for block in bodies[header]}
    uniform = definitions.uniform
    for block, dests, _, _ in definitions.rows:
        if block in several or block in leaving:
            for slot in dests:
                if not uniform[slot] and (block in leaving or definitions.defs_of[slot] > 1):
                    marked[slot] = 1


def _between(succs: list[list[int]], start: int, end: int) -> set[int]:
    """Blocks on the ways from the end of ``start`` to ``end``."""
    seen: set[int] = set()
    stack = [t for t in succs[start] if t != end]
    while stack:
        block = stack.pop()
        if block not in seen:
            seen.add(block)
            stack.extend(t for t in succs[block] if t != end)
    return seen


def waiting_loops(flow: Flow, cfg: Cfg, definitions: Definitions) -> set[int]:
    """Headers of loops in which a branch depends on what other threads write: atomics, volatile and strong loads."""
    if not cfg.loops.count:
        return set()
    marked = bytearray(definitions.count)
    any_source = False
    for block, dests, _, node in definitions.rows:
        if cfg.loops.depth[block] and (is_strong(node) or node.aux & AUX_VOLATILE):
            any_source = True
            for slot in dests:
                marked[slot] = 1
    if not any_source:
        return set()
    _spread(definitions, marked)
    found: set[int] = set()
    for index, end in flow.live():
        if end.kind in (COND, TABLE, COND_STOP) and end.node and any(marked[s] for s in condition_slots(flow.code, end.node)):
            header = cfg.loops.header[index]
            while header >= 0:
                found.add(header)
                header = cfg.loops.outer[header]
    return found
