"""The Code Object of a function: registers, blocks, instructions, immediates.

Source: Ori IR, "The Code Object", "Basic Blocks", "Instructions"; Register Model, "Virtual Register Descriptor".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from oric_tables import registers
from oric_tables.ops import OPS

from . import operand as opd
from .attributes import FunctionAttributes

# Register file types (Register Model, "Register File Type Enum").
R: Final[int] = registers.R
UR: Final[int] = registers.UR
P: Final[int] = registers.P
UP: Final[int] = registers.UP  # this project's use of the "alternate predicate" value: uniform predicates
B: Final[int] = registers.B
R2: Final[int] = registers.R2
R4: Final[int] = registers.R4

_WITH_LABEL: Final = frozenset(op.word for op in OPS if op is not None and any(o.kind == "label" for o in op.operands))
_FLAGS: Final = registers.INITIAL_FLAGS
RESERVED_IDS: Final = frozenset({opd.PT, opd.RZ})

# Instruction.aux of a WARPSYNC that only brings together the threads of the warp-synchronous instruction behind it:
# the convergence phase removes it where they are together anyway.
AUX_IF_DIVERGED: Final = 1
# Instruction.aux of a memory access that is volatile: never removed, merged or moved across another one. (Bit 5 of the
# documented special flags.)
AUX_VOLATILE: Final = 0x20


class VReg:
    """A virtual register descriptor; ``size`` is its number of 32-bit registers (1 for predicates)."""

    __slots__ = ("alias_parent", "flags", "hint", "id", "physical_reg", "reg_type", "size", "spill_cost")

    def __init__(self, reg_id: int, reg_type: int, size: int = 1) -> None:
        self.id = reg_id
        self.reg_type = reg_type
        self.size = size
        self.flags: int = _FLAGS[reg_type]
        self.physical_reg = -1
        self.alias_parent = -1
        self.spill_cost = 0.0
        self.hint = -1


class Instruction:
    """One Ori instruction, linked into its block.

    ``op`` is the opcode word: id in bits 0-11, sub-operation in bits 12-13. ``mods`` packs the modifier values
    in the layout of ``oric_tables.ops``. ``guard`` is a predicate operand, 0 when there is none.
    ``control`` holds the 21 scheduling bits once scheduled. ``line`` is the PTX line.

    ``aux`` is 0 but for: an indirect branch, where it is the number of its jump table in
    ``CodeObject.attributes.jump_tables``; and ``AUX_*`` marks.
    """

    __slots__ = ("aux", "block", "control", "guard", "id", "line", "mods", "next", "op", "operands", "prev")

    def __init__(self, op: int, operands: list[int], mods: int = 0, guard: int = 0, line: int = 0) -> None:
        self.op = op
        self.operands = operands
        self.mods = mods
        self.guard = guard
        self.line = line
        self.aux = 0
        self.control = 0
        self.id = -1
        self.block: Block | None = None
        self.prev: Instruction | None = None
        self.next: Instruction | None = None


class Block:
    """A basic block: a doubly linked list of instructions and the edges to and from it (block indices)."""

    __slots__ = ("flags", "head", "index", "label", "preds", "succs", "tail")

    def __init__(self, index: int, label: str = "") -> None:
        self.index = index
        self.label = label
        self.head: Instruction | None = None
        self.tail: Instruction | None = None
        self.preds: list[int] = []
        self.succs: list[int] = []  # order: fall-through last
        self.flags = 0

    def __iter__(self) -> Iterator[Instruction]:
        """The instructions in order; the current one may be removed while iterating."""
        node = self.head
        while node is not None:
            following = node.next
            yield node
            node = following


class CodeObject:
    """Everything known about one function under compilation."""

    def __init__(self, name: str, target: str, is_entry: bool = True) -> None:
        self.name = name
        self.target = target
        self.is_entry = is_entry
        self.regs: list[VReg | None] = []
        self.blocks: list[Block] = []
        self.immediates: list[int] = []
        self._immediate_ids: dict[int, int] = {}
        self._next_instruction = 0
        self.attributes = FunctionAttributes()
        self.analyses: dict[str, Any] = {}  # cached analyses by name; oric.ir.cfg drops those that a change invalidates

    # -- registers ---------------------------------------------------------------------------------------

    def new_reg(self, reg_type: int, size: int = 1) -> int:
        """Create a virtual register and return its id; ids 31 and 1023 are kept for PT and RZ."""
        while len(self.regs) in RESERVED_IDS:
            self.regs.append(None)
        reg_id = len(self.regs)
        self.regs.append(VReg(reg_id, reg_type, size))
        return reg_id

    def imm(self, value: int) -> int:
        """An immediate operand for any 64-bit pattern."""
        value &= 0xFFFFFFFFFFFFFFFF
        if value <= opd.INDEX_MASK:
            return opd.small_imm(value)
        index = self._immediate_ids.get(value)
        if index is None:
            index = self._immediate_ids[value] = len(self.immediates)
            self.immediates.append(value)
        return opd.POOL << opd.TYPE_SHIFT | index

    def imm_value(self, operand: int) -> int:
        """The 64-bit pattern of an immediate operand."""
        return self.immediates[operand & opd.INDEX_MASK] if opd.type_of(operand) == opd.POOL else operand & opd.INDEX_MASK

    # -- blocks and instructions -------------------------------------------------------------------------

    def new_block(self, label: str = "") -> Block:
        """Append an empty block."""
        block = Block(len(self.blocks), label)
        self.blocks.append(block)
        return block

    def add_edge(self, source: Block, target: Block) -> None:
        """Add a CFG edge unless it exists."""
        if target.index not in source.succs:
            source.succs.append(target.index)
            target.preds.append(source.index)

    def append(self, block: Block, instruction: Instruction) -> Instruction:
        """Link an instruction at the end of a block."""
        return self._link(block, block.tail, instruction, None)

    def insert_before(self, anchor: Instruction, instruction: Instruction) -> Instruction:
        """Link an instruction in front of another."""
        assert anchor.block is not None
        return self._link(anchor.block, anchor.prev, instruction, anchor)

    def insert_after(self, anchor: Instruction, instruction: Instruction) -> Instruction:
        """Link an instruction behind another."""
        assert anchor.block is not None
        return self._link(anchor.block, anchor, instruction, anchor.next)

    def remove(self, instruction: Instruction) -> None:
        """Unlink an instruction; its id is not used again."""
        block = instruction.block
        assert block is not None
        if instruction.prev is None:
            block.head = instruction.next
        else:
            instruction.prev.next = instruction.next
        if instruction.next is None:
            block.tail = instruction.prev
        else:
            instruction.next.prev = instruction.prev
        instruction.block = instruction.prev = instruction.next = None

    def split_after(self, node: Instruction) -> Block:
        """Move what follows ``node`` into a new block at the end of the list; edges are left to the caller."""
        block = node.block
        assert block is not None
        rest = self.new_block()
        following = node.next
        if following is not None:
            rest.head, rest.tail = following, block.tail
            following.prev = None
            node.next = None
            block.tail = node
            moved: Instruction | None = following
            while moved is not None:
                moved.block = rest
                moved = moved.next
        return rest

    def append_all(self, block: Block, other: Block) -> None:
        """Move all instructions of ``other`` to the end of ``block``."""
        node = other.head
        if node is None:
            return
        if block.tail is None:
            block.head = node
        else:
            block.tail.next = node
            node.prev = block.tail
        block.tail = other.tail
        other.head = other.tail = None
        while node is not None:
            node.block = block
            node = node.next

    def reorder(self, order: list[Block]) -> None:
        """Make ``order`` the list of blocks: new indices in blocks, edges, label operands and jump tables.

        Blocks that are left out are dropped; nothing may refer to them any more.
        """
        if len(order) == len(self.blocks) and all(block.index == place for place, block in enumerate(order)):
            return
        place_of = {block.index: place for place, block in enumerate(order)}
        for block in order:
            block.succs = [place_of[index] for index in block.succs]
            block.preds = [place_of[index] for index in block.preds if index in place_of]
            for node in block:
                if node.op not in _WITH_LABEL:
                    continue
                for slot, operand in enumerate(node.operands):
                    if operand >> opd.TYPE_SHIFT & 7 == opd.LABEL:
                        node.operands[slot] = opd.label(place_of[operand & opd.INDEX_MASK])
        for table in self.attributes.jump_tables:
            known = all(index in place_of for index in table.targets)  # not so when its branch was unreachable
            table.targets = [place_of[index] for index in table.targets] if known else []
        for place, block in enumerate(order):
            block.index = place
        self.blocks = order

    def instructions(self) -> Iterator[Instruction]:
        """All instructions in block order."""
        for block in self.blocks:
            yield from block

    def _link(self, block: Block, prev: Instruction | None, node: Instruction, following: Instruction | None) -> Instruction:
        if node.id < 0:
            node.id = self._next_instruction
            self._next_instruction += 1
        node.block = block
        node.prev = prev
        node.next = following
        if prev is None:
            block.head = node
        else:
            prev.next = node
        if following is None:
            block.tail = node
        else:
            following.prev = node
        return node
