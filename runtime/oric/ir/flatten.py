"""Flattens a function into the memory image that the C kernels read, and reads results back.

The image is one array of 296-byte instructions in block order, one of 40-byte blocks, one of 160-byte register
descriptors, the successor lists and the immediate pool (``spec/structs.yaml``). Operands beyond the ninth of an
instruction lie in the overflow array.

Source: Ori IR, "Instruction Layout", "Block Entry Layout", "Worked Example"; Register Model, "Descriptor Layout".
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from oric_tables import structs
from oric_tables._native import ffi

from . import operand as opd
from .cfg import analyze
from .code import CodeObject, Instruction

INLINE_OPERANDS: Final = 9
INSTRUCTION_SIZE: Final = structs.SIZES["oric_instruction"]
BLOCK_SIZE: Final = structs.SIZES["oric_block"]
REGISTER_SIZE: Final = structs.SIZES["oric_register"]


def layout(name: str, fields: list[str], tail: str = "", full: bool = False) -> struct.Struct:
    """A packer of the given fields of a struct, in order of offset; the bytes between them are skipped.

    Args:
        name: the struct, for example ``oric_block``.
        fields: field names; arrays are taken as wholes.
        tail: format codes that follow the last field directly.
        full: pad to the size of the struct, for ``iter_unpack`` over an array.

    Raises:
        ValueError: the fields are not in order of offset.
    """
    table = structs.FIELDS[name]
    codes = "<"
    position = 0
    for field in fields:
        offset, code = table[field]
        if offset < position:
            raise ValueError(f"{name}.{field} is out of order")
        codes += f"{offset - position}x{code}"
        position = offset + struct.calcsize("<" + code)
    codes += tail
    position += struct.calcsize("<" + tail)
    if full:
        codes += f"{structs.SIZES[name] - position}x"
    return struct.Struct(codes)


_HEAD: Final = [
    "prev",
    "next",
    "id",
    "block",
    "line",
    "control",
    "number",
    "latency_class",
    "flags",
    "guard",
    "special_flags",
    "overflow",
    "mods",
    "position",
    "opcode",
    "aux",
    "operand_count",
]


@cache
def _instruction_packers() -> tuple[Any, ...]:
    """``pack_into`` by number of inline operands; an operand's two words are one 64-bit number."""
    return tuple(layout("oric_instruction", _HEAD, "Q" * count).pack_into for count in range(INLINE_OPERANDS + 1))


@cache
def _layout(name: str, fields: tuple[str, ...]) -> struct.Struct:
    return layout(name, list(fields), full=True)


class Image:
    """A flattened function.

    ``instructions``, ``blocks`` and ``registers`` are bytearrays of structs; ``order`` holds the Instruction of each
    array position. ``c`` is the ``oric_image *`` for the kernels, valid while the Image lives.
    """

    __slots__ = ("_keep", "blocks", "c", "code", "immediates", "instructions", "order", "overflow", "registers", "succs")

    def __init__(self, code: CodeObject, isa: int = 0) -> None:
        self.code = code
        self.order: list[Instruction] = []
        self.overflow = array("Q")
        self.succs = array("i")
        self.instructions = bytearray(INSTRUCTION_SIZE * sum(1 for _ in code.instructions()))
        self.blocks = bytearray(BLOCK_SIZE * len(code.blocks))
        self._flatten_blocks(code)
        self.registers = _flatten_registers(code)
        self.immediates = array("Q", code.immediates)
        self._connect(isa)

    def _flatten_blocks(self, code: CodeObject) -> None:
        fields = ("head", "tail", "first", "count", "succ_start", "bix", "flags", "loop_depth", "succ_count")
        pack_into = _layout("oric_block", fields).pack_into
        loops = analyze(code).loops.depth
        position = 0
        for block in code.blocks:
            end = self._flatten_instructions(block.head, block.index, position)
            count = end - position
            depth = min(loops[block.index], 255)
            head, tail = (position, end - 1) if count else (-1, -1)
            pack_into(
                self.blocks,
                BLOCK_SIZE * block.index,
                head,
                tail,
                position,
                count,
                len(self.succs),
                block.index,
                block.flags & 0xFF,
                depth,
                len(block.succs),
            )
            self.succs.extend(block.succs)
            position = end

    def _flatten_instructions(self, node: Instruction | None, block: int, position: int) -> int:
        from oric_tables.ops import NUMBER

        packers = _instruction_packers()
        buffer = self.instructions
        append = self.order.append
        before = -1
        while node is not None:
            append(node)
            operands = node.operands
            count = len(operands)
            overflow = -1
            inline = operands
            if count > INLINE_OPERANDS:
                overflow = len(self.overflow)
                self.overflow.extend(operands[INLINE_OPERANDS:])
                inline = operands[:INLINE_OPERANDS]
            following = node.next
            packers[len(inline)](
                buffer,
                position * INSTRUCTION_SIZE,
                before,
                position + 1 if following is not None else -1,
                node.id,
                block,
                node.line,
                node.control,
                NUMBER[node.op],
                0,
                0,
                node.guard,
                0,
                overflow,
                node.mods,
                position,
                node.op,
                node.aux,
                count,
                *inline,
            )
            before = position
            position += 1
            node = following
        return position

    def _connect(self, isa: int) -> None:
        c = self.c = ffi.new("oric_image *")
        keep = self._keep = [
            ffi.from_buffer("oric_instruction[]", self.instructions),
            ffi.from_buffer("oric_block[]", self.blocks),
            ffi.from_buffer("oric_register[]", self.registers),
            ffi.from_buffer("int32_t[]", self.succs),
            ffi.from_buffer("uint64_t[]", self.immediates),
            ffi.from_buffer("uint64_t[]", self.overflow),
        ]
        c.instructions, c.blocks, c.registers, c.succs, c.immediates, c.overflow = keep
        c.instruction_count = len(self.order)
        c.block_count = len(self.code.blocks)
        c.register_count = len(self.code.regs)
        c.succ_count = len(self.succs)
        c.immediate_count = len(self.immediates)
        c.overflow_count = len(self.overflow)
        c.isa = isa

    def instruction_fields(self, *fields: str) -> Iterator[tuple[Any, ...]]:
        """The given fields (in order of offset) of every instruction, in array order."""
        return _layout("oric_instruction", fields).iter_unpack(self.instructions)

    def block_fields(self, *fields: str) -> Iterator[tuple[Any, ...]]:
        """The given fields (in order of offset) of every block."""
        return _layout("oric_block", fields).iter_unpack(self.blocks)

    def register_fields(self, *fields: str) -> Iterator[tuple[Any, ...]]:
        """The given fields (in order of offset) of every register id; unused ids have ``id`` -1."""
        return _layout("oric_register", fields).iter_unpack(self.registers)

    def read_control(self) -> None:
        """Take the scheduling bits over into the instructions."""
        for node, (control,) in zip(self.order, self.instruction_fields("control"), strict=True):
            node.control = control

    def read_physical(self) -> None:
        """Take physical registers and coalescing over into the register descriptors."""
        fields = self.register_fields("alias_parent", "spill_cost", "physical_reg")
        for reg, (parent, cost, physical) in zip(self.code.regs, fields, strict=True):
            if reg is not None:
                reg.alias_parent = parent
                reg.spill_cost = cost
                reg.physical_reg = physical

    def read_order(self) -> None:
        """Relink the instructions of every block in the order of their ``position`` fields.

        Raises:
            ValueError: the positions are no permutation of the array, or one left its block.
        """
        order: list[Instruction | None] = [None] * len(self.order)
        for node, (position,) in zip(self.order, self.instruction_fields("position"), strict=True):
            if not 0 <= position < len(order) or order[position] is not None:
                raise ValueError(f"position {position} of instruction {node.id} is taken or out of range")
            order[position] = node
        for block, (first, count) in zip(self.code.blocks, self.block_fields("first", "count"), strict=True):
            for_block = order[first : first + count]
            before: Instruction | None = None
            for moved in for_block:
                if moved is None or moved.block is not block:
                    raise ValueError(f"an instruction left block {block.index}")
                moved.prev = before
                if before is not None:
                    before.next = moved
                before = moved
            block.head = for_block[0] if for_block else None
            block.tail = before
            if before is not None:
                before.next = None


def _flatten_registers(code: CodeObject) -> bytearray:
    fields = (
        "next",
        "id",
        "liveness_start",
        "bb_index",
        "alias_next",
        "alias_parent",
        "spill_cost",
        "flags",
        "def_instr",
        "reg_type",
        "physical_reg",
        "size",
        "hint",
        "use_chain",
        "def_chain",
        "regfile_next",
        "linked_next",
        "constraint_list",
    )
    pack = _layout("oric_register", fields).pack
    parts = []
    for number, reg in enumerate(code.regs):
        if reg is None:
            parts.append(pack(-1, -1, -1, -1, -1, -1, 0.0, 0, -1, 0, -1, 0, -1, -1, -1, -1, -1, -1))
            continue
        parts.append(
            pack(
                -1,
                number,
                -1,
                -1,
                -1,
                reg.alias_parent,
                reg.spill_cost,
                reg.flags,
                -1,
                reg.reg_type,
                reg.physical_reg,
                reg.size if reg.size > 1 else 0,
                reg.hint,
                -1,
                -1,
                -1,
                -1,
                -1,
            )
        )
    return bytearray(b"".join(parts))


def flatten(code: CodeObject, isa: int = 0) -> Image:
    """Flatten ``code``; ``isa`` is the target's encoding model.

    Raises:
        KeyError: an instruction has an opcode word that no operation has.
    """
    return Image(code, isa)


def describe_operand_words(operand: int) -> tuple[int, int]:
    """Word 0 and word 1 of an operand as they lie in the image."""
    return operand & 0xFFFFFFFF, operand >> opd.AUX_SHIFT
