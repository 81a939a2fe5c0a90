"""Checks that a function is well formed; every message names function, block and instruction.

Source: PTX-to-Ori, "Phase 0: OriCheckInitialProgram"; Instructions (linkage).
"""

from __future__ import annotations

from typing import Final

from oric_tables import ops
from oric_tables.ori_operands import KIND_TEXTS, SLOT_TYPES, TYPE_TEXTS, kind_of

from . import operand as opd
from .code import UP, UR, Block, CodeObject, Instruction
from .code import P as P_FILE
from .dump import format_instruction
from .optable import BRANCH, EXIT, FLAGS, INDIRECT, INFO

MAX_MESSAGES: Final = 20
FINAL_FLOW: Final = "final_flow"  # in CodeObject.analyses once control flow is last in its blocks


class MalformedCode(Exception):
    """A function that breaks a rule of Ori. ``problems`` holds one line per finding."""

    def __init__(self, where: str, problems: list[str]) -> None:
        super().__init__("\n".join([f"malformed Ori in {where}:", *problems]))
        self.problems = problems


def verify(code: CodeObject, where: str = "", *, final_flow: bool | None = None) -> None:
    """Check everything that holds between phases.

    Args:
        code: the function.
        where: what ran last, for the message.
        final_flow: control flow must be last in its block; None: when phase 6 has run.

    Raises:
        MalformedCode: at least one rule is broken.
    """
    checker = Checker(code, bool(code.analyses.get(FINAL_FLOW)) if final_flow is None else final_flow)
    checker.run()
    if checker.problems:
        raise MalformedCode(f"{code.name}{' after ' + where if where else ''}", checker.problems)


class Checker:
    """Collects problems of one function, at most ``MAX_MESSAGES``."""

    def __init__(self, code: CodeObject, final_flow: bool = True) -> None:
        self.code = code
        self.final_flow = final_flow
        self.problems: list[str] = []

    def run(self) -> None:
        """Check blocks, edges, links and instructions."""
        code = self.code
        if not code.blocks:
            self._say("the function has no blocks")
            return
        ids: set[int] = set()
        for place, block in enumerate(code.blocks):
            if block.index != place:
                self._say(f"block at place {place} has index {block.index}")
            self._links(block, ids)
            self._edges(block)
            for node in block:
                self._instruction(block, node)
        self._end(code.blocks[-1])

    def _say(self, text: str, block: Block | None = None, node: Instruction | None = None) -> None:
        if len(self.problems) >= MAX_MESSAGES:
            return
        place = f"bix{block.index}: " if block is not None else ""
        shown = f": {format_instruction(self.code, node)} (line {node.line})" if node is not None else ""
        self.problems.append(f"  {place}{text}{shown}")

    def _links(self, block: Block, ids: set[int]) -> None:
        before: Instruction | None = None
        node = block.head
        while node is not None:
            if node.prev is not before or node.block is not block:
                self._say("broken link", block, node)
                return
            if node.id in ids or node.id < 0:
                self._say(f"instruction id {node.id} is used twice or unset", block, node)
                return
            ids.add(node.id)
            before, node = node, node.next
        if block.tail is not before:
            self._say("the tail is not the last instruction", block)

    def _edges(self, block: Block) -> None:
        blocks = self.code.blocks
        for target in block.succs:
            if not 0 <= target < len(blocks):
                self._say(f"edge to block {target}, which does not exist", block)
            elif block.index not in blocks[target].preds:
                self._say(f"bix{target} does not know this predecessor", block)
        for source in block.preds:
            if not 0 <= source < len(blocks) or block.index not in blocks[source].succs:
                self._say(f"predecessor {source} has no edge here", block)
        if len(set(block.succs)) != len(block.succs) or len(set(block.preds)) != len(block.preds):
            self._say("an edge is listed twice", block)
        if self.final_flow:
            self._ends_as_edges(block)

    def _ends_as_edges(self, block: Block) -> None:
        tail = block.tail
        flags = FLAGS.get(tail.op, 0) if tail is not None else 0
        expected: set[int] = set()
        if tail is None or not flags & (BRANCH | EXIT) or _may_go_on(tail):
            expected.add(block.index + 1)
        if tail is not None and flags & INDIRECT:
            tables = self.code.attributes.jump_tables
            if not 0 <= tail.aux < len(tables):
                self._say(f"there is no jump table {tail.aux}", block, tail)
                return
            expected.update(tables[tail.aux].targets)
        elif tail is not None and flags & BRANCH:
            expected.update(o & opd.INDEX_MASK for o in tail.operands if o >> opd.TYPE_SHIFT & 7 == opd.LABEL)
        if expected != set(block.succs):
            self._say(f"edges to {sorted(block.succs)}, but the code goes to {sorted(expected)}", block, tail)
        node = block.head
        while node is not None and node is not tail:
            if FLAGS.get(node.op, 0) & (BRANCH | EXIT):
                self._say("control flow that is not last in its block", block, node)
            node = node.next

    def _end(self, block: Block) -> None:
        tail = block.tail
        if tail is None or not FLAGS.get(tail.op, 0) & (BRANCH | EXIT) or _may_go_on(tail):
            self._say("control runs off the end of the function", block, tail)

    def _instruction(self, block: Block, node: Instruction) -> None:
        info = INFO.get(node.op)
        if info is None:
            self._say(f"no operation has the opcode word {node.op:#06x}", block, node)
            return
        if len(node.operands) > len(info.kinds):
            self._say(f"{len(node.operands)} operands, {info.name} takes {len(info.kinds)}", block, node)
            return
        op = ops.OPS[info.number]
        assert op is not None
        for place in range(len(node.operands), len(info.kinds)):
            if op.operands[place].default is None:
                self._say(f"operand {op.operands[place].name} is missing", block, node)
        for place, operand in enumerate(node.operands):
            problem = self._operand(op, place, operand)
            if problem:
                self._say(f"operand {op.operands[place].name}: {problem}", block, node)
        if node.guard:
            problem = self._register(node.guard, op.guard == "UP", True)
            if problem:
                self._say(f"guard: {problem}", block, node)

    def _operand(self, op: ops.Op, place: int, operand: int) -> str:
        slot = op.operands[place]
        form = operand >> opd.TYPE_SHIFT & 7
        if form == opd.NONE:
            return "" if slot.default is not None else "it cannot be left out"
        if form not in (_WRITABLE if slot.writes else SLOT_TYPES[slot.kind]):
            wanted = KIND_TEXTS[kind_of(slot.kind, slot.name)]
            return f"an operand of type {form} ({TYPE_TEXTS[form]}) does not fit a slot for {slot.kind} ({wanted})"
        if form == opd.POOL and operand & opd.INDEX_MASK >= len(self.code.immediates):
            return "there is no such immediate"
        if form == opd.LABEL and operand & opd.INDEX_MASK >= len(self.code.blocks):
            return "there is no such block"
        if form == opd.REG:
            return self._register(operand, None, slot.kind in ("pred", "upred"))
        return ""

    def _register(self, operand: int, uniform: bool | None, predicate: bool) -> str:
        index = operand & opd.INDEX_MASK
        if index in (opd.RZ, opd.PT):
            return "" if (index == opd.PT) == predicate else "RZ and PT are mixed up"
        reg = self.code.regs[index] if index < len(self.code.regs) else None
        if reg is None:
            return f"there is no register {index}"
        if (reg.reg_type in (P_FILE, UP)) != predicate:
            return f"register {index} is of the wrong file"
        if uniform is not None and (reg.reg_type in (UP, UR)) != uniform:
            return f"register {index} is of the wrong file"
        width = operand >> opd.WIDTH_SHIFT & 3
        last = (operand >> opd.COMPONENT_SHIFT & 3) + (1 << width)
        if width != 3 and last > reg.size:
            return f"component {last - 1} of register {index}, which has {reg.size}"
        return ""


_WRITABLE: Final = frozenset({opd.REG, opd.SPECIAL})  # a destination is a register


def _may_go_on(node: Instruction) -> bool:
    if node.guard and node.guard != opd.PT_OPERAND:
        return True
    if FLAGS.get(node.op, 0) & INDIRECT:
        return False
    return any(o >> opd.TYPE_SHIFT & 7 == opd.REG and o != opd.PT_OPERAND for o in node.operands)
