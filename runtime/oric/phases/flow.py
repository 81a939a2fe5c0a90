"""Control flow in explicit form: blocks without their jumps, and what each one does at its end.

Passes that change the shape of a function take it apart (:func:`take_apart`), change blocks and ends, and put it together
again (:meth:`Flow.rebuild`), which chooses the order of the blocks and adds the jumps that this order needs. A block
keeps its index while the function is apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from oric.ir import operand as opd
from oric.ir.cfg import Cfg, invalidate
from oric.ir.code import Block, CodeObject, Instruction
from oric.ir.optable import BRA, BRANCH, EXIT, FLAGS, INDIRECT

# What a block does at its end.
JUMP: Final = 0  # goes to `target`
COND: Final = 1  # `node`: to `target` when it is taken, else to `other`
STOP: Final = 2  # `node` ends the thread
COND_STOP: Final = 3  # `node` ends the thread when its guard holds, else on to `other`
TABLE: Final = 4  # `node` jumps to one of `targets`


class End:
    """The end of a block. ``node`` is not linked into the block; block indices in ``target``, ``other``, ``targets``."""

    __slots__ = ("kind", "node", "other", "target", "targets")

    def __init__(self, kind: int, node: Instruction | None = None, target: int = -1, other: int = -1,
                 targets: list[int] | None = None) -> None:  # fmt: skip
        self.kind = kind
        self.node = node
        self.target = target
        self.other = other
        self.targets = targets or []

    def succs(self) -> list[int]:
        """Successors, without duplicates; where control goes without a jump comes last."""
        if self.kind == JUMP:
            return [self.target]
        if self.kind == COND:
            return [self.target, self.other] if self.target != self.other else [self.target]
        if self.kind == COND_STOP:
            return [self.other]
        return list(dict.fromkeys(self.targets))

    def redirect(self, old: int, new: int) -> bool:
        """Replace a successor; returns whether it was one."""
        found = False
        if self.target == old:
            self.target = new
            found = True
        if self.other == old:
            self.other = new
            found = True
        if old in self.targets:
            self.targets = [new if t == old else t for t in self.targets]
            found = True
        return found


class Flow:
    """A function taken apart; ``ends[b]`` belongs to ``code.blocks[b]``, None for a block that was removed."""

    __slots__ = ("code", "ends", "follower")

    def __init__(self, code: CodeObject, ends: list[End | None]) -> None:
        self.code = code
        self.ends = ends
        self.follower: dict[int, int] = {}  # block -> the block that must stand right behind it

    def end(self, block: int) -> End:
        """The end of a block that exists."""
        end = self.ends[block]
        assert end is not None
        return end

    def live(self) -> Iterator[tuple[int, End]]:
        """The blocks that exist, in order of index."""
        for index, end in enumerate(self.ends):
            if end is not None:
                yield index, end

    def succs(self) -> list[list[int]]:
        """Successor lists by index; removed blocks have none."""
        return [end.succs() if end is not None else [] for end in self.ends]

    def preds(self) -> list[list[int]]:
        """Predecessor lists by index."""
        out: list[list[int]] = [[] for _ in self.ends]
        for index, end in self.live():
            for target in end.succs():
                out[target].append(index)
        return out

    def new_block(self, target: int) -> Block:
        """A new empty block that jumps to ``target``."""
        block = self.code.new_block()
        self.ends.append(End(JUMP, target=target))
        return block

    def drop_unreachable(self) -> bool:
        """Remove blocks that the entry does not reach."""
        seen = {0}
        stack = [0]
        while stack:
            for target in self.end(stack.pop()).succs():
                if target not in seen:
                    seen.add(target)
                    stack.append(target)
        dropped = False
        for index, _ in list(self.live()):
            if index not in seen:
                self.ends[index] = None
                dropped = True
        return dropped

    def rebuild(self) -> None:
        """Choose an order, add jumps, and make blocks and edges of the function from it."""
        order = self._with_detours(self._order())
        blocks = self.code.blocks
        for place, index in enumerate(order):
            self._close(blocks[index], self.end(index), order[place + 1] if place + 1 < len(order) else -1)
        for index in order:
            blocks[index].preds = []
        for index in order:
            block = blocks[index]
            block.succs = self.end(index).succs()
            for target in block.succs:
                blocks[target].preds.append(index)
        self.code.reorder([blocks[index] for index in order])
        invalidate(self.code)

    def _order(self) -> list[int]:
        """Original order, but a block follows the one that goes on to it where no other block could."""
        number = Cfg(self.succs()).number
        before = [[p for p in preds if number[p] < number[b]] for b, preds in enumerate(self.preds())]
        glued = set(self.follower.values())
        order: list[int] = []
        placed = [end is None for end in self.ends]
        waiting = iter(range(len(self.ends)))
        at = 0
        while at >= 0:
            placed[at] = True
            order.append(at)
            at = self._next(at, placed, before, glued)
            if at < 0:
                at = next((b for b in waiting if not placed[b] and b not in glued), -1)
        return order

    def _next(self, at: int, placed: list[bool], before: list[list[int]], glued: set[int]) -> int:
        """The block to place behind ``at``: one that no block before it in the flow of control still waits for."""
        must = self.follower.get(at)
        if must is not None:
            return must
        end = self.end(at)
        wanted = [t for t in (end.other, end.target) if t >= 0 and not placed[t] and t not in glued]
        for target in wanted:
            if all(placed[p] for p in before[target]):
                return target
        return end.other if end.other in wanted else -1

    def _with_detours(self, order: list[int]) -> list[int]:
        """Turn branches so that they go on to the block behind them; where they cannot, put a block with a jump there."""
        out: list[int] = []
        for place, index in enumerate(order):
            out.append(index)
            end = self.end(index)
            following = order[place + 1] if place + 1 < len(order) else -1
            if end.kind not in (COND, COND_STOP) or end.other == following:
                continue
            if end.kind == COND and end.target == following and can_invert(end.node):
                assert end.node is not None
                end.node.guard ^= opd.NEGATE
                end.target, end.other = end.other, end.target
                continue
            end.other = self.new_block(end.other).index
            out.append(end.other)
        return out

    def _close(self, block: Block, end: End, following: int) -> None:
        node = end.node
        if end.kind == JUMP:
            if end.target == following:
                return
            node = jump_to(end.target, block)
        assert node is not None
        if end.kind == COND:
            set_target(node, end.target)
        elif end.kind == TABLE:
            self.code.attributes.jump_tables[node.aux].targets = end.targets
        self.code.append(block, node)


def take_apart(code: CodeObject) -> Flow:
    """Take jumps and other control flow off the ends of the blocks of ``code``.

    Control flow must be last in its block (phase 6). Until :meth:`Flow.rebuild` the edges of the blocks mean nothing.
    """
    ends: list[End | None] = []
    for block in code.blocks:
        tail = block.tail
        flags = FLAGS[tail.op] if tail is not None else 0
        if tail is None or not flags & (BRANCH | EXIT):
            ends.append(End(JUMP, target=block.index + 1))
            continue
        code.remove(tail)
        ends.append(_end_of(code, tail, flags, block.index))
    return Flow(code, ends)


def _end_of(code: CodeObject, node: Instruction, flags: int, index: int) -> End:
    conditional = is_conditional(node)
    if flags & EXIT:
        return End(COND_STOP, node, other=index + 1) if conditional else End(STOP, node)
    if flags & INDIRECT:
        return End(TABLE, node, targets=list(code.attributes.jump_tables[node.aux].targets))
    target = target_of(node)
    if not conditional:
        return End(JUMP, target=target)
    return End(COND, node, target, index + 1)


def is_conditional(node: Instruction) -> bool:
    """Whether a control-flow instruction may let control go on to the next one."""
    if node.guard and node.guard != opd.PT_OPERAND:
        return True
    if FLAGS[node.op] & INDIRECT:
        return False
    return any(o >> opd.TYPE_SHIFT & 7 == opd.REG and o != opd.PT_OPERAND for o in node.operands)


def can_invert(node: Instruction | None) -> bool:
    """Whether turning the guard round turns the branch round."""
    if node is None or not node.guard:
        return False
    return all(o >> opd.TYPE_SHIFT & 7 != opd.REG or o == opd.PT_OPERAND for o in node.operands)


def jump_to(target: int, block: Block) -> Instruction:
    """A new jump, with the source line of what stands before it in ``block``."""
    return Instruction(BRA, [opd.label(target)], line=block.tail.line if block.tail else 0)


def set_target(node: Instruction, target: int) -> None:
    """Change the label operand of a branch."""
    for slot, operand in enumerate(node.operands):
        if operand >> opd.TYPE_SHIFT & 7 == opd.LABEL:
            node.operands[slot] = opd.label(target)
            return
    raise AssertionError("a branch without a label")


def target_of(node: Instruction) -> int:
    """The block that a direct branch names."""
    for operand in node.operands:
        if operand >> opd.TYPE_SHIFT & 7 == opd.LABEL:
            return operand & opd.INDEX_MASK
    raise AssertionError("a branch without a label")
