"""The documented memory image of a function, made on demand: a projection of its arrays.

An array of 296-byte instructions in block order, one of 40-byte blocks, one of 160-byte register descriptors, the successor
lists and the immediate pool (``spec/structs.yaml``). Operands beyond the ninth of an instruction lie in the overflow array.
The compiler itself does not read it.

Source: Ori IR, "Instruction Layout", "Block Entry Layout", "Worked Example"; Register Model, "Descriptor Layout".
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from oric_tables import ops, structs
from oric_tables.ori_operands import image_of

from . import operand as opd
from .function import AUX_VOLATILE, NONE, Function, control_flow
from .lineinfo import line_of
from .optable import OPS
from .text import all_instructions, operands_of

MAGIC: Final = 0x4F524949
INLINE_OPERANDS: Final = 9
INSTRUCTION_SIZE: Final = structs.SIZES["oric_instruction"]
BLOCK_SIZE: Final = structs.SIZES["oric_block"]
REGISTER_SIZE: Final = structs.SIZES["oric_register"]
_PLACES: Final = struct.calcsize("<" + structs.FIELDS["oric_instruction"]["phys"][1]) // 2  # operands whose registers are told
MOVPHI: Final = 1 << 29  # of ``aux``: what tells a MovPhi from a MOV; the other marks (oric.ir.function) lie below
_VOLATILE: Final = 0x20  # of special_flags
_NO_REGISTER: Final = 0xFFFF  # in ``phys``
_MASK64: Final = 0xFFFFFFFFFFFFFFFF
_ALIGN: Final = 8


@cache
def layout(name: str, fields: tuple[str, ...]) -> struct.Struct:
    """A packer of the given fields of a struct, in order of offset, of its full size; the bytes between them are skipped.

    Args:
        name: the struct, for example ``oric_block``.
        fields: field names; arrays are taken as wholes, their elements one by one.

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
    return struct.Struct(f"{codes}{structs.SIZES[name] - position}x")


def field_values(name: str, data: bytes, *fields: str) -> Iterator[tuple[Any, ...]]:
    """The given fields (in order of offset) of every struct of an array."""
    return layout(name, fields).iter_unpack(data)


def operand_words(operand: int) -> int:
    """Both words of an operand as they lie in the image, as one number."""
    return int(image_of(operand)) & _MASK64


class Image:
    """The image of a function; ``order`` holds the instruction of each array position."""

    def __init__(self, f: Function, isa: int = 0) -> None:
        self.f = f
        self.isa = isa
        self.order = all_instructions(f)
        self.overflow = array("Q")
        self.succs = array("i")
        self._position = {i: position for position, i in enumerate(self.order)}
        self.instructions = b"".join(map(self._instruction, self.order))
        self.blocks = b"".join(self._blocks())
        self.registers = b"".join(self._registers())
        self.immediates = array("Q", (f.immediates[at] & _MASK64 for at in range(len(f.immediates))))

    def data(self) -> bytes:
        """The whole in one piece, as ``oric_image`` says."""
        parts = {
            "instructions": self.instructions,
            "blocks": self.blocks,
            "registers": self.registers,
            "succs": _little_endian(self.succs),
            "immediates": _little_endian(self.immediates),
            "overflow": _little_endian(self.overflow),
            "name": self.f.name.encode() + b"\0",
        }
        counts = {
            "instruction_count": len(self.order),
            "block_count": int(self.f.blocks()),
            "register_count": int(self.f.registers()),
            "succ_count": len(self.succs),
            "immediate_count": len(self.immediates),
            "overflow_count": len(self.overflow),
            "isa": self.isa,
        }
        offsets = {}
        body = b""
        for name, part in parts.items():
            offsets[name] = structs.SIZES["oric_image"] + len(body)
            body += part + bytes(-len(part) % _ALIGN)
        return _packed("oric_image", magic=MAGIC, size=structs.SIZES["oric_image"] + len(body), **counts, **offsets) + body

    def _place(self, i: int) -> int:
        return self._position[i] if i != NONE else NONE

    def _instruction(self, i: int) -> bytes:
        f = self.f
        operands = operands_of(f, i)
        words = [operand_words(operand) for operand in operands]
        overflow = NONE
        if len(words) > INLINE_OPERANDS:
            overflow = len(self.overflow)
            self.overflow.extend(words[INLINE_OPERANDS:])
        inline = [half for word in words[:INLINE_OPERANDS] for half in (word & 0xFFFFFFFF, word >> 32)]
        pool = [f.imm_value(operand) for operand in operands if operand & opd.TYPE == opd.IS_POOL]
        number: int = f.op[i]
        return _packed(
            "oric_instruction",
            prev=self._place(f.prev[i]),
            next=self._place(f.next[i]),
            id=i,
            block=f.block[i],
            line=line_of(f.line[i]),
            control=f.control[i],
            number=number,
            guard=operand_words(f.guard[i]),
            special_flags=_VOLATILE if f.aux[i] & AUX_VOLATILE else 0,
            overflow=overflow,
            mods=f.mods[i] & _MASK64,
            position=self._position[i],
            opcode=ops.op(number).word,
            aux=f.aux[i] | (MOVPHI if OPS.repeats[number] else 0),
            operand_count=len(operands),
            operands=inline,
            enc_buf=NONE,
            imm_value=pool[0] & _MASK64 if pool else 0,
            phys=[self._hardware(operand) for operand in operands[:_PLACES]],
        )

    def _hardware(self, operand: int) -> int:
        """The hardware register of an operand."""
        if not opd.is_register(operand) or self.f.physical[operand & opd.INDEX] == NONE:
            return _NO_REGISTER
        return int(self.f.physical[operand & opd.INDEX] + opd.first_of(operand))

    def _blocks(self) -> Iterator[bytes]:
        f = self.f
        depth = control_flow(f).loops().depth
        first = 0
        for b in range(f.blocks()):
            count = sum(1 for _ in _numbers(f, b))
            successors = [f.successor(b, at) for at in range(f.succ_count[b])]
            yield _packed(
                "oric_block",
                head=self._place(f.head[b]),
                tail=self._place(f.tail[b]),
                first=first,
                count=count,
                succ_start=len(self.succs),
                bix=b,
                flags=f.flags[b] & 0xFF,
                loop_depth=min(depth[b], 0xFF),
                succ_count=len(successors),
            )
            self.succs.extend(successors)
            first += count

    def _registers(self) -> Iterator[bytes]:
        f = self.f
        definitions, uses = self._accesses()
        for r in range(f.registers()):
            words: int = f.reg_size[r]
            there = words > 0
            defined = definitions.get(r, [])
            yield _packed(
                "oric_register",
                next=NONE,
                id=r if there else NONE,
                liveness_start=f.reg_word[r] if there else NONE,
                bb_index=f.block[self.order[defined[0]]] if defined else NONE,
                alias_next=NONE,
                alias_parent=f.parent[r],
                flags=f.reg_flags[r] if there else 0,
                def_instr=defined[0] if defined else NONE,
                reg_type=f.reg_type[r],
                physical_reg=f.physical[r],
                size=min(words, 0xFF) if words > 1 else 0,
                hint=f.hint[r],
                words=words,
                use_chain=uses.get(r, NONE),
                def_chain=defined[-1] if defined else NONE,
                regfile_next=NONE,
                linked_next=NONE,
                constraint_list=NONE,
            )

    def _accesses(self) -> tuple[dict[int, list[int]], dict[int, int]]:
        """Positions of the definitions, and of the first use, of registers."""
        definitions: dict[int, list[int]] = {}
        uses: dict[int, int] = {}
        for position, i in enumerate(self.order):
            for at, operand in enumerate((*operands_of(self.f, i), self.f.guard[i])):
                if not opd.is_register(operand):
                    continue
                r = opd.index_of(operand)
                if at < self.f.count[i] and OPS.writes_at(self.f.op[i], at):
                    definitions.setdefault(r, []).append(position)
                else:
                    uses.setdefault(r, position)
        return definitions, uses


def _numbers(f: Function, b: int) -> Iterator[int]:
    i: int = f.head[b]
    while i != NONE:
        yield i
        i = f.next[i]


def _packed(struct_name: str, /, **values: int | list[int]) -> bytes:
    """A struct with these fields; the others, and the rest of arrays, are zero."""
    flat: list[int] = []
    for name, value in values.items():
        numbers = value if isinstance(value, list) else [value]
        code = "<" + structs.FIELDS[struct_name][name][1]
        flat += numbers + [0] * (len(struct.unpack(code, bytes(struct.calcsize(code)))) - len(numbers))
    return layout(struct_name, tuple(values)).pack(*flat)


def _little_endian(numbers: array[int]) -> bytes:
    return struct.pack(f"<{len(numbers)}{numbers.typecode}", *numbers)
