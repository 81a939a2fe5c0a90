"""The memory image of a function: documented offsets, what the arrays say, the file."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.function import AUX_VOLATILE, NONE, R2, Function, P, R, control_flow
from oric.ir.image import INLINE_OPERANDS, INSTRUCTION_SIZE, MAGIC, MOVPHI, Image, field_values, layout, operand_words
from oric.ir.read import read
from oric.ir.text import all_instructions, operands_of
from oric_tables import op, ops, structs
from oric_tables._native import ffi, lib

from tests.ir.functions import functions

MASK64 = (1 << 64) - 1


class Loaded:
    """An image in a file as C sees it."""

    def __init__(self, data: bytes) -> None:
        self.keep = ffi.from_buffer(data)
        self.head = ffi.cast("oric_image *", self.keep)
        self.instructions = self.array("oric_instruction", self.head.instructions)
        self.blocks = self.array("oric_block", self.head.blocks)
        self.registers = self.array("oric_register", self.head.registers)
        self.succs = self.array("int32_t", self.head.succs)
        self.immediates = self.array("uint64_t", self.head.immediates)
        self.overflow = self.array("uint64_t", self.head.overflow)
        self.name = ffi.string(ffi.cast("char *", self.keep + self.head.name)).decode()

    def array(self, what: str, offset: int) -> Any:
        assert offset % 8 == 0
        return ffi.cast(f"{what} *", self.keep + offset)

    def operands(self, position: int) -> list[int]:
        node = self.instructions[position]
        words = [
            node.operands[2 * at] | node.operands[2 * at + 1] << 32 for at in range(min(node.operand_count, INLINE_OPERANDS))
        ]
        return words + [self.overflow[node.overflow + at] for at in range(node.operand_count - len(words))]


@pytest.mark.row("R1-37")
def test_worked_example() -> None:
    f = Function("f", "sm_90")
    for _ in range(4):
        f.new_reg(R)
    cursor = Cursor(f)
    cursor.at_end(cursor.new_block())
    i = cursor.make(op.FADD)
    for operand in (opd.reg(3), opd.reg(1), opd.reg(2)):
        cursor.put(operand)
    image = Image(f).instructions
    assert len(image) == 296
    expected = {16: i, 72: 0x0C, 80: 3, 84: 0x10000003, 88: 0, 92: 0x10000001, 96: 0, 100: 0x10000002, 104: 0}
    assert {at: struct.unpack_from("<I", image, at)[0] for at in expected} == expected
    assert struct.unpack_from("<qq", image, 0) == (-1, -1)


@pytest.mark.row("R1-06", "R1-17", "R1-28", "R4-10")
def test_sizes() -> None:
    assert (structs.SIZES["oric_block"], structs.SIZES["oric_instruction"], structs.SIZES["oric_register"]) == (40, 296, 160)
    for name, size in structs.SIZES.items():
        assert ffi.sizeof(name) == size
        for field, (offset, _) in structs.FIELDS[name].items():
            assert ffi.offsetof(name, field) == offset


def test_documented_offsets() -> None:
    documented = {
        "oric_block": {"head": 0, "tail": 8, "bix": 28, "flags": 32},
        "oric_instruction": {"prev": 0, "next": 8, "id": 16, "flags": 36, "special_flags": 48, "opcode": 72, "aux": 76,
                             "operand_count": 80, "operands": 84, "enc_buf": 160, "enc_mode": 184, "imm_value": 200},
        "oric_register": {"next": 0, "id": 8, "class_index": 12, "flags_byte": 20, "bb_index": 24, "epoch": 28, "alias_next": 32,
                          "alias_parent": 36, "spill_cost": 40, "flags": 48, "def_instr": 56, "reg_type": 64, "physical_reg": 68,
                          "size": 72, "secondary_cost": 76, "spill_flag": 80, "use_chain": 104, "def_chain": 112,
                          "regfile_next": 120, "linked_next": 128, "constraint_list": 144},
    }  # fmt: skip
    for name, fields in documented.items():
        assert {field: structs.FIELDS[name][field][0] for field in fields} == fields


@pytest.mark.row("R1-06", "R1-21")
def test_c_sees_what_was_written() -> None:
    f = read("""
        reg R3=R7
        bix0:
            ISETP{cmp=GE} P5, R1, 0x12345678
            @!P5 BRA bix2
        bix1:
            IADD3 R2, R1, c[0x0][0x210], |R3| [control=0x7e2]
            LDS R1, R2, 0x0 [aux=0x400000]
        bix2:
            EXIT
    """)
    c = Loaded(Image(f, isa=1).data())
    assert (c.head.magic, c.head.instruction_count, c.head.block_count, c.head.isa, c.name) == (MAGIC, 5, 3, 1, "test")
    assert [(c.blocks[i].first, c.blocks[i].count, c.blocks[i].bix) for i in range(3)] == [(0, 2, 0), (2, 2, 1), (4, 1, 2)]
    assert [(c.blocks[i].head, c.blocks[i].tail) for i in range(3)] == [(0, 1), (2, 3), (4, 4)]
    assert [c.succs[i] for i in range(c.head.succ_count)] == [2, 1, 2]
    first, branch, add, load = (c.instructions[i] for i in range(4))
    assert first.number == op.ISETP and first.mods == ops.op(op.ISETP).pack(cmp="GE") and first.opcode == ops.op(op.ISETP).word
    assert c.immediates[first.operands[4] & 0xFFFFF] == first.imm_value == 0x12345678
    assert branch.guard == opd.reg(5) | opd.NEGATE and branch.prev == 0 and branch.next == -1
    assert add.operands[5] & 0x1000000 and add.operands[4] >> 28 & 7 == opd.SYMBOL
    assert add.operands[7] & 0x4000000 and add.control == 0x7E2
    assert (add.phys[3], add.phys[0]) == (7, 0xFFFF)
    assert (add.special_flags, load.special_flags) == (0, 0x20)
    assert (c.registers[5].reg_type, c.registers[1].reg_type, c.registers[1].physical_reg) == (P, R, -1)
    assert (c.registers[2].def_instr, c.registers[2].bb_index, c.registers[2].use_chain) == (2, 1, 3)
    assert (c.registers[3].def_instr, c.registers[3].physical_reg, c.registers[4].use_chain) == (-1, 7, -1)


def test_pairs_have_the_extended_flag() -> None:
    assert operand_words(opd.reg(3)) == 0x10000003
    assert operand_words(opd.reg(3, 0, 2)) == 0x10000003 | 1 << 24 | 1 << 40
    assert operand_words(opd.const_bank(0, 16)) == 0x50000010 | 1 << 56


@pytest.mark.row("R1-17")
def test_operands_beyond_the_ninth_overflow() -> None:
    f = Function("f", "sm_90")
    cursor = Cursor(f)
    cursor.at_end(cursor.new_block())
    operands = [opd.reg(f.new_reg(R2, 2), 0, 2) for _ in range(12)]
    cursor.make(op.NOP)
    for operand in operands:
        cursor.put(operand)
    c = Loaded(Image(f).data())
    assert c.instructions[0].operand_count == 12
    assert c.operands(0) == [operand_words(o) for o in operands]


def test_registers_of_256_words() -> None:
    f = Function("f", "sm_90")
    f.new_reg(R, 256)
    f.new_reg(R, 1)
    Cursor(f).new_block()
    c = Loaded(Image(f).data())
    assert [(c.registers[r].size, c.registers[r].words, c.registers[r].liveness_start) for r in range(2)] == [
        (255, 256, 0),
        (0, 1, 256),
    ]


@given(functions())
def test_the_image_says_what_the_arrays_say(f: Function) -> None:
    c = Loaded(Image(f, isa=2).data())
    order = all_instructions(f)
    place = {NONE: NONE} | {i: at for at, i in enumerate(order)}
    assert c.head.instruction_count == len(order) and c.name == f.name
    for at, i in enumerate(order):
        node = c.instructions[at]
        assert (node.id, node.number, node.mods, node.line) == (i, f.op[i], f.mods[i] & MASK64, f.line[i])
        mark = MOVPHI if f.op[i] == op.MovPhi else 0  # in Ori both are one opcode: the mark alone tells them apart
        assert (node.aux, node.control, node.block, node.position) == (f.aux[i] | mark, f.control[i], f.block[i], at)
        assert (node.prev, node.next) == (place[f.prev[i]], place[f.next[i]])
        assert node.guard == operand_words(f.guard[i])
        assert c.operands(at) == [operand_words(o) for o in operands_of(f, i)]
    start = 0
    depth = control_flow(f).loops().depth
    for b in range(f.blocks()):
        block = c.blocks[b]
        assert (block.head, block.tail, block.bix, block.flags) == (place[f.head[b]], place[f.tail[b]], b, f.flags[b])
        assert (block.first, block.loop_depth, block.succ_start) == (start, depth[b], sum(f.succ_count[p] for p in range(b)))
        assert [c.succs[block.succ_start + at] for at in range(block.succ_count)] == [
            f.successor(b, at) for at in range(f.succ_count[b])
        ]
        start += block.count
    for r in range(f.registers()):
        register = c.registers[r]
        there = f.reg_size[r] > 0
        assert (register.id, register.words, register.reg_type) == (r if there else -1, f.reg_size[r], f.reg_type[r])
        assert (register.physical_reg, register.alias_parent, register.hint) == (f.physical[r], f.parent[r], f.hint[r])
        assert register.flags == (f.reg_flags[r] if there else 0)
    assert [c.immediates[at] for at in range(c.head.immediate_count)] == [
        f.immediates[at] & MASK64 for at in range(len(f.immediates))
    ]


def test_layout_refuses_disorder() -> None:
    with pytest.raises(ValueError, match="out of order"):
        layout("oric_block", ("bix", "head"))
    assert layout("oric_instruction", ("id",)).size == INSTRUCTION_SIZE


def test_fields_of_arrays() -> None:
    image = Image(read("bix0:\n MOV R1, 0x1\n EXIT\n"))
    assert list(field_values("oric_instruction", image.instructions, "id", "number")) == [(0, op.MOV), (1, op.EXIT)]


def test_flags_of_instructions_are_the_same_in_python_and_c() -> None:
    assert AUX_VOLATILE == lib.ORIC_AUX_VOLATILE
